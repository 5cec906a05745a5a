package braid_test

import (
	"testing"
	"time"

	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/wireup"
)

// TestLanesLostForEver: a peer that opens lane after lane, hangs up, and never says what it had taken, loses its endpoint
// before that costs anything.
func TestLanesLostForEver(t *testing.T) {
	tidy(t)
	p, k := busy(t, counting(""))
	s := stranger(t, p.ln.Addr(), rawPreface(), rawHello(hello()))
	id, body := answer(t, s)
	a, err := wire.DecodeHelloAck(body)
	if id != wire.IDHelloAck || err != nil {
		t.Fatal(wire.Name(id), err)
	}
	ep, err := p.ln.Accept(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	h := hello()
	h.PeerIncarnation, h.PeerEndpoint = a.Incarnation, a.Endpoint
	for end := time.Now().Add(patience); ; {
		h.Instance.N++
		h.Join = wireup.JoinProof(a.JoinKey, &h)
		l := stranger(t, p.ln.Addr(), rawPreface(), rawHello(h))
		id, _ := answer(t, l)
		l.Close()
		if id == wire.IDEPClosed {
			break
		}
		if id != wire.IDHelloAck || h.Instance.N > 400 || time.Now().After(end) {
			t.Fatalf("lane %d is answered with %s; %d lanes are listed", h.Instance.N, wire.Name(id), len(ep.Lanes()))
		}
	}
	if n := len(ep.Lanes()); n != 0 {
		t.Errorf("%d lanes are left", n)
	}
	k.moves()
	ep.Abort()
}
