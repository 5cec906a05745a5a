package braid_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/wire"
)

// strangerFrom is a connection from an address of this host that says what it likes, and stays.
func strangerFrom(t *testing.T, local, addr string, say []byte) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(local)}, Timeout: patience}
	c, err := d.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	c.Write(say) // it may have been thrown out already
	return c
}

// TestHalfOpenStrangers: strangers that connect and then just stand there, as many as there are places and many more, from one address and
// from many, keep nobody out, and are counted. They keep coming while the client dials.
func TestHalfOpenStrangers(t *testing.T) {
	for _, c := range []struct {
		name, from string // %d: another one each
		count      int
		say        []byte
	}{
		{"64 that say nothing", "127.0.0.1", 64, nil},
		{"200 that say nothing, from many addresses", "127.1.0.%d", 200, nil},
		{"200 that say half a Preface", "127.1.0.%d", 200, rawPreface()[:40]},
		{"200 that say a Preface", "127.1.0.%d", 200, rawPreface()},
	} {
		for _, secret := range []braid.Secret{{}, braid.NewSecret()} {
			t.Run(fmt.Sprintf("%s, secret %v", c.name, secret), func(t *testing.T) {
				tidy(t)
				// Places are given back for others, and for no other reason, however long the strangers take to come.
				lw, dw := worker(t, braid.Options{Secret: secret, Times: braid.Times{Hello: time.Hour}}), worker(t, braid.Options{Secret: secret})
				ln, err := lw.Listen("127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				var strangers []net.Conn
				come := func(n int) {
					for range n {
						from := c.from
						if from != "127.0.0.1" {
							from = fmt.Sprintf(c.from, 1+len(strangers))
						}
						strangers = append(strangers, strangerFrom(t, from, ln.Addr(), c.say))
					}
				}
				for range 4 {
					come(c.count / 4)
					ep, err := dw.Dial(testContext(t), ln.Addr())
					if err != nil {
						t.Fatalf("the client does not get in beside %d strangers: %v; %+v", len(strangers), err, lw.Strangers())
					}
					ep.Abort()
				}
				if s := lw.Strangers(); s.HalfOpen > 128 {
					t.Errorf("%d are half open at once", s.HalfOpen)
				}
				for _, s := range strangers {
					s.Close()
				}
				// All are counted, once each; who made room for others is counted as that, too.
				if !eventually(func() bool { s := lw.Strangers(); return int(s.Dropped) >= c.count && s.HalfOpen == 0 }) {
					t.Errorf("of %d: %+v", c.count, lw.Strangers())
				}
				if s := lw.Strangers(); c.count > 128 && s.Crowded+s.Refused == 0 || int(s.Dropped) > c.count+8 {
					t.Errorf("of %d: %+v", c.count, s)
				}
			})
		}
	}
}

// TestC12_Scanners: what port scanners, browsers and lost programs say to a listener with a secret: it is dropped and counted, and who is
// in does not notice.
func TestC12_Scanners(t *testing.T) {
	tidy(t)
	secret := braid.NewSecret()
	lw, dw := worker(t, braid.Options{Secret: secret}), worker(t, braid.Options{Secret: secret})
	ran := make(chan string, 1)
	lw.HandleAM(1, func(m *braid.Message) { ran <- string(m.Payload()) })
	ln, err := lw.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx := testContext(t)
	ep, err := dw.Dial(ctx, ln.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ln.Accept(ctx); err != nil {
		t.Fatal(err)
	}
	proven := wire.Preface{Flags: wire.FlagSecret, Nonce: [16]byte{1}, Proof: wire.Proof(noise(1, 32))}.AppendTo(nil)
	lies := append(raw(wire.IDPreface, control, proven, nil), rawHello(hello())...)
	var all []net.Conn
	for _, say := range [][]byte{
		{}, {7}, noise(1, 4096), noise(2, 1<<20), bytes.Repeat([]byte{0}, 4096), bytes.Repeat([]byte{0xff}, 4096),
		[]byte("GET / HTTP/1.1\r\nHost: braid\r\n\r\n"), append([]byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}, noise(3, 500)...), []byte("SSH-2.0-OpenSSH_9.6\r\n"),
		rawPreface(), append(rawPreface(), rawHello(hello())...), append(rawPreface(), noise(4, 900)...),
		raw(wire.IDPreface, control, proven, nil), lies, lies[:len(lies)-5], append(lies, noise(5, 3000)...),
		append(raw(wire.IDPreface, control, proven, nil), raw(wire.IDHello, control, noise(6, 1024), nil)...),
		append(lies, raw(wire.IDConfirm, control, noise(7, 32), nil)...),
	} {
		all = append(all, stranger(t, ln.Addr(), say))
	}
	for _, s := range all {
		closed(t, s)
	}
	if !eventually(func() bool { return int(lw.Strangers().Dropped) == len(all) }) {
		t.Errorf("of %d: %+v", len(all), lw.Strangers())
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if got, err := ln.Accept(short); err == nil {
		t.Errorf("somebody got in: %v", got)
	}
	if err := ep.SendAM(ctx, 1, nil, []byte("still here")); err != nil {
		t.Fatal(err)
	}
	if s := <-ran; s != "still here" {
		t.Error(s)
	}
}
