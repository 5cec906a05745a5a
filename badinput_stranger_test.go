package braid_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/wire"
)

func noise(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestStrangers: whoever dials a listener and says anything but a proper hello is dropped, and the endpoint that the same
// worker serves meanwhile doesn't notice.
func TestStrangers(t *testing.T) {
	tidy(t)
	log := counting("connection dropped")
	p, k := busy(t, log)
	preface, data := rawPreface(), raw(wire.IDPut, 0, make([]byte, wire.PutSize), []byte("payload"))
	broken := rawHello(hello())
	broken[len(broken)-9] ^= 0xff // inside of the last field
	type words struct {
		name string
		say  []byte
		stay bool // does not end its side: only the listener's patience ends it
	}
	cases := []words{
		{"nothing", nil, false},
		{"nothing, and stays", nil, true},
		{"one byte", []byte{7}, false},
		{"half a header, and stays", preface[:9], true},
		{"half a preface", preface[:40], false},
		{"half a preface, and stays", preface[:40], true},
		{"zeros", make([]byte, 4096), false},
		{"all ones", bytes.Repeat([]byte{0xff}, 4096), false},
		{"noise", noise(1, 4096), false},
		{"noise of 1 MiB", noise(2, 1<<20), false},
		{"oversized first frame", raw(wire.IDPreface, control, make([]byte, 2000), nil), true},
		{"HTTP", []byte("GET / HTTP/1.1\r\nHost: braid\r\n\r\n"), true},
		{"TLS", append([]byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}, noise(3, 500)...), true},
		{"SSH", []byte("SSH-2.0-OpenSSH_9.6\r\n"), true},
		{"data first", data, true},
		{"data after the preface", append(rawPreface(), data...), true},
		{"preface with noise for magic", raw(wire.IDPreface, control, noise(4, wire.PrefaceSize), nil), true},
		{"two prefaces", append(rawPreface(), preface...), true},
		{"hello without preface", rawHello(hello()), true},
		{"preface and noise", append(rawPreface(), noise(5, 900)...), true},
		{"preface and a hello of noise", append(rawPreface(), raw(wire.IDHello, control, noise(6, 300), nil)...), true},
		{"preface and a broken hello", append(rawPreface(), broken...), true},
		{"preface and an unknown frame", append(rawPreface(), raw(31, control, []byte("?"), nil)...), true},
		{"preface and an acknowledgement of nothing", append(rawPreface(), ackOf(99)...), true},
	}
	const each = 3
	for some := range slices.Chunk(cases, len(cases)/2) { // at once, each from an address of its own: the listener's patience is the same for all, and so are its places
		dropped := log.count.Load()
		strangers := make([][each]net.Conn, len(some))
		for i, c := range some {
			for j := range each {
				s := strangerFrom(t, fmt.Sprintf("127.1.0.%d", 1+i), p.ln.Addr(), c.say)
				if strangers[i][j] = s; !c.stay {
					s.(*net.TCPConn).CloseWrite()
				}
			}
		}
		for i, c := range some {
			t.Run(c.name, func(t *testing.T) {
				for _, s := range strangers[i] {
					closed(t, s)
				}
				k.moves()
			})
		}
		if want := int64(each * len(some)); !eventually(func() bool { return log.count.Load() >= dropped+want }) {
			t.Errorf("%d of %d were counted", log.count.Load()-dropped, want)
		}
	}
}

// ackOf is a frame that only acknowledges.
func ackOf(n byte) []byte {
	b := raw(0, control, nil, nil)
	b[8] = n
	return b
}

