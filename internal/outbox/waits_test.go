package outbox

import (
	"bytes"
	"errors"
	"testing"

	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/replay"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
)

// TestFlushes: wherever an operation is, a flush behind it ends when the peer has all of it, and its result is here, and not before; one of what is sent
// when its buffer is its user's again.
func TestFlushes(t *testing.T) {
	for _, k := range kinds() {
		for _, s := range states() {
			for _, f := range []Flushing{{}, {Sent: true}} {
				w := newWorld(t, s.lanes)
				var r *request.Request
				s.reach(w, func() {
					var err error
					if r, err = k.post(w, bytes.Repeat([]byte{7}, 600)); err != nil {
						t.Fatal(err)
					}
				})
				flush, err := w.PostFlush(f)
				if err != nil {
					t.Fatal(err)
				}
				w.Recheck()                                               // as when anything else is executed
				over := len(w.took) == k.took && (r == nil || r.Reported) // the peer took it with the lane
				sent := f.Sent && (r == nil || r.Reported)
				if ended := flush == nil || flush.Reported; ended != (over || sent) {
					t.Errorf("%s, %s, %+v: it has ended: %v", k.name, s.name, f, ended)
				}
				s.on(w)
				if w.ack(); flush != nil && (!flush.Reported || flush.Err != nil) {
					t.Errorf("%s, %s, %+v: %v, %v, when all is executed", k.name, s.name, f, flush.Reported, flush.Err)
				}
				var all []*request.Request
				for _, x := range []*request.Request{r, flush} {
					if x != nil {
						all = append(all, x)
					}
				}
				w.end(all...)
			}
		}
	}
}

// TestFlushCancels: a flush that cancels what waits here ends what lanes handed back whole, too, at once and not executed, and nothing else.
func TestFlushCancels(t *testing.T) {
	for _, k := range kinds() {
		for _, s := range states() {
			w := newWorld(t, s.lanes)
			var r *request.Request
			s.reach(w, func() { r, _ = k.post(w, bytes.Repeat([]byte{7}, 600)) })
			if r == nil || r.Reported {
				continue
			}
			waits := len(w.took) == 0 && !w.onLane(r) && (s.name == "waits for a lane" || s.name == "waits for room" || !r.Reads()) && !r.Indirect()
			flush, err := w.PostFlush(Flushing{Cancel: true})
			if err != nil {
				t.Fatal(err)
			}
			if ended := r.Reported && how(r.Err) == "not executed"; ended != waits {
				t.Errorf("%s, %s: it ends: %v, it waits here: %v", k.name, s.name, ended, waits)
			}
			s.on(w)
			if w.ack(); len(w.took) != 0 && waits {
				t.Errorf("%s, %s: the peer has %d bytes of what was canceled", k.name, s.name, len(w.took))
			}
			all := []*request.Request{r}
			if flush != nil {
				all = append(all, flush)
			}
			w.end(all...)
		}
	}
}

// onLane says whether a connection has a frame of r.
func (w *world) onLane(r *request.Request) bool {
	for i := range w.lanes {
		c := w.conn(i)
		for at := c.Acked(); at < c.Posted(); at++ {
			if replay.Request(c.At(at).Done) == r {
				return true
			}
		}
	}
	return false
}

// TestRoom: so many operations may wait, and not one more; who waits for room is told once half of it is free, also if that is since some were canceled.
func TestRoom(t *testing.T) {
	for _, cancels := range []bool{false, true} {
		w := newWorld(t, 1)
		w.conn(0).room = 0
		var rs []*request.Request
		for {
			r, err := w.PostPut(make([]byte, 100), w.key, 0)
			if err != nil {
				if !errors.Is(err, outcome.ErrBackPressure) || how(err) != "not executed" || len(rs) != w.Pending {
					t.Fatalf("%d wait: %v", len(rs), err)
				}
				break
			}
			rs = append(rs, r)
		}
		room, err := w.PostRoom()
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rs {
			if left := len(rs) - i; room.Reported != (left <= w.Pending/2) {
				t.Fatalf("%d wait, and there is said to be room: %v", left, room.Reported)
			}
			if cancels {
				w.Cancel(r)
			} else {
				w.conn(0).room = 1
			}
			w.Dispatch()
		}
		w.conn(0).room = 100
		w.ack()
		w.end(append(rs, room)...)
	}
}

