package drive

import "golang.org/x/sys/unix"

// setLink takes an interface up or down, and says whether it was up.
func setLink(name string, up bool) (was bool, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false, err
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq(name)
	if err != nil {
		return false, err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, r); err != nil {
		return false, err
	}
	flags := r.Uint16()
	was = flags&unix.IFF_UP != 0
	if was == up {
		return was, nil
	}
	r.SetUint16(flags ^ unix.IFF_UP)
	return was, unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r)
}
