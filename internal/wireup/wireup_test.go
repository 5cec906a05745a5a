package wireup

import (
	"errors"
	"testing"

	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/wire"
)

// TestOnlyTheOwnHelloIsAnswered: an answer proves something about the peer by the echo of the own nonce alone (R9). One
// that echoes another, or is about another instance, ends the attempt and nothing else.
func TestOnlyTheOwnHelloIsAnswered(t *testing.T) {
	hello := wire.Hello{Nonce: [16]byte{1, 2, 3}, Instance: wire.Instance{Opener: wire.Dialer, N: 4}}
	other, late := [16]byte{3, 2, 1}, wire.Instance{Opener: wire.Dialer, N: 3}
	ack := func(n [16]byte, i wire.Instance) []byte {
		return wire.HelloAck{Nonce: n, Instance: i, Incarnation: 9, Endpoint: 1, Mode: wire.ModeFailover, MaxFrame: MinFrame, MaxMessage: 1}.AppendTo(nil)
	}
	busy := func(n [16]byte, i wire.Instance) []byte { return wire.Busy{Nonce: n, Instance: i}.AppendTo(nil) }
	closed := func(n [16]byte) []byte { return wire.EPClosed{Nonce: n, Incarnation: 9}.AppendTo(nil) }
	for _, c := range []struct {
		name string
		id   uint8
		body []byte
		want Verdict
	}{
		{"HelloAck", wire.IDHelloAck, ack(hello.Nonce, hello.Instance), Up},
		{"HelloAck, other nonce", wire.IDHelloAck, ack(other, hello.Instance), Refused},
		{"HelloAck, other instance", wire.IDHelloAck, ack(hello.Nonce, late), Refused},
		{"Busy", wire.IDBusy, busy(hello.Nonce, hello.Instance), Busy},
		{"Busy, other nonce", wire.IDBusy, busy(other, hello.Instance), Refused},
		{"Busy, other instance", wire.IDBusy, busy(hello.Nonce, late), Refused},
		{"EPClosed", wire.IDEPClosed, closed(hello.Nonce), Closed},
		{"EPClosed, other nonce", wire.IDEPClosed, closed(other), Refused},
	} {
		m, _ := Open(Keys{}, &hello)
		if s := m.Frame(wire.IDPreface, wire.Preface{}.AppendTo(nil)); s.Verdict != More {
			t.Fatalf("preface: %v", s.Err)
		}
		s := m.Frame(c.id, c.body)
		if s.Verdict != c.want || s.Verdict == Refused && !errors.Is(s.Err, ErrOrder) {
			t.Errorf("%s: verdict %d (%v), want %d", c.name, s.Verdict, s.Err, c.want)
		}
		if s := m.Frame(c.id, c.body); s.Verdict != Refused {
			t.Errorf("%s: taken twice", c.name)
		}
	}
}

// TestAdmitted: without a secret, too, who agrees to a further lane has to know the endpoint's key. What it has heard does not help it: neither the proof of the
// Hello itself, nor one that the acceptor has made for another Hello.
func TestAdmitted(t *testing.T) {
	proofFor := func(h wire.Hello, k wire.JoinKey) wire.JoinProof {
		h.Join = JoinProof(endpointKey, &h)
		a := Accept(secret.Secret{})
		a.Frame(wire.IDPreface, wire.Preface{}.AppendTo(nil))
		a.Frame(wire.IDHello, h.AppendTo(nil))
		return a.Admits(k)
	}
	h, other := furtherHello(), furtherHello()
	other.Nonce[15]++
	for _, c := range []struct {
		name  string
		proof wire.JoinProof
		up    bool
	}{
		{"the peer", proofFor(h, endpointKey), true},
		{"no proof", wire.JoinProof{}, false},
		{"another key", proofFor(h, wire.JoinKey{1}), false},
		{"no key", proofFor(h, wire.JoinKey{}), false},
		{"the Hello's own", JoinProof(endpointKey, &h), false},
		{"of another Hello", proofFor(other, endpointKey), false},
	} {
		o, _ := Open(Keys{Join: endpointKey}, &h)
		o.Frame(wire.IDPreface, wire.Preface{}.AppendTo(nil))
		s := o.Frame(wire.IDHelloAck, wire.HelloAck{Nonce: h.Nonce, Instance: h.Instance, Incarnation: 9, Endpoint: 1, Mode: wire.ModeFailover, MaxFrame: MinFrame, MaxMessage: 1, Join: c.proof}.AppendTo(nil))
		if want := map[bool]Verdict{true: Up, false: Refused}[c.up]; s.Verdict != want || !c.up && s.Err != errNotThePeer {
			t.Errorf("%s: verdict %d, %v", c.name, s.Verdict, s.Err)
		}
	}
}
