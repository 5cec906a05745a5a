package braid_test

import (
	"bytes"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/wireup"
)

// cheat is a peer that says what it likes on two lanes, to a worker that runs when it is told to: so a test sees what was written, and when.
type cheat struct {
	*testing.T
	p     *pair
	ep    *braid.Endpoint
	lanes [2]net.Conn
}

// turns runs the worker until something is so.
func (l *cheat) turns(until func() bool) {
	l.Helper()
	for end := time.Now().Add(patience); !until(); {
		if l.p.bw.Progress() == 0 {
			time.Sleep(100 * time.Microsecond)
		}
		if time.Now().After(end) {
			l.Fatal("it never comes")
		}
	}
}

// hears is what the worker answers to a hello.
func (l *cheat) hears(h wire.Hello) (c net.Conn, a wire.HelloAck) {
	l.Helper()
	c = stranger(l.T, l.p.ln.Addr(), rawPreface(), rawHello(h))
	type word struct {
		id   uint8
		body []byte
	}
	said := make(chan word, 1)
	go func() {
		readFrame(c) // the preface
		id, body, _ := readFrame(c)
		said <- word{id, body}
	}()
	l.turns(func() bool { return len(said) > 0 })
	w := <-said
	a, err := wire.DecodeHelloAck(w.body)
	if w.id != wire.IDHelloAck || err != nil {
		l.Fatal(wire.Name(w.id), err)
	}
	return c, a
}

func (l *cheat) say(lane int, frame []byte) {
	l.Helper()
	if _, err := l.lanes[lane].Write(frame); err != nil {
		l.Fatal(err)
	}
}

// cheated is an endpoint of a worker that is turned by hand, and a peer on two lanes that is none of braid's.
func cheated(t *testing.T) *cheat {
	tidy(t)
	l := &cheat{T: t, p: &pair{}}
	var err error
	if l.p.bn, err = braid.Open(braid.Options{Owned: true, Transports: braid.Default()[:1]}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.p.bn.Close() })
	l.p.bw = newWorker(t, l.p.bn)
	if l.p.ln, err = l.p.bw.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	h := hello()
	h.Optional, h.Backlog, h.ReplyCredits = h.Optional|wire.CapTag|wire.CapTagPut, 1<<20, 16
	var a wire.HelloAck
	l.lanes[0], a = l.hears(h)
	if l.ep, err = l.p.ln.Accept(testContext(t)); err != nil {
		t.Fatal(err)
	}
	h.PeerIncarnation, h.PeerEndpoint, h.Instance.N = a.Incarnation, a.Endpoint, 2
	h.Join = wireup.JoinProof(a.JoinKey, &h)
	l.lanes[1], _ = l.hears(h)
	l.turns(func() bool { return len(l.ep.Lanes()) == 2 })
	return l
}

// landingSize is that of what these tests are about: enough that it is written to where it belongs while it still arrives.
const landingSize = 64 << 10

// number is the number of the operation that the worker asks for with a frame.
func (l *cheat) number(id uint8, of func(body []byte) uint64) uint64 {
	l.Helper()
	said := make(chan uint64, 2)
	for _, c := range l.lanes {
		go func() {
			for {
				got, body, err := readFrame(c)
				if err != nil {
					return
				}
				if got == id {
					said <- of(body)
					return
				}
			}
		}()
	}
	l.turns(func() bool { return len(said) > 0 })
	return <-said
}

// receives has the worker wait for a message that is put; frame is one with bytes for it.
func receives(l *cheat, buf []byte) (r braid.Request, frame func(payload []byte) []byte) {
	recv := l.ep.PostRecvTag(buf, 7, braid.ExactTag)
	l.say(0, tagged(2, wire.TagOffer{TagSync: wire.TagSync{Tag: 7, Op: 5}, Size: landingSize, Put: true}.AppendTo(nil), nil))
	to := l.number(wire.IDTagClear, func(b []byte) uint64 { h, _ := wire.DecodeTagClear(b); return h.To })
	return recv.Request, func(b []byte) []byte { return raw(wire.IDTagPut, 0, wire.TagPut{To: to}.AppendTo(nil), b) }
}

