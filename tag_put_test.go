package braid_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/wire"
)

// putTo is an endpoint that puts what is large, its peer, who is none of braid's, and the offer of a message that has come to him.
func putTo(t *testing.T, caps wire.Caps, payload []byte) (send braid.Request, s net.Conn, offer wire.TagOffer) {
	t.Helper()
	p := connect(t, braid.Options{}, braid.Options{Settings: rendezvous(t, "put"), Limits: braid.Limits{Eager: 16}})
	h := hello()
	h.Optional, h.Backlog = h.Optional|caps, 1<<20
	s = stranger(t, p.ln.Addr(), rawPreface(), rawHello(h))
	if id, _ := answer(t, s); id != wire.IDHelloAck {
		t.Fatalf("the answer is %s", wire.Name(id))
	}
	ep, err := p.ln.Accept(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	send = ep.PostTag(7, payload)
	am, err := wire.DecodeAM(next(t, s, wire.IDAM)[:wire.AMSize+wire.TagOfferSize])
	if err == nil {
		offer, err = wire.DecodeTagOffer(am.Header)
	}
	if err != nil || offer.Tag != 7 || offer.Size != uint64(len(payload)) {
		t.Fatal(offer, err)
	}
	return send, s, offer
}

// next is the next frame of a kind.
func next(t *testing.T, s net.Conn, want uint8) []byte {
	t.Helper()
	for {
		id, body, err := readFrame(s)
		if err != nil {
			t.Fatal(err)
		}
		if id == want {
			return body
		}
	}
}

func room(op, to, size uint64) []byte {
	return raw(wire.IDTagClear, 0, wire.TagClear{Op: op, To: to, Size: size}.AppendTo(nil), nil)
}

// TestPutToOldPeer: a peer that does not know how to say where it has room reads what it is offered, in an offer without what is new in it.
func TestPutToOldPeer(t *testing.T) {
	tidy(t)
	_, _, old := putTo(t, wire.CapTag, make([]byte, 100))
	_, _, young := putTo(t, wire.CapTag|wire.CapTagPut, make([]byte, 100))
	if old.Put || !young.Put {
		t.Errorf("to put: %v to one that can't, %v to one that can", old.Put, young.Put)
	}
}

// TestPutWhereItIsWanted: as many bytes are put as there is room for, where the receiver has said, and the send ends when he has it.
func TestPutWhereItIsWanted(t *testing.T) {
	tidy(t)
	payload := tagBytes(100, 5)
	send, s, offer := putTo(t, wire.CapTag|wire.CapTagPut, payload)
	if _, err := s.Write(append(ackOf(1), room(offer.Op, 99, 60)...)); err != nil {
		t.Fatal(err)
	}
	body := next(t, s, wire.IDTagPut)
	h, err := wire.DecodeTagPut(body[:wire.TagPutSize])
	if err != nil || h != (wire.TagPut{To: 99}) || !bytes.Equal(body[wire.TagPutSize:], payload[:60]) {
		t.Fatalf("%+v, %v: %x", h, err, body)
	}
	if done, _ := send.Test(); done {
		t.Error("it ends before its receiver has said so")
	}
	if _, err := s.Write(append(ackOf(2), note(wire.TagMatched, offer.Op)...)); err != nil {
		t.Fatal(err)
	}
	if err := send.Wait(testContext(t)); err != nil {
		t.Error(err)
	}
}

// TestPutOver: who asks for what its sender has taken back meanwhile is told that nothing of it comes, and the endpoint goes on.
func TestPutOver(t *testing.T) {
	tidy(t)
	send, s, offer := putTo(t, wire.CapTag|wire.CapTagPut, make([]byte, 100))
	short, stop := context.WithTimeout(testContext(t), 0)
	defer stop()
	if err := send.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if _, err := s.Write(append(ackOf(1), room(offer.Op, 99, 60)...)); err != nil {
		t.Fatal(err)
	}
	body := next(t, s, wire.IDTagPut)
	if h, err := wire.DecodeTagPut(body); err != nil || h != (wire.TagPut{To: 99, Code: wire.RefusedKey}) {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestPutLies: who asks for more of a message than there is, for one twice, or for one that is not to be put, loses his endpoint.
func TestPutLies(t *testing.T) {
	for name, say := range map[string]func(op uint64) []byte{
		"more than there is": func(op uint64) []byte { return room(op, 9, 101) },
		"twice":              func(op uint64) []byte { return append(room(op, 9, 1), room(op, 9, 1)...) },
		"one that is over":   func(op uint64) []byte { return append(room(op, 9, 1), room(1<<40, 9, 1)...) },
		"none, and one is":   func(uint64) []byte { return room(1<<40, 9, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			tidy(t)
			send, s, offer := putTo(t, wire.CapTag|wire.CapTagPut, make([]byte, 100))
			if _, err := s.Write(append(ackOf(1), say(offer.Op)...)); err != nil {
				t.Fatal(err)
			}
			if err := send.Wait(testContext(t)); !errors.Is(err, braid.ErrProtocol) {
				t.Errorf("the send ends with %v", err)
			}
		})
	}
}

// TestPutGivenUp: the word that a message is given up may come before the one that there is room for it, which is then answered, once; behind every other end such a
// word is a lie.
func TestPutGivenUp(t *testing.T) {
	for _, code := range []wire.TagCode{wire.TagGivenUp, wire.TagMatched} {
		t.Run(code.String(), func(t *testing.T) {
			tidy(t)
			send, s, offer := putTo(t, wire.CapTag|wire.CapTagPut, make([]byte, 100))
			if _, err := s.Write(append(ackOf(1), note(code, offer.Op)...)); err != nil {
				t.Fatal(err)
			}
			if err := send.Wait(testContext(t)); (err == nil) != (code == wire.TagMatched) {
				t.Fatal(err)
			}
			if _, err := s.Write(room(offer.Op, 99, 60)); err != nil {
				t.Fatal(err)
			}
			if code == wire.TagGivenUp {
				body := next(t, s, wire.IDTagPut)
				if h, err := wire.DecodeTagPut(body); err != nil || h != (wire.TagPut{To: 99, Code: wire.RefusedKey}) {
					t.Errorf("%+v, %v", h, err)
				}
				if _, err := s.Write(append(ackOf(2), room(offer.Op, 99, 60)...)); err != nil {
					t.Fatal(err)
				}
			}
			closed(t, s)
		})
	}
}

// TestPutEndpointOver: when an endpoint ends while a message is put, both sides hear so, and memory of neither is used any more.
func TestPutEndpointOver(t *testing.T) {
	for name, end := range map[string]func(*pair){
		"aborted by the sender":   func(p *pair) { p.a.Abort() },
		"aborted by the receiver": func(p *pair) { p.b.Abort() },
	} {
		t.Run(name, func(t *testing.T) {
			tidy(t)
			ctx := testContext(t)
			p := connect(t, braid.Options{Settings: rendezvous(t, "put"), Transports: braid.Default()[:1]}, braid.Options{Transports: braid.Default()[:1], Times: braid.Times{Suspended: 100 * time.Millisecond}})
			const n = 64 << 20
			src, buf := bytes.Repeat([]byte{7}, n), make([]byte, n)
			r := p.bw.PostRecvTag(buf, 1, braid.ExactTag)
			s := p.a.PostTag(1, src)
			for p.a.Lanes()[0].PostedBytes < 1<<20 {
				time.Sleep(time.Millisecond)
			}
			end(p)
			_, got := r.Wait(ctx)
			for who, err := range map[string]error{"receive": got, "send": s.Wait(ctx)} {
				if !errors.Is(err, braid.ErrClosed) && !errors.Is(err, braid.ErrPeerFailed) && !errors.Is(err, braid.ErrPeerClosed) {
					t.Errorf("the %s ends with %v", who, err)
				}
			}
			mark := bytes.Repeat([]byte{0xee}, n)
			copy(src, mark)
			copy(buf, mark)
			time.Sleep(10 * time.Millisecond)
			if i := bytes.IndexByte(buf, 7); i >= 0 {
				t.Errorf("byte %d was written after the end", i)
			}
		})
	}
}
