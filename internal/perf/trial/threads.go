package trial

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// threads are those of another process of this host: what the system says in schedstat of how long each ran, and could have run and had no processor.
// Where it does not say, as on other systems, nothing is known.
type threads struct {
	dir   string // a folder for each
	looks int
	known map[string]*thread
}

type thread struct {
	file       *os.File
	ran, stood time.Duration
}

// listed is how often threads that are new are looked for, in looks.
const listed = 50

func threadsOf(pid int) *threads { return &threads{dir: fmt.Sprintf("/proc/%d/task", pid)} }

// stood is the longest time that one of them has stood there since the last look, of those that do the process's work: a quarter of what the busiest
// does, or more. One that never runs may wait for long without anybody waiting for it.
func (t *threads) stood() (most time.Duration) {
	if t.looks%listed == 0 {
		t.list()
	}
	t.looks++
	busiest := time.Duration(0)
	for _, x := range t.known {
		busiest = max(busiest, x.ran)
	}
	for name, x := range t.known {
		ran, stood, ok := x.read()
		if !ok { // it has ended
			_ = x.file.Close()
			delete(t.known, name)
			continue
		}
		if x.ran > 0 && 4*x.ran >= busiest {
			most = max(most, stood-x.stood)
		}
		x.ran, x.stood = ran, stood
	}
	return most
}

// list finds those that are new.
func (t *threads) list() {
	all, _ := os.ReadDir(t.dir)
	for _, e := range all {
		if t.known[e.Name()] != nil {
			continue
		}
		f, err := os.Open(filepath.Join(t.dir, e.Name(), "schedstat"))
		if err != nil {
			continue
		}
		x := &thread{file: f}
		x.ran, x.stood, _ = x.read()
		if t.known == nil {
			t.known = map[string]*thread{}
		}
		t.known[e.Name()] = x
	}
}

// read is how long the thread ran, and waited for a processor.
func (x *thread) read() (ran, stood time.Duration, ok bool) {
	var text [64]byte
	n, _ := x.file.ReadAt(text[:], 0)
	fields := bytes.Fields(text[:n])
	if len(fields) < 2 {
		return 0, 0, false
	}
	a, err := strconv.ParseInt(string(fields[0]), 10, 64)
	b, errB := strconv.ParseInt(string(fields[1]), 10, 64)
	return time.Duration(a), time.Duration(b), err == nil && errB == nil
}

func (t *threads) close() {
	if t == nil {
		return
	}
	for _, x := range t.known {
		_ = x.file.Close()
	}
	t.known = nil
}