// TestStrangerAnswers: who speaks braid, but not so that it can be let in, is told why.
func TestStrangerAnswers(t *testing.T) {
	tidy(t)
	p, k := busy(t, counting(""))
	mem, err := p.bn.Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	real, err := wire.DecodeRKey(mem.Key(braid.Read).Bytes()) // knows the process's incarnation
	if err != nil {
		t.Fatal(err)
	}
	hijack, gone, mode := hello(), hello(), hello()
	hijack.PeerIncarnation, hijack.PeerEndpoint, hijack.Join[3] = real.Incarnation, 1, 9
	gone.PeerIncarnation, gone.PeerEndpoint = real.Incarnation^1, 1
	mode.Required = 1 << 30
	acceptor := hello()
	acceptor.Instance.Opener = wire.Acceptor
	future := raw(wire.IDPreface, control, wire.Preface{Version: wire.Version{Major: 9, Minor: 8}}.AppendTo(nil), nil)
	var asked []net.Conn
	for _, c := range []struct {
		name string
		say  []byte
		id   uint8
		code wire.RejectCode
		text []string
	}{
		{"another version", future, wire.IDReject, wire.RejectVersion, []string{"9.8", wire.Ours().String()}},
		{"an unknown requirement", append(rawPreface(), rawHello(mode)...), wire.IDReject, wire.RejectVersion, nil},
		{"a lane of an endpoint, without its key", append(rawPreface(), rawHello(hijack)...), wire.IDReject, wire.RejectSecret, []string{"key"}},
		{"an endpoint of another process", append(rawPreface(), rawHello(gone)...), wire.IDEPClosed, 0, nil},
		{"the wrong opener", append(rawPreface(), rawHello(acceptor)...), wire.IDReject, wire.RejectBad, nil},
		{"garbage for a hello", append(rawPreface(), raw(wire.IDHello, control, []byte("hello"), nil)...), wire.IDReject, wire.RejectBad, nil},
	} {
		s := stranger(t, p.ln.Addr(), c.say)
		t.Run(c.name, func(t *testing.T) {
			id, body := answer(t, s)
			if id != c.id {
				t.Fatalf("the answer is %s, want %s", wire.Name(id), wire.Name(c.id))
			}
			if c.id == wire.IDReject {
				r, err := wire.DecodeReject(body)
				if err != nil || r.Code != c.code {
					t.Fatalf("%v, %v; want code %v", r, err, c.code)
				}
				for _, text := range c.text {
					if !strings.Contains(r.Text, text) {
						t.Errorf("%q does not say %q", r.Text, text)
					}
				}
			}
			asked = append(asked, s)
		})
	}
	for _, s := range asked { // all of them wait for the listener's patience together
		closed(t, s)
		k.moves()
	}
}

// TestBadPeer: who got in by a proper hello and then sends what can't be loses his own endpoint, and nobody else's.
func TestBadPeer(t *testing.T) {
	tidy(t)
	p, k := busy(t, counting(""))
	for _, c := range []struct {
		name string
		say  []byte
	}{
		{"noise", noise(7, 4096)},
		{"oversized frame", raw(wire.IDAM, 0, make([]byte, 4), make([]byte, 300<<10))},
		{"unknown data", raw(99, 0, []byte("?"), nil)},
		{"unknown control", raw(31, control, []byte("?"), nil)},
		{"a put without a head", raw(wire.IDPut, 0, []byte{1, 2}, []byte("payload"))},
		{"a message that never began", raw(wire.IDAMFrag, 0, wire.AMFrag{Msg: 5, Offset: 10}.AppendTo(nil), []byte("payload"))},
		{"a message beyond the limit", raw(wire.IDAMFirst, 0, wire.AMFirst{ID: 1, Msg: 1, Total: 1 << 50}.AppendTo(nil), []byte("payload"))},
		{"an acknowledgement of nothing", ackOf(99)},
		{"a hello again", rawHello(hello())},
		{"a lane lost that never was", raw(wire.IDLost, control, []byte("lost"), nil)},
		{"a part beyond the limit", raw(wire.IDAMPart, 0, wire.AMPart{Msg: 1, Total: 1 << 63}.AppendTo(nil), []byte("payload"))},
		{"the end of a message that never began", raw(wire.IDAMLast, 0, wire.AMLast{ID: 1, Msg: 1, Total: 5}.AppendTo(nil), nil)},
		{"an answer to no get", raw(wire.IDGetData, 0, wire.GetData{Op: 1 << 32}.AppendTo(nil), []byte("payload"))},
		{"a get of more than a frame", raw(wire.IDGet, 0, wire.Get{Size: 1 << 31}.AppendTo(nil), nil)},
		{"credit for what was never sent", raw(wire.IDCredit, 0, wire.Credit{Handled: 1}.AppendTo(nil), nil)},
		{"a change that there isn't", raw(wire.IDAtomicOp, 0, wire.AtomicOp{Change: 7, Size: 8}.AppendTo(nil), nil)},
		{"a put and half a signal", raw(wire.IDPutSignal, 0, make([]byte, wire.PutSignalSize-1), nil)},
		{"a tag and a half", tagged(0, make([]byte, 12), nil)},
		{"an offer with a payload", tagged(2, wire.TagOffer{Size: 5}.AppendTo(nil), []byte("payload"))},
		{"an offer of more than a process can have", tagged(2, wire.TagOffer{Size: 1 << 63}.AppendTo(nil), nil)},
		{"a kind of tagged message that there isn't", tagged(3, make([]byte, 16), nil)},
		{"an offer that is neither read nor put", tagged(2, append(wire.TagOffer{Size: 5}.AppendTo(nil)[:36], 2, 0, 0, 0), nil)},
		{"room for a message that was never offered", raw(wire.IDTagClear, 0, wire.TagClear{Op: 1 << 32, To: 1, Size: 5}.AppendTo(nil), nil)},
		{"room for nothing", raw(wire.IDTagClear, 0, wire.TagClear{Op: 1 << 32}.AppendTo(nil), nil)},
		{"bytes of a message that nobody has room for", raw(wire.IDTagPut, 0, wire.TagPut{To: 1 << 32}.AppendTo(nil), []byte("payload"))},
		{"the end of a message that nobody has room for", raw(wire.IDTagPut, 0, wire.TagPut{To: 1 << 32, Code: wire.RefusedKey}.AppendTo(nil), nil)},
		{"a note about no message", note(wire.TagMatched, 1<<32)},
		{"a wish of the one who receives", note(wire.TagWithdrawn, 1<<32)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := stranger(t, p.ln.Addr(), rawPreface(), rawHello(hello()))
			if id, _ := answer(t, s); id != wire.IDHelloAck {
				t.Fatalf("the answer is %s", wire.Name(id))
			}
			ep, err := p.ln.Accept(testContext(t))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Write(c.say); err != nil {
				t.Fatal(err)
			}
			closed(t, s)
			k.moves()
			ep.Abort()
			if err := ep.Flush(testContext(t)); !errors.Is(err, braid.ErrClosed) {
				t.Errorf("Flush: %v", err)
			}
		})
	}
}

