package self

import "golang.org/x/sys/unix"

func (b *bell) open() error {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	b.r, b.w = fd, fd
	return err
}
