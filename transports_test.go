//go:build linux

package braid_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// overRC opens a node as somebody would who only sets variables.
func overRC(t *testing.T, more ...[2]string) *braid.Node {
	t.Helper()
	s := new(braid.Settings)
	for _, kv := range append([][2]string{{"transports", "rc,self"}, {"rc-read-from", "64k"}}, more...) {
		if err := s.Set(kv[0], kv[1], "the test"); err != nil {
			t.Fatal(err)
		}
	}
	n, err := braid.Open(braid.Options{Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// TestTransportsRC: a setting has lanes run over RDMA devices in software; every operation works, also those whose payloads the peer reads.
func TestTransportsRC(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server, client := overRC(t), overRC(t)
	mem, err := server.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 1)
	w := newWorker(t, server)
	w.HandleAM(1, func(m *braid.Message) { heard <- string(m.Payload()) })
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ep, err := newWorker(t, client).Dial(ctx, ln.Addr())
	if err != nil {
		t.Fatal(err)
	}
	src, dst := make([]byte, 1<<20), make([]byte, 1<<20)
	for i := range src {
		src[i] = byte(i * 7)
	}
	key, err := braid.ParseRKey(mem.Key(braid.Read | braid.Write).Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{ep.Put(ctx, src, key, 0), ep.Flush(ctx), ep.Get(ctx, dst, key, 0), ep.SendAM(ctx, 1, nil, []byte("hello"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if string(dst) != string(src) || <-heard != "hello" {
		t.Error("other bytes")
	}
	if err := ep.Close(ctx); err != nil {
		t.Error(err)
	}
}

// TestTransportsRCTrust: what rc may not be used for says which setting allows it.
func TestTransportsRCTrust(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := newWorker(t, overRC(t)).Dial(ctx, "192.0.2.1:1"); err == nil || !strings.Contains(err.Error(), "rc-trust=network") {
		t.Errorf("beyond loopback: %v", err)
	}
	n := overRC(t, [2]string{"secret", braid.NewSecret().Text()})
	if _, err := newWorker(t, n).Dial(ctx, "127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), "rc-trust=secret") {
		t.Errorf("with a secret: %v", err)
	}
}
