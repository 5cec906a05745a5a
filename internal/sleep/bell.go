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

// answer makes it quiet again. A ring that comes meanwhile belongs to who answers.
func (b *bell) answer() {
	if b.rung.Load() {
		var p [16]byte
		unix.Read(b.r, p[:])
		b.rung.Store(false)
	}
}
