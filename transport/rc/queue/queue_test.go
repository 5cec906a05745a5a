package queue_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc/queue"
)

// TestRing: random posts and completions against a list, with indices that wrap. R3, R4, R10.
func TestRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type wr struct {
			at, blocks uint16
			frame      uint64
			buf        *transport.Buffer
		}
		const blocks, wrs = 24, 16
		at := uint16(rapid.SampledFrom([]int{0, 65500, 65535}).Draw(t, "at"))
		r := queue.NewRing(blocks, wrs, at)
		var under []wr
		freed, ended, posted := 0, 0, 0
		taken := func() (n int) {
			for _, w := range under {
				n += int(w.blocks)
			}
			return n
		}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				b := rapid.IntRange(1, 4).Draw(t, "blocks")
				want := len(under) < wrs && taken()+b <= blocks
				if r.Room(b) != want {
					t.Fatalf("Room(%d) = %v with %d blocks in %d under way", b, !want, taken(), len(under))
				}
				if !want {
					continue
				}
				buf := transport.NewBuffer(1, func(*transport.Buffer) { freed++ })
				posted++
				i := r.Post(b, uint64(posted), rapid.Bool().Draw(t, "signaled"), buf)
				buf.Release() // the ring holds it
				under = append(under, wr{i, uint16(b), uint64(posted), buf})
			case 2:
				if len(under) == 0 {
					continue
				}
				k := rapid.IntRange(0, len(under)-1).Draw(t, "which")
				e := r.Complete(under[k].at)
				n, frame := e.N, e.Frame
				if n != k+1 || frame != under[k].frame {
					t.Fatalf("Complete of number %d ended %d, up to frame %d, want %d", k, n, frame, under[k].frame)
				}
				ended += n
				under = under[k+1:]
			case 3:
				late := r.Late
				if n := r.Complete(at - 1 - uint16(rapid.IntRange(0, 50).Draw(t, "old"))).N; ended == 0 && n != 0 {
					t.Fatalf("an index that was never posted ended %d", n)
				} else if n == 0 && r.Late != late+1 {
					t.Fatal("it was not noticed")
				} else if n > 0 { // it came round
					t.Skip("wrapped onto a live index")
				}
				r.Late = 0
			}
			if freed != ended || r.Len() != len(under) || r.Wrong() != "" {
				t.Fatalf("%d buffers came back, %d ended, %d under way of %d: %s", freed, ended, r.Len(), len(under), r.Wrong())
			}
		}
		if n := r.Drop().N; n != len(under) || freed != posted || r.Room(1) {
			t.Fatalf("Drop ended %d of %d, %d of %d buffers came back, room %v", n, len(under), freed, posted, r.Room(1))
		}
	})
}

// TestFrozen: a lost queue pair gives back what completes, and has no room.
func TestFrozen(t *testing.T) {
	r := queue.NewRing(8, 8, 0)
	i := r.Post(2, 1, true)
	r.Frozen = true
	if r.Room(1) {
		t.Error("room in a frozen ring")
	}
	if n := r.Complete(i).N; n != 1 || r.Room(1) {
		t.Errorf("%d ended, room %v", n, r.Room(1))
	}
}

// TestCredits: R5.
func TestCredits(t *testing.T) {
	c := queue.NewCredits(10)
	if !c.Take(10) || c.Take(1) || c.Free != 0 {
		t.Fatalf("%+v: ten of ten, no eleventh", c)
	}
	c.Give(3)
	c.Keep(5)
	if c.Free != 3 || c.Take(4) || !c.Take(2) {
		t.Fatalf("%+v: places of a destroyed queue pair are not free before the queue was empty", c)
	}
	c.Empty()
	if c.Free != 6 || c.Kept != 0 {
		t.Fatalf("%+v: they are now", c)
	}
}

// domain registers memory, and says busy as long as it is told to.
type domain struct {
	rdma.PD
	live int
	busy bool
}

type region struct {
	rdma.MR
	d   *domain
	buf []byte
}

