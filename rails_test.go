package braid_test

import (
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/wireup"
)

// misleadingKey is that of misleading's endpoints.
var misleadingKey = wire.JoinKey{1}

// misleading is a listener by hand: it lets a dialer in, and names addresses for further lanes.
func misleading(t *testing.T, addrs ...string) (addr string, news chan<- []string) {
	t.Helper()
	told := make(chan []string, 4)
	addr = server(t, func(c net.Conn) {
		h, err := helloFrom(c)
		if err != nil || h.PeerIncarnation != 0 {
			return // a further lane: this one has but one
		}
		ack := wire.HelloAck{
			Optional: wire.CapHandover | wire.CapRails, Instance: h.Instance, Incarnation: 99, Endpoint: 1, Nonce: h.Nonce, Mode: h.Mode,
			MaxFrame: 64 << 10, MaxMessage: 1 << 20, Backlog: 1 << 20, ReplyCredits: 4, JoinKey: misleadingKey, Addrs: append([]string{c.LocalAddr().String()}, addrs...),
		}
		c.Write(append(rawPreface(), raw(wire.IDHelloAck, control, ack.AppendTo(nil), nil)...))
		go func() {
			for list := range told {
				list = append([]string{c.LocalAddr().String()}, list...)
				c.Write(raw(wire.IDRails, control, wire.Rails{Addrs: list}.AppendTo(nil), nil))
			}
		}()
		for buf := make([]byte, 4096); err == nil; {
			_, err = c.Read(buf)
		}
	})
	t.Cleanup(func() { close(told) })
	return addr, told
}

// liar is a server that answers in the name of the peer: who that is says the Hello. It tells how often it was asked.
func liar(t *testing.T, answers func(wire.Hello) (id uint8, body []byte)) (addr string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	return server(t, func(c net.Conn) {
		if h, err := helloFrom(c); err == nil {
			id, body := answers(h)
			c.Write(append(rawPreface(), raw(id, control, body, nil)...))
			c.Read(make([]byte, 1))
			asked.Add(1)
		}
	}), asked
}

// closing claims that the endpoint has just ended.
func closing(h wire.Hello) (uint8, []byte) {
	return wire.IDEPClosed, wire.EPClosed{Incarnation: h.PeerIncarnation, Nonce: h.Nonce}.AppendTo(nil)
}

// joining claims to be the endpoint, and wants its data.
func joining(h wire.Hello) (uint8, []byte) {
	return wire.IDHelloAck, wire.HelloAck{
		Optional: h.Optional, Instance: h.Instance, Incarnation: h.PeerIncarnation, Endpoint: h.PeerEndpoint, Nonce: h.Nonce, Mode: h.Mode,
		MaxFrame: h.MaxFrame, MaxMessage: h.MaxMessage, Backlog: h.Backlog, ReplyCredits: 4, Join: h.Join,
	}.AppendTo(nil)
}

// another is an endpoint that has the key, as only the peer or who has read the first lane has, and says that it is another one.
func another(h wire.Hello) (uint8, []byte) {
	m := wireup.Accept(secret.Secret{})
	m.Frame(wire.IDPreface, wire.Preface{}.AppendTo(nil))
	m.Frame(wire.IDHello, h.AppendTo(nil))
	return wire.IDHelloAck, wire.HelloAck{
		Optional: h.Optional, Instance: h.Instance, Incarnation: h.PeerIncarnation, Endpoint: h.PeerEndpoint + 1, Nonce: h.Nonce, Mode: h.Mode,
		MaxFrame: h.MaxFrame, MaxMessage: h.MaxMessage, Backlog: h.Backlog, ReplyCredits: 4, Join: m.Admits(misleadingKey),
	}.AppendTo(nil)
}

