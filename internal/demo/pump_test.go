package demo

import (
	"testing"
	"time"
)

// TestRelease: windows come back one by one; one that is missing, or comes twice, is a message lost or doubled.
func TestRelease(t *testing.T) {
	for _, c := range []struct {
		came []uint64
		ok   bool
	}{
		{[]uint64{1, 2, 3}, true}, {[]uint64{2}, false}, {[]uint64{1, 1}, false}, {[]uint64{1, 3}, false}, {[]uint64{1, 2, 1}, false}, {[]uint64{0}, false},
	} {
		p := newPump(nil, keys{}, nil, spec{Bytes: -1, Time: time.Second})
		for _, w := range c.came {
			p.release(w)
		}
		if err := p.failed.get(); (err == nil) != c.ok {
			t.Errorf("%v: %v", c.came, err)
		}
	}
}

// TestProgress: neither the time alone nor the data alone makes an end.
func TestProgress(t *testing.T) {
	p := newPump(nil, keys{}, nil, spec{Bytes: 10, Time: time.Hour})
	if p.sent.Store(10); p.progress() > 0.1 {
		t.Errorf("all is sent and no time is over: %v", p.progress())
	}
	p.begun -= 2 * time.Hour
	if p.sent.Store(5); p.progress() != 0.5 {
		t.Errorf("half is sent and the time is over: %v", p.progress())
	}
	p = newPump(nil, keys{}, nil, spec{Bytes: 1 << 40, Time: time.Second})
	if p.chunk != 64<<10 {
		t.Errorf("blocks of %d bytes of much data", p.chunk)
	}
	p = newPump(nil, keys{}, nil, spec{Bytes: 3, Time: time.Second})
	if p.chunk != 1 {
		t.Errorf("blocks of %d bytes of little data", p.chunk)
	}
}