func (d *domain) RegMR(buf []byte, a rdma.Access) (rdma.MR, error) {
	if a != rdma.AccessLocalWrite|rdma.AccessMWBind {
		return nil, rdma.ErrInvalid
	}
	d.live++
	return &region{d: d, buf: buf}, nil
}
func (r *region) Addr() uint64 { return 1 << 40 }
func (r *region) LKey() uint32 { return 7 }
func (r *region) Deregister() error {
	if r.d.busy {
		return rdma.ErrBusy
	}
	r.d.live--
	return nil
}

func TestMemory(t *testing.T) {
	d := &domain{}
	m := queue.Memory{PD: d}
	a, err := m.Get(5000)
	if err != nil || len(a.Bytes) != 8192 {
		t.Fatalf("%d bytes, %v", len(a.Bytes), err)
	}
	if s := a.SGE(100, 50); s != (rdma.SGE{Addr: 1<<40 + 100, Length: 50, LKey: 7}) {
		t.Errorf("%+v", s)
	}
	a.Retain()
	a.Release()
	if b, _ := m.Get(8192); b == a {
		t.Fatal("somebody still has it")
	}
	a.Release()
	if b, _ := m.Get(8000); b != a {
		t.Error("it is used again")
	}
	// What is more than is kept is given back to the device, when that lets go.
	var all []*queue.Block
	for range 12 {
		b, err := m.Get(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	for _, b := range all {
		b.Release()
	}
	d.busy = true
	m.Trim()
	if d.live != m.All || d.live != 14 {
		t.Errorf("%d live, %d counted, while busy", d.live, m.All)
	}
	d.busy = false
	m.Trim()
	if d.live != m.All || d.live != 2+8 || m.Idle() != 8 {
		t.Errorf("%d live, %d counted, %d idle: 8 MiB are kept", d.live, m.All, m.Idle())
	}
	m.Close()
	a.Release() // late, and harmless
	if m.Idle() != 0 {
		t.Error("a closed one keeps nothing")
	}
}

// TestReads: R6, and who is told of a completion can't take what those in line wait for.
func TestReads(t *testing.T) {
	r := queue.NewReads(100)
	if !r.Take(60) || r.Take(60) || r.Free != 40 {
		t.Fatalf("%+v", r)
	}
	if r.Ended(60); r.Take(60) || r.Free != 40 || r.Done != 60 {
		t.Fatalf("%+v: what has ended is not free yet", r)
	}
	if !r.Settle() || r.Settle() || !r.Take(100) {
		t.Fatalf("%+v: it is now", r)
	}
	ring := queue.NewRing(8, 8, 0)
	for i, bytes := range []int{0, 30, 0, 40} {
		if at := ring.Post(1, uint64(i), true); bytes > 0 {
			if ring.Reads(bytes); at != uint16(i) {
				t.Fatal(at)
			}
		}
	}
	if n := ring.Reading(); n != 70 {
		t.Errorf("%d bytes are read, want 70", n)
	}
	if e := ring.Complete(2); e != (queue.Ended{N: 3, Frame: 2, Reads: 1, Bytes: 30}) {
		t.Errorf("%+v", e)
	}
	if e := ring.Drop(); e != (queue.Ended{N: 1, Reads: 1, Bytes: 40}) {
		t.Errorf("%+v", e)
	}
}

// lock closes when it is asked for the n-th time.
type lock struct{ n int }

func (l *lock) Close() bool { l.n--; return l.n == 0 }

// TestLock: nobody gets a block before it is closed to peers.
func TestLock(t *testing.T) {
	m := queue.Memory{PD: &domain{}}
	b, err := m.Get(5000)
	if err != nil {
		t.Fatal(err)
	}
	b.Lock = &lock{2}
	b.Release()
	m.Trim()
	if c, _ := m.Get(5000); c == b || m.Idle() != 0 {
		t.Fatal("it was handed out while peers may read it")
	}
	m.Trim()
	if c, _ := m.Get(5000); c != b || c.Lock != nil {
		t.Error("closed, and not handed out")
	}
}
