package trial

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// line is where a thread stands that could run and has no processor: what the system says of it in schedstat. The zero value knows nothing.
type line struct {
	file *os.File
	all  time.Duration
}

// open is about the calling thread. Where the system does not tell, nothing is known.
func (l *line) open() {
	f, err := os.Open(fmt.Sprintf("/proc/self/task/%d/schedstat", unix.Gettid()))
	if err != nil {
		return
	}
	l.file = f
	l.stood()
}

// stood is how long it stood there since the last call, as far as it has had its turn since.
func (l *line) stood() time.Duration {
	if l.file == nil {
		return 0
	}
	var text [64]byte
	n, _ := l.file.ReadAt(text[:], 0)
	fields := bytes.Fields(text[:n])
	if len(fields) < 2 {
		return 0
	}
	ns, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	was := l.all
	l.all = time.Duration(ns)
	return l.all - was
}

func (l *line) close() {
	if l.file != nil {
		_ = l.file.Close()
	}
}