// tagged is a message of the n-th kind of those with a tag.
func tagged(n uint16, header, payload []byte) []byte {
	return raw(wire.IDAM, 0, wire.AM{ID: family.Tag + n, Header: header}.AppendTo(nil), payload)
}

func note(code wire.TagCode, op uint64) []byte {
	return raw(wire.IDTagNote, 0, wire.TagNote{Code: code, Op: op}.AppendTo(nil), nil)
}

// TestWithdrawnUnasked: a peer that gives a message back which nobody wants back, or says of one with a tag that it has no handler, loses its endpoint, and the send says so.
func TestWithdrawnUnasked(t *testing.T) {
	tidy(t)
	for _, code := range []wire.TagCode{wire.TagWithdrawn, wire.TagNoHandler} {
		t.Run(code.String(), func(t *testing.T) { withdrawnUnasked(t, code) })
	}
}

func withdrawnUnasked(t *testing.T, code wire.TagCode) {
	p := connect(t, braid.Options{}, braid.Options{})
	h := hello()
	h.Optional, h.Backlog = h.Optional|wire.CapTag, 1<<20
	s := stranger(t, p.ln.Addr(), rawPreface(), rawHello(h))
	if id, _ := answer(t, s); id != wire.IDHelloAck {
		t.Fatalf("the answer is %s", wire.Name(id))
	}
	ep, err := p.ln.Accept(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	send := ep.PostTagSync(7, []byte("payload"))
	var m wire.TagSync
	for m.Op == 0 {
		id, head, err := readFrame(s)
		if err != nil {
			t.Fatal(err)
		}
		if id != wire.IDAM {
			continue
		}
		am, err := wire.DecodeAM(head[:wire.AMSize+wire.TagSyncSize])
		if err != nil {
			t.Fatal(err)
		}
		if m, err = wire.DecodeTagSync(am.Header); err != nil || m.Tag != 7 {
			t.Fatal(m, err)
		}
	}
	if _, err := s.Write(append(ackOf(1), note(code, m.Op)...)); err != nil {
		t.Fatal(err)
	}
	if err := send.Wait(testContext(t)); !errors.Is(err, braid.ErrProtocol) || errors.Is(err, braid.ErrCanceled) || errors.Is(err, braid.ErrHandler) {
		t.Errorf("the send ends with %v", err)
	}
}

// TestAnswerBeforeHangUp: who gets an answer that says no has time to read it. To close at once may take it away.
func TestAnswerBeforeHangUp(t *testing.T) {
	p := connect(t, braid.Options{}, braid.Options{})
	gone := hello()
	gone.PeerIncarnation, gone.PeerEndpoint = 1234, 5
	backwards := hello()
	backwards.Instance.Opener = wire.Acceptor
	var asked []net.Conn
	for _, c := range []struct {
		name string
		say  []byte
		want uint8
	}{
		{"an endpoint that is not here", rawHello(gone), wire.IDEPClosed},
		{"a first lane opened by the wrong side", rawHello(backwards), wire.IDReject},
		{"garbage instead of a hello", raw(wire.IDHello, control, []byte("hello"), nil), wire.IDReject},
	} {
		s := stranger(t, p.ln.Addr(), rawPreface(), c.say)
		t.Run(c.name, func(t *testing.T) {
			if id, _ := answer(t, s); id != c.want {
				t.Fatalf("the answer is %s", wire.Name(id))
			}
			s.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
			if _, err := s.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("hung up with its answer: %v", err)
			}
			s.SetReadDeadline(time.Now().Add(patience))
			asked = append(asked, s)
		})
	}
	for _, s := range asked {
		closed(t, s)
	}
}
