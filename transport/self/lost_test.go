package self_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/openbraid/braid/transport"
)

// TestInsidePlace: whatever Place does, what it is about is either taken whole, once, or not at all.
func TestInsidePlace(t *testing.T) {
	for name, do := range map[string]func(tl *tale){
		"close x":   func(tl *tale) { tl.x.ep.Close() },
		"close y":   func(tl *tale) { tl.y.ep.Close() },
		"quiesce x": func(tl *tale) { tl.x.ep.Quiesce() },
		"quiesce y": func(tl *tale) { tl.y.ep.Quiesce() },
		"cancel x":  func(tl *tale) { tl.x.ep.Cancel(transport.ErrReset) },
		"close all": func(tl *tale) { tl.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			tl := newTale(t)
			tl.y.onPlace = func(size int) []byte {
				do(tl)
				return make([]byte, size)
			}
			tl.x.zero(1, make([]byte, 5000))
			tl.Progress()
			tl.Progress()
			if slices.Contains(tl.log, "y data 1") || tl.y.ep.Position() != 0 {
				t.Errorf("the frame was taken: %v", tl.log)
			}
			if slices.Contains(tl.log, "x executed 1") {
				t.Errorf("the frame was reported executed: %v", tl.log)
			}
			tl.x.ep.Close()
			if n := strings.Count(strings.Join(tl.log, ","), "x ended 1"); n != 1 {
				t.Errorf("the frame ended %d times: %v", n, tl.log)
			}
		})
	}
}

// TestBooksMoveInsidePlace: posts from inside move the books, Detach takes the payload out of them.
func TestBooksMoveInsidePlace(t *testing.T) {
	for _, placed := range []bool{true, false} {
		tl := newTale(t)
		payload := bytes.Repeat([]byte{3}, 5000)
		tl.y.onPlace = func(size int) []byte {
			for range 500 {
				tl.x.data(2)
			}
			tl.x.ep.Detach(func(transport.Completer) bool { return true })
			clear(payload)
			if placed {
				return make([]byte, size)
			}
			return nil
		}
		tl.y.onFrame = func(in *transport.Incoming) {
			want, size := byte(3), 5000
			if in.ID == 2 {
				want, size = 2, 1
			}
			if len(in.Payload) != size || bytes.Count(in.Payload, []byte{want}) != size {
				t.Fatalf("frame %d: %d bytes, or wrong ones", in.ID, len(in.Payload))
			}
		}
		tl.x.zero(1, payload)
		for range 10 {
			tl.Progress()
		}
		if c := tl.x.ep.Counts(); c.Acked != 501 || slices.Contains(tl.log, "x sent 1") {
			t.Errorf("%+v; Sent is not owed after Detach: %v", c, tl.log[:5])
		}
	}
}

// TestLostLeavesBytes: what was not taken is handed out with its bytes; what was taken is not in the way.
func TestLostLeavesBytes(t *testing.T) {
	tl := newTale(t)
	tl.y.onFrame = func(in *transport.Incoming) {
		if in.ID == 2 {
			tl.y.ep.Quiesce()
			if p := tl.y.ep.Position(); p != 2 {
				t.Errorf("position %d while frame 2 is taken, want 2", p)
			}
		}
	}
	for id := range uint8(4) {
		tl.x.data(id + 1)
	}
	tl.Progress()
	tl.expect(t, "y data 1", "y data 2", "x executed 1", "x executed 2", "x error")
	if !errors.Is(tl.x.err, transport.ErrPeerClosed) {
		t.Errorf("OnError(%v), want ErrPeerClosed", tl.x.err)
	}
	var handed []byte
	r, err := tl.x.ep.PurgeOutstanding(2, func(f *transport.Frame) error { handed = append(handed, f.Payload...); return nil })
	if err != nil || r.Handed != 2 || !bytes.Equal(handed, []byte{3, 4}) {
		t.Errorf("purge = %+v, %v: %v", r, err, handed)
	}
}

func TestGoodByeIsRead(t *testing.T) {
	tl := newTale(t)
	tl.y.control(1)
	tl.y.ep.Close()
	tl.Progress()
	tl.expect(t, "x control 1", "x error")
	if st := tl.x.control(1); st != transport.Failed {
		t.Errorf("Post after OnError: %v", st)
	}
}

// TestLastWords: what the peer says from inside this side's callback, before it closes, is read too.
func TestLastWords(t *testing.T) {
	tl := newTale(t)
	tl.x.onFrame = func(in *transport.Incoming) {
		if in.ID == 1 {
			tl.y.control(2)
			tl.y.ep.Close()
		}
	}
	tl.y.control(1)
	tl.Progress()
	tl.expect(t, "x control 1", "x control 2", "x error")
}

// TestIntoTheVoid: what is posted to a peer that closed, before the notice of it.
func TestIntoTheVoid(t *testing.T) {
	tl := newTale(t)
	tl.y.ep.Close()
	for range 10000 {
		if st := tl.x.control(1); st != transport.Done {
			t.Fatal(st)
		}
	}
	if st := tl.x.data(1); st != transport.Done {
		t.Fatal(st)
	}
	tl.Progress()
	tl.expect(t, "x error")
	if r, err := tl.x.ep.PurgeOutstanding(0, func(*transport.Frame) error { return nil }); err != nil || r.Handed != 1 {
		t.Errorf("purge = %+v, %v", r, err)
	}
}

