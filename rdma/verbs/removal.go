//go:build linux && verbs

package verbs

import (
	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/internal/poll"
)

// removal notices that the system takes a device away. Few adapters' drivers say so to who has it open (IBV_EVENT_DEVICE_FATAL); with the others the kernel waits, without a word,
// until everybody has closed it. But it tells all who listen for its events when the device's name is gone.
type removal struct {
	fd    int    // of the kernel's events; 0: they can't be heard
	path  string // where the device is while it is there
	inode uint64
	said  bool
	buf   [64]byte
}

// watch begins. Where the kernel's events can't be heard, as in some containers, an adapter's own word is all there is.
func (r *removal) watch(name string, fds *poll.Poller) {
	r.path = "/sys/class/infiniband_verbs/" + name
	if r.inode = inode(r.path); r.inode == 0 {
		return
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.NETLINK_KOBJECT_UEVENT)
	if err != nil {
		return
	}
	if unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: 1}) != nil || fds.Set(fd, poll.None, poll.Readable) != nil {
		_ = unix.Close(fd)
		return
	}
	r.fd = fd
}

// happened says, once, that the device is gone. It asks for a name only when the kernel has said something.
func (r *removal) happened() bool {
	if r.fd == 0 || r.said {
		return false
	}
	heard := false
	for {
		if _, err := unix.Read(r.fd, r.buf[:]); err != nil && err != unix.ENOBUFS { // of which some is lost
			break
		}
		heard = true
	}
	r.said = heard && inode(r.path) != r.inode
	return r.said
}

// close ends it.
func (r *removal) close() {
	if r.fd != 0 {
		_ = unix.Close(r.fd)
		r.fd = 0
	}
}

// inode is what a path leads to; 0: nothing.
func inode(path string) uint64 {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return 0
	}
	return st.Ino
}
