//go:build unix && !linux

package self

import "golang.org/x/sys/unix"

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