// TestStrangerAtToldAddress: at addresses that the peer names others answer: another process with a listener of braid, and three that lie. None is a lane, nor a sign
// that the peer has restarted or has ended the endpoint.
func TestStrangerAtToldAddress(t *testing.T) {
	tidy(t)
	other := worker(t, braid.Options{})
	ln, err := other.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closes, asked := liar(t, closing)
	joins, askedToo := liar(t, joining)
	others, askedLast := liar(t, another)
	addr, news := misleading(t, ln.Addr(), closes, joins, others)
	var up atomic.Int64
	n, err := braid.Open(braid.Options{Lanes: 6, OnEvent: func(e braid.Event) {
		if e.Kind == braid.LaneUp {
			up.Add(1)
		}
	}, Times: braid.Times{RedialMin: time.Millisecond, RedialMax: 5 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	ep, err := newWorker(t, n).Dial(testContext(t), addr)
	if err != nil {
		t.Fatal(err)
	}
	defer ep.Abort()
	for i := range int64(3) {
		if !eventually(func() bool { return asked.Load() > i && askedToo.Load() > i && askedLast.Load() > i }) {
			t.Fatalf("asked %d, %d and %d times", asked.Load(), askedToo.Load(), askedLast.Load())
		}
		if up.Load() != 1 || ep.Err() != nil {
			t.Fatalf("%d lanes came up, %v", up.Load(), ep.Err())
		}
		news <- []string{ln.Addr(), closes, joins, others, nobody(t)}
	}
}

// TestRailsOfAcceptor: where to dial further lanes is said by the side that is dialed.
func TestRailsOfAcceptor(t *testing.T) {
	tidy(t)
	p, k := busy(t, counting(""))
	s := stranger(t, p.ln.Addr(), rawPreface(), rawHello(hello()))
	if id, _ := answer(t, s); id != wire.IDHelloAck {
		t.Fatalf("the answer is %s", wire.Name(id))
	}
	ep, err := p.ln.Accept(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	s.Write(raw(wire.IDRails, control, wire.Rails{Addrs: []string{"127.0.0.1:1"}}.AppendTo(nil), nil))
	closed(t, s)
	if err := ep.Err(); !errors.Is(err, braid.ErrProtocol) || !strings.Contains(err.Error(), "Rails") {
		t.Error(err)
	}
	k.moves()
	ep.Abort()
}

// TestDialErrors: each way that was tried is in the error, typed.
func TestDialErrors(t *testing.T) {
	tidy(t)
	w := worker(t, braid.Options{Rails: []string{"127.0.0.1", "127.0.0.2"}})
	addr := nobody(t)
	_, err := w.Dial(testContext(t), addr)
	var lane *braid.LaneError
	if !errors.Is(err, braid.ErrDial) || !errors.As(err, &lane) || lane.Lane != "127.0.0.1->"+addr || !strings.Contains(err.Error(), "127.0.0.2->"+addr) {
		t.Errorf("%v", err)
	}
	for _, rails := range [][]string{{"nosuch0"}, {"!*"}, {"!0.0.0.0/0", "!::/0"}} {
		w := worker(t, braid.Options{Rails: rails})
		if _, err := w.Dial(testContext(t), "192.0.2.1:7"); !errors.Is(err, braid.ErrRails) || rails[0] == "nosuch0" && !strings.Contains(err.Error(), "no rail matches nosuch0; this host has lo 127.0.0.1/8") {
			t.Errorf("%q: dial: %v", rails, err)
		}
		if _, err := w.Listen("0.0.0.0:0"); !errors.Is(err, braid.ErrRails) {
			t.Errorf("%q: listen: %v", rails, err)
		}
	}
}

// TestLocalRails: this host has its loopback address, which leads nowhere else; what is not there is said.
func TestLocalRails(t *testing.T) {
	rails, err := braid.LocalRails("lo", "nosuch0")
	if err != nil {
		t.Fatal(err)
	}
	if r := rails[0]; r.Addr.String() != "127.0.0.1" || r.Network.String() != "127.0.0.0/8" || !r.Usable || r.Reason != "towards this host only" {
		t.Errorf("%+v", r)
	}
	if r := rails[len(rails)-1]; r.Interface != "nosuch0" || r.Usable || r.Addr.IsValid() || r.Reason == "" {
		t.Errorf("%+v", r)
	}
	if _, err := braid.LocalRails("a,b"); !errors.Is(err, braid.ErrRails) {
		t.Error(err)
	}
	n, err := braid.Open(braid.Options{Rails: []string{"127.0.0.2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if r := n.Rails()[0]; r.Addr.String() != "127.0.0.2" || !r.Usable {
		t.Errorf("%+v", r)
	}
}
