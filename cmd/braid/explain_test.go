package main

import (
	"context"
	"encoding/json"
	"net"
	"strings"
	"testing"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/explain"
)

// TestD13_Explain: what is used to reach a peer, and why the rest is not, for people and for programs.
func TestD13_Explain(t *testing.T) {
	n, err := braid.Open(braid.Options{Name: "explained"})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	ln, err := newWorker(t, n).Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 8)
	go func() {
		for {
			ep, err := ln.Accept(context.Background())
			if err != nil {
				return
			}
			ep.OnEnd(func(err error) { gone <- err })
		}
	}()
	status, out, errs := command(t, "explain", ln.Addr(), "--op", "tag_send", "--wait", "0s", "--set", "eager=1000")
	if status != 0 || !strings.Contains(out, "rendezvous by get") || !strings.Contains(out, "0 - 1000 ") || !strings.Contains(out, "order") || !strings.Contains(out, "explained") || strings.Contains(out, "put") {
		t.Errorf("status %d, %s\n%s", status, errs, out)
	}
	<-gone // it says goodbye
	explainJSON(t, ln.Addr())
	if status, _, errs := command(t, "explain", ln.Addr(), "--op", "tga_send"); status != 2 || !strings.Contains(errs, "tag_send") {
		t.Errorf("a wrong operation: status %d, %s", status, errs)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	free.Close()
	if status, _, errs := command(t, "explain", addr); status != 1 || !strings.Contains(errs, "refused") {
		t.Errorf("nobody there: status %d, %s", status, errs)
	}
}

// explainJSON is the part for programs.
func explainJSON(t *testing.T, addr string) {
	status, out, errs := command(t, "explain", addr, "--json", "--set", "transports=tcp", "--set", "lanes=2", "--rails", "127.0.0.1", "--wait", "10ms")
	var r struct {
		Lanes []struct {
			State string
			Roles []string
		}
		Operations []struct {
			Op    string
			Sizes []struct {
				From     int
				To       int
				Protocol string
				Lanes    []string
				Latency  float64 `json:"latency_s"`
				Rate     float64 `json:"rate_bytes_s"`
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != 0 {
		t.Fatalf("status %d, %v, %s: %s", status, err, errs, out)
	}
	if len(r.Lanes) != 2 || len(r.Operations) != len(explain.Ops()) {
		t.Errorf("%+v", r)
	}
	for _, o := range r.Operations {
		for _, s := range o.Sizes {
			if s.Protocol == "" || len(s.Lanes) == 0 || s.Latency <= 0 || s.Rate <= 0 {
				t.Errorf("%s: %+v", o.Op, s)
			}
		}
		if len(o.Sizes) < 1 {
			t.Errorf("%s: no sizes", o.Op)
		}
	}
}

// newWorker is a worker of n.
func newWorker(t testing.TB, n *braid.Node) *braid.Worker {
	t.Helper()
	w, err := n.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	return w
}