// TestSentIsNotCanceled: what its user was told is sent goes on when its lane is lost, whoever cancels what waits.
func TestSentIsNotCanceled(t *testing.T) {
	small := []byte("8 bytes.")
	for _, k := range []kind{
		{"put", 8, func(w *world, src []byte) (*request.Request, error) { return w.PostPut(src, w.key, 0) }},
		{"message", 8, func(w *world, src []byte) (*request.Request, error) { return w.PostAM(1, nil, src) }},
	} {
		for name, cancel := range map[string]func(*world, *request.Request){
			"a flush that cancels": func(w *world, _ *request.Request) { w.PostFlush(Flushing{Cancel: true}) },
			"a late cancel":        func(w *world, r *request.Request) { w.Cancel(r) },
		} {
			w := newWorld(t, 1)
			w.conn(0).room = 0
			r, err := k.post(w, small) // it waits
			if err != nil {
				t.Fatal(err)
			}
			w.conn(0).room = 100
			if w.Dispatch(); !r.Reported || r.Err != nil {
				t.Fatalf("%s: not sent", k.name)
			}
			w.lose(0)
			w.back(0, 0)
			cancel(w, r)
			w.addLane()
			if w.ack(); len(w.took) == 0 {
				t.Errorf("%s, %s: its user was told that it is sent, and the peer does not get it", k.name, name)
			}
		}
	}
}

// TestAnswerToPut: a receive that is put to asks for no answers, so none ends it while bytes for it are under way.
func TestAnswerToPut(t *testing.T) {
	w := newWorld(t, 1)
	if _, err := w.PostGet(make([]byte, 8), w.key, 0); err != nil { // an answer is owed
		t.Fatal(err)
	}
	r := w.pool.Get(request.Receive, w.Box)
	w.Read(r, wire.TagOffer{TagSync: wire.TagSync{Op: 5}, Size: 300, Put: true}, 0, make([]byte, 300))
	if err := w.Answered(wire.GetData{Op: r.Op()}, nil, false); err == nil || r.Reported {
		t.Errorf("an answer is taken: %v, and the receive is over: %v", err, r.Reported)
	}
	if b, _ := w.GetRoom(wire.GetData{Op: r.Op()}, 8); b != nil {
		t.Error("there is a place for an answer")
	}
}

// TestReceiveWaitsForAll: a receive that is put to ends with its last byte, or with the last of those that its sender says there are, and not one byte before.
func TestReceiveWaitsForAll(t *testing.T) {
	for name, all := range map[string]uint64{"whole": 300, "taken back": 200} {
		w := newWorld(t, 1)
		w.mute = true // the test puts
		r := w.pool.Get(request.Receive, w.Box)
		dst := make([]byte, 300)
		w.Read(r, wire.TagOffer{TagSync: wire.TagSync{Op: 5}, Size: 300, Put: true}, 0, dst)
		land := func(h wire.TagPut, b []byte) {
			t.Helper()
			if r.Reported {
				t.Errorf("%s: over before %d bytes at %d", name, len(b), h.At)
			}
			h.To = r.Op()
			if err := w.Landed(h, b, false, wire.Instance{N: 1}); err != nil {
				t.Fatal(err)
			}
		}
		if land(wire.TagPut{}, bytes.Repeat([]byte{7}, 100)); all < 300 {
			land(wire.TagPut{At: all, Code: wire.RefusedKey}, nil)
		}
		land(wire.TagPut{At: 101}, bytes.Repeat([]byte{7}, int(all)-101))
		land(wire.TagPut{At: 100}, []byte{7})
		if !r.Reported || (r.Err == nil) != (all == 300) || bytes.Count(dst, []byte{7}) != int(all) {
			t.Errorf("%s: over: %v, %v, with %d bytes", name, r.Reported, r.Err, bytes.Count(dst, []byte{7}))
		}
		w.ack()
		w.end(r)
	}
}
