//go:build linux

package shm

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/ring"
)

// sources are readers whose client sends from memory that can be lent, and that nobody may read otherwise.
type sources struct {
	*readers
	x transport.Export
}

func newSources(t *testing.T, size int) *sources {
	t.Helper()
	s := &sources{readers: newReaders(t, Options{Slots: 8, Data: 128 << 10, Read: Never}, true)}
	var err error
	if s.x, err = s.a.desk.Export(size); err != nil {
		t.Fatal(err)
	}
	copy(s.x.Bytes(), random(size))
	s.post(t, s.x.Bytes()[:zeroCopy]) // tells the peer of the memory
	s.until(t, "the memory there", func() bool {
		_, here, _ := s.sender().lent.Source(s.a.desk, s.x.Bytes()[:1])
		return here
	})
	s.server.bodies = nil
	return s
}

// TestDirect: what is sent from memory that can be lent is copied from there by who receives it, and takes no room in the ring; what stands beside it goes as ever.
func TestDirect(t *testing.T) {
	s := newSources(t, 1<<20)
	var want [][]byte
	for i := range 30 {
		at, n := rand.IntN(500_000), zeroCopy+rand.IntN(500_000)
		b := s.x.Bytes()[at : at+n]
		if i%5 == 4 {
			b = random(n)
		}
		want = append(want, bytes.Clone(b))
		s.post(t, b)
	}
	s.until(t, "frames", func() bool { return len(s.server.bodies) == 30 && s.sender().led.Len() == 0 })
	same(t, s.server.bodies, want)
	if n := s.receiver().recv.fetched; n != 24 {
		t.Errorf("%d were copied from there, want 24", n)
	}
}

// TestDirectEnds: a cancelled frame, and memory that is not lent any more, cost what is in the ring nothing: it arrives as it was posted.
func TestDirectEnds(t *testing.T) {
	for name, end := range map[string]func(s *sources){
		"detached": func(s *sources) {
			s.client.ep.Detach(func(transport.Completer) bool { return true })
			clear(s.x.Bytes())
		},
		"revoked": func(s *sources) { s.x.Revoke() },
	} {
		s := newSources(t, 1<<20)
		var want [][]byte
		for i := range 4 {
			b := s.x.Bytes()[i*1000:][:100_000]
			want = append(want, bytes.Clone(b))
			s.post(t, b)
		}
		s.a.Flush()
		end(s)
		s.until(t, name, func() bool { return len(s.server.bodies) == 4 })
		same(t, s.server.bodies, want)
		if s.server.err != nil || s.client.err != nil {
			t.Errorf("%s: %v, %v", name, s.server.err, s.client.err)
		}
		if s.x.Revoke(); !s.x.Revoke() {
			t.Errorf("%s: somebody is inside for ever", name)
		}
		s.post(t, s.x.Bytes()[:100_000]) // it can't be lent, and is memory all the same
		s.until(t, name, func() bool { return len(s.server.bodies) == 5 })
	}
}

// TestDirectGarbage: an offset outside of what was borrowed, or memory that was not, is not touched.
func TestDirectGarbage(t *testing.T) {
	for _, c := range [][2]uint64{{1<<20 - 100, 1}, {1 << 62, 1}, {1<<63 - 1, 1}, {0, 77}} {
		s := newSources(t, 1<<20)
		body := make([]byte, awayLen+4)
		binary.LittleEndian.PutUint64(body, inMemory|c[0])
		binary.LittleEndian.PutUint32(body[8:], 40_000)
		binary.LittleEndian.PutUint32(body[12:], uint32(c[1]))
		h := ring.Header{ID: 1, Flags: flagAway, Head: 4, Size: awayLen + 4}
		dst, ok, err := s.sender().out.Reserve(h.Len())
		if !ok || err != nil {
			t.Fatal(err)
		}
		copy(dst, body)
		s.sender().out.Publish(h)
		if turns(300, never, s.a, s.b); len(s.server.bodies) > 0 {
			t.Errorf("%v: it is taken", c)
		}
	}
}

// TestManySources: memory that is made and given back without end is neither remembered nor lent for ever.
func TestManySources(t *testing.T) {
	s := newSources(t, 4096*4)
	for range 200 {
		x, err := s.a.desk.Export(zeroCopy)
		if err != nil {
			t.Fatal(err)
		}
		s.post(t, x.Bytes())
		turns(3, never, s.a, s.b)
		for i := 0; !x.Revoke(); i++ {
			if i > 1000 {
				t.Fatal("busy for ever")
			}
			turns(10, never, s.a, s.b)
		}
		turns(600, func() bool { return s.receiver().borrowed.Len() < 10 }, s.a, s.b)
	}
	if n := s.receiver().borrowed.Len(); n > 70 {
		t.Errorf("%d keys are remembered", n)
	}
}