// gets has it wait for the answer to a get.
func gets(l *cheat, buf []byte) (r braid.Request, frame func(payload []byte) []byte) {
	key, err := braid.ParseRKey(wire.RKey{Rights: wire.Read, Index: 1, Secret: 2, Size: landingSize, Incarnation: 77}.AppendTo(nil))
	if err != nil {
		l.Fatal(err)
	}
	r = l.ep.PostGet(buf, key, 0)
	op := l.number(wire.IDGet, func(b []byte) uint64 { h, _ := wire.DecodeGet(b); return h.Op })
	return r, func(b []byte) []byte { return raw(wire.IDGetData, 0, wire.GetData{Op: op}.AppendTo(nil), b) }
}

// TestCompleteWhileAnotherLaneWrites: a peer that brings on one lane what makes a receive, or a get, complete, while on another a frame for the same memory is
// here by half, has sent some of it twice. It loses its endpoint, and memory that is its user's again is not written to.
func TestCompleteWhileAnotherLaneWrites(t *testing.T) {
	whole := func(frame func([]byte) []byte) []byte { return frame(make([]byte, landingSize)) }
	for name, c := range map[string]struct {
		post func(*cheat, []byte) (braid.Request, func([]byte) []byte)
		end  func(frame func([]byte) []byte) []byte
		want error
	}{
		"receive, the same bytes again": {receives, whole, braid.ErrProtocol},
		"get, the same bytes again":     {gets, whole, braid.ErrProtocol},
		"receive, the end":              {receives, func(func([]byte) []byte) []byte { return raw(wire.IDClose, control, wire.Close{}.AppendTo(nil), nil) }, braid.ErrPeerClosed},
		"get, the end":                  {gets, func(func([]byte) []byte) []byte { return raw(wire.IDClose, control, wire.Close{}.AppendTo(nil), nil) }, braid.ErrPeerClosed},
	} {
		t.Run(name, func(t *testing.T) {
			l := cheated(t)
			buf := make([]byte, landingSize)
			r, frame := c.post(l, buf)
			sevens := frame(bytes.Repeat([]byte{7}, landingSize))
			l.say(0, sevens[:len(sevens)/2])
			l.turns(func() bool { return buf[100] == 7 })
			l.say(1, c.end(frame))
			var err error
			l.turns(func() (done bool) { done, err = r.Test(); return done })
			if !errors.Is(err, c.want) {
				t.Errorf("it ends with %v", err)
			}
			clear(buf)
			l.lanes[0].Write(sevens[len(sevens)/2:]) // may be closed
			for range 100 {
				l.p.bw.Progress()
				time.Sleep(100 * time.Microsecond)
			}
			if i := bytes.IndexByte(buf, 7); i >= 0 {
				t.Errorf("byte %d was written after the end", i)
			}
			l.ep.Abort()
			r.Cancel()
		})
	}
}

// TestAnswerAgain: a peer that answers a get again, when it is over and its user has not looked yet, loses its endpoint, and nothing is written.
func TestAnswerAgain(t *testing.T) {
	l := cheated(t)
	buf := make([]byte, landingSize)
	r, frame := gets(l, buf)
	l.say(1, frame(bytes.Repeat([]byte{3}, landingSize)))
	l.turns(func() bool { return buf[landingSize-1] == 3 })
	l.p.bw.Progress()
	again := frame(bytes.Repeat([]byte{7}, landingSize))
	l.say(0, again[:len(again)/2])
	for range 100 {
		l.p.bw.Progress()
		time.Sleep(100 * time.Microsecond)
	}
	l.lanes[0].Write(again[len(again)/2:])
	l.turns(func() bool { return l.ep.Err() != nil })
	if err := l.ep.Err(); !errors.Is(err, braid.ErrProtocol) {
		t.Errorf("the endpoint ends with %v", err)
	}
	if i := bytes.IndexByte(buf, 7); i >= 0 {
		t.Errorf("byte %d was written after the end", i)
	}
	if done, err := r.Test(); !done || err != nil {
		t.Errorf("the get: %v, %v", done, err)
	}
	l.ep.Abort()
}
