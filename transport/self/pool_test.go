package self

import (
	"sync"
	"testing"

	"github.com/openbraid/braid/transport"
)

// held is how many buffers lie in the pool.
func (p *pool) held() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range classes {
		n += len(p.own[c]) + len(p.back[c])
	}
	return n
}

func TestClasses(t *testing.T) {
	p := newPool()
	for _, n := range []int{0, 1, 127, 128, 129, 4096, 4097, 1 << 20, 1<<20 + 1, maxFrame} {
		b := p.get(n)
		if len(b.Bytes) < n || len(b.Bytes) > max(128, 2*n) || sizeOf(classOf(len(b.Bytes))) != len(b.Bytes) {
			t.Errorf("get(%d): a buffer of %d", n, len(b.Bytes))
		}
		p.give(b)
		if again := p.get(n); again != b {
			t.Errorf("get(%d): not the buffer that was just given back", n)
		}
	}
}

// TestKept: who keeps buffers gives them back on any goroutine, and they are used again.
func TestKept(t *testing.T) {
	p := newPool()
	const many = 100
	var kept []*transport.Buffer
	for range many {
		b := p.get(100)
		b.Retain()
		p.give(b)
		kept = append(kept, b)
	}
	if p.held() != 0 {
		t.Fatalf("%d of the buffers that are kept lie in the pool", p.held())
	}
	var wg sync.WaitGroup
	for _, b := range kept {
		wg.Go(b.Release)
	}
	for range many { // at the same time
		p.give(p.get(100))
	}
	wg.Wait()
	for range many {
		b := p.get(100)
		if b.Shared() {
			t.Fatal("a buffer came back with somebody's reference")
		}
		defer p.give(b)
	}
	if p.made > many+1 {
		t.Errorf("%d buffers were made, never more than %d were in use", p.made, many+1)
	}
}

// TestPoolBounded: a burst is not kept for ever.
func TestPoolBounded(t *testing.T) {
	p := newPool()
	var all []*transport.Buffer
	for range 40 {
		all = append(all, p.get(1<<20))
	}
	for i, b := range all {
		if i%2 == 0 {
			p.give(b)
		} else {
			b.Release()
		}
	}
	if n := p.held(); n > 2*poolKeep>>20 {
		t.Errorf("%d MiB are kept", n)
	}
}

func TestInbox(t *testing.T) {
	p := newPool()
	var q inbox
	in, out := 0, 0
	for round := range 1000 {
		for range round%7 + 1 {
			if q.fits(10) {
				m := message{buf: p.get(10), size: 10}
				m.buf.Bytes[0] = byte(in)
				q.push(m)
				in++
			}
		}
		for range round%6 + 1 {
			if q.len() == 0 {
				continue
			}
			m := q.pop()
			if m.buf.Bytes[0] != byte(out) {
				t.Fatalf("message %d comes as number %d", m.buf.Bytes[0], byte(out))
			}
			out++
			p.give(m.buf)
		}
		if q.len() != in-out || q.bytes != q.len()*(10+controlCost) || q.bytes > controlRoom {
			t.Fatalf("%d messages, %d bytes, want %d", q.len(), q.bytes, in-out)
		}
	}
	if cap(q.list) > 2*controlRoom/controlCost {
		t.Errorf("room for %d messages", cap(q.list))
	}
	q.drop(p)
	if q.len() != 0 || p.held() != p.made {
		t.Errorf("%d of %d buffers came back", p.held(), p.made)
	}
}
