package trial

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestThreads: the time that the threads which do a process's work had no processor counts, that of others does not, and neither does what was before the first look.
func TestThreads(t *testing.T) {
	dir := t.TempDir()
	say := func(tid int, ran, stood time.Duration) {
		t.Helper()
		at := filepath.Join(dir, fmt.Sprint(tid))
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "schedstat"), fmt.Appendf(nil, "%d %d 17\n", ran, stood), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const ms = time.Millisecond
	p := &threads{dir: dir}
	defer p.close()
	if d := p.stood(); d != 0 {
		t.Errorf("%v of no threads", d)
	}
	p.looks = 0
	say(1, 100*ms, 500*ms)
	say(2, ms, 900*ms)
	if d := p.stood(); d != 0 {
		t.Errorf("%v before the first look", d)
	}
	say(1, 110*ms, 530*ms)
	say(2, ms, 990*ms)
	if d := p.stood(); d != 30*ms {
		t.Errorf("%v, want what the thread stood that works", d)
	}
	if d := p.stood(); d != 0 {
		t.Errorf("%v since then", d)
	}
	if err := os.Truncate(filepath.Join(dir, "1", "schedstat"), 0); err != nil { // as of a thread that has ended
		t.Fatal(err)
	}
	if p.stood(); len(p.known) != 1 {
		t.Errorf("%d threads are known", len(p.known))
	}
	var nobody *threads
	nobody.close()
}