// TestCloseInsideControl: the next one is not read.
func TestCloseInsideControl(t *testing.T) {
	for name, end := range map[string]func(*tale){"y": func(tl *tale) { tl.y.ep.Close() }, "all": func(tl *tale) { tl.Close() }} {
		tl := newTale(t)
		tl.y.onFrame = func(*transport.Incoming) { end(tl) }
		tl.x.control(1)
		tl.x.control(2)
		tl.Progress()
		if slices.Contains(tl.log, "y control 2") {
			t.Errorf("close %s: %v", name, tl.log)
		}
	}
}

// TestReadAfterQuiesce: control frames are still read, one that is too long is passed over, data is not taken.
func TestReadAfterQuiesce(t *testing.T) {
	tl := newTale(t)
	tl.x.control(1)
	tl.x.ep.Post(&transport.Frame{ID: 2, Class: transport.Control, Payload: make([]byte, 3000)})
	tl.x.control(3)
	tl.x.data(4)
	tl.y.ep.Admit(2000, true)
	tl.y.ep.Quiesce()
	tl.Progress()
	tl.expect(t, "y control 1", "y control 3", "x error")
}

// TestLessAdmitted: a frame above what this side admitted is not of its peer.
func TestLessAdmitted(t *testing.T) {
	tl := newTale(t)
	tl.y.ep.Admit(2000, true)
	tl.x.zero(1, make([]byte, 1999))
	tl.x.zero(2, make([]byte, 2000))
	tl.Progress()
	tl.expect(t, "y place 1", "y data 1", "y error", "x sent 1", "x executed 1", "x error")
	if !errors.Is(tl.y.err, transport.ErrProtocol) || !errors.Is(tl.x.err, transport.ErrReset) {
		t.Errorf("y.OnError(%v), x.OnError(%v), want ErrProtocol and ErrReset", tl.y.err, tl.x.err)
	}
}

// gate is an acceptor that does something of its own.
type gate func(ep transport.Endpoint) (transport.Sink, transport.Options)

func (g gate) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) { return g(ep) }

// TestInsideAccepted: whatever the acceptor does, the dialer hears of it, if it can still hear.
func TestInsideAccepted(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(tl *tale)
		nil  bool
		want []string
	}{
		"refuse":             {func(*tale) {}, true, []string{"x error"}},
		"close y":            {func(tl *tale) { tl.y.ep.Close() }, false, []string{"x error"}},
		"close y and refuse": {func(tl *tale) { tl.y.ep.Close() }, true, []string{"x error"}},
		"quiesce y":          {func(tl *tale) { tl.y.ep.Quiesce() }, false, []string{"x connected", "y control 1", "x error"}},
		"close x":            {func(tl *tale) { tl.x.ep.Close() }, false, []string{"y control 1", "y error"}},
		"quiesce x":          {func(tl *tale) { tl.x.ep.Quiesce() }, false, []string{"y control 1", "y error"}},
		"close x and refuse": {func(tl *tale) { tl.x.ep.Close() }, true, nil},
		"close all":          {func(tl *tale) { tl.Close() }, false, nil},
		"speak":              {func(tl *tale) { tl.y.control(5) }, false, []string{"x connected", "x control 5", "y control 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			tl := &tale{Iface: open(t)}
			depth := 0
			tl.x = &story{name: "x", log: &tl.log, depth: &depth}
			tl.y = &story{name: "y", log: &tl.log, depth: &depth}
			l, err := tl.Listen("self:0", gate(func(ep transport.Endpoint) (transport.Sink, transport.Options) {
				tl.y.ep = ep
				c.do(tl)
				if c.nil {
					return nil, transport.Options{}
				}
				return tl.y, transport.Options{}
			}))
			if err != nil {
				t.Fatal(err)
			}
			if tl.x.ep, err = tl.Dial("", l.Addr(), transport.Options{}, tl.x); err != nil {
				t.Fatal(err)
			}
			tl.x.control(1)
			for range 3 {
				tl.Progress()
			}
			got := slices.Clone(tl.log)
			if name == "quiesce y" { // who hears first is left open
				slices.Sort(got)
				slices.Sort(c.want)
			}
			tl.log = got
			tl.expect(t, c.want...)
			if tl.x.err != nil && !errors.Is(tl.x.err, transport.ErrPeerClosed) {
				t.Errorf("x.OnError(%v), want ErrPeerClosed", tl.x.err)
			}
		})
	}
}

// TestDialNotMeant: a dial that is given up before its turn is never announced.
func TestDialNotMeant(t *testing.T) {
	for _, end := range []func(transport.Endpoint){transport.Endpoint.Close, transport.Endpoint.Quiesce} {
		f := open(t)
		y := &mute{t: t}
		l, err := f.Listen("self:0", y)
		if err != nil {
			t.Fatal(err)
		}
		x := &mute{t: t}
		ep, err := f.Dial("", l.Addr(), transport.Options{}, x)
		if err != nil {
			t.Fatal(err)
		}
		ep.Post(&transport.Frame{ID: 1, Class: transport.Control})
		end(ep)
		f.Progress()
		f.Progress()
	}
}

// mute is told nothing.
type mute struct {
	end
	t *testing.T
}

func (e *mute) Connected() { e.t.Error("Connected") }
func (e *mute) Accepted(transport.Endpoint) (transport.Sink, transport.Options) {
	e.t.Error("Accepted")
	return nil, transport.Options{}
}
func (e *mute) OnError(err error) transport.Decision {
	e.t.Errorf("OnError(%v)", err)
	return transport.Hold
}
