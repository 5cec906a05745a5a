//go:build unix

package sleep

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// bell is a pipe that polls readable from Wake until it is answered.
type bell struct {
	r, w int
	rung atomic.Bool
}

func (b *bell) open() error {
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		return err
	}
	b.r, b.w = p[0], p[1]
	for _, fd := range p {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			b.close()
			return err
		}
	}
	return nil
}

func (b *bell) close() {
	unix.Close(b.r)
	unix.Close(b.w)
}

// ring makes the bell readable.
func (b *bell) ring() {
	if !b.rung.Swap(true) {
		unix.Write(b.w, []byte{1})
	}
}

// answer makes it quiet again, and says whether it rang. A ring that comes meanwhile belongs to who answers. Between the two
// steps of a ring there is nothing to read yet: then it stays rung, or the byte that comes would never be taken away.
func (b *bell) answer() bool {
	if !b.rung.Load() {
		return false
	}
	var p [16]byte
	if n, _ := unix.Read(b.r, p[:]); n > 0 {
		b.rung.Store(false)
	}
	return true
}
