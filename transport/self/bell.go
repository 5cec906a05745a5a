//go:build unix

package self

import "golang.org/x/sys/unix"

// bell is a descriptor that is readable between ring and hush. How it is made is in bell_*.go.
type bell struct {
	r, w int // the same one where the system has a descriptor that counts
	rung bool
	out  [8]byte
	in   [8]byte
}

// ring makes it readable, if it is not.
func (b *bell) ring() {
	if b.rung {
		return
	}
	b.rung = true
	b.out[0] = 1
	for {
		if _, err := unix.Write(b.w, b.out[:]); err != unix.EINTR {
			return
		}
	}
}

// hush makes it unreadable, if it is readable. There was one ring, so one read takes all.
func (b *bell) hush() {
	if !b.rung {
		return
	}
	b.rung = false
	for {
		if _, err := unix.Read(b.r, b.in[:]); err != unix.EINTR {
			return
		}
	}
}

// close gives the descriptor back; its number may be somebody else's from now on.
func (b *bell) close() error {
	b.rung = false
	err := unix.Close(b.r)
	if b.w != b.r {
		if e := unix.Close(b.w); err == nil {
			err = e
		}
	}
	return err
}
