package tree

import (
	"errors"
	"io/fs"
	"os"

	"github.com/openbraid/braid/internal/files/dialogue"
	"golang.org/x/sys/unix"
)

// dir is an open directory. It stays the same directory when names change, and none of its calls follows a link in the last component of a name. A
// name of more components is for folders that only we make names in.
type dir struct{ f *os.File }

func (d dir) fd() int { return int(d.f.Fd()) }

// call makes a system call on a name, again when it was interrupted by a signal.
func call(op, name string, do func() error) error {
	for {
		err := do()
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return &fs.PathError{Op: op, Path: name, Err: err}
		}
	}
}

func (d dir) open(name string, flags int, mode uint32) (f *os.File, err error) {
	err = call("open", name, func() error {
		fd, err := unix.Openat(d.fd(), name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		if err == nil {
			f = os.NewFile(uintptr(fd), name)
		}
		return err
	})
	return f, err
}

// sub opens a directory in it: not what a link points to.
func (d dir) sub(name string) (dir, error) {
	f, err := d.open(name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	return dir{f}, err
}

// create makes a file that isn't there.
func (d dir) create(name string) (*os.File, error) {
	return d.open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
}

func (d dir) mkdir(name string) error {
	return call("mkdir", name, func() error { return unix.Mkdirat(d.fd(), name, 0o700) })
}

// kind is the type that a name has: 0 is a regular file.
func (d dir) kind(name string) (fs.FileMode, error) {
	var st unix.Stat_t
	if err := call("stat", name, func() error { return unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return 0, err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0, nil
	case unix.S_IFDIR:
		return fs.ModeDir, nil
	case unix.S_IFLNK:
		return fs.ModeSymlink, nil
	case unix.S_IFIFO:
		return fs.ModeNamedPipe, nil
	case unix.S_IFSOCK:
		return fs.ModeSocket, nil
	}
	return fs.ModeDevice, nil
}

// date sets the time of a name.
func (d dir) date(name string, e *dialogue.Entry) error {
	ts := []unix.Timespec{unix.NsecToTimespec(e.Time), unix.NsecToTimespec(e.Time)}
	return call("set the time of", name, func() error { return unix.UtimesNanoAt(d.fd(), name, ts, unix.AT_SYMLINK_NOFOLLOW) })
}

// rename replaces a file, or a directory that is empty.
func rename(from dir, old string, to dir, name string) error {
	return call("rename", name, func() error { return unix.Renameat(from.fd(), old, to.fd(), name) })
}

// link gives a file another name; it never replaces.
func link(from dir, old string, to dir, name string) error {
	return call("link", name, func() error { return unix.Linkat(from.fd(), old, to.fd(), name, 0) })
}

// climb goes through a list, depth first as lists are, with the directories open that an entry is in.
type climb struct {
	list  []dialogue.Entry
	rungs []rung
	leave func(parent dir, r rung) error // nil: nothing. It is told of each directory that is complete; parent is none for the lowest
}

type rung struct {
	entry uint32 // Top: the directory in which the list is
	dir
}

func (t *Target) climb(list []dialogue.Entry) *climb {
	return &climb{list: list, rungs: []rung{{dialogue.Top, t.top}}}
}

// to goes to the directory that an entry is in. It must have been entered.
func (c *climb) to(parent uint32) (dir, error) {
	for c.rungs[len(c.rungs)-1].entry != parent {
		if err := c.down(); err != nil {
			return dir{}, err
		}
	}
	return c.rungs[len(c.rungs)-1].dir, nil
}

func (c *climb) enter(i int, d dir) { c.rungs = append(c.rungs, rung{uint32(i), d}) }

// down leaves a directory. The lowest is not the climber's to close.
func (c *climb) down() error {
	n := len(c.rungs) - 1
	r, parent := c.rungs[n], dir{}
	c.rungs = c.rungs[:n]
	if n > 0 {
		defer r.f.Close()
		parent = c.rungs[n-1].dir
	}
	if c.leave == nil {
		return nil
	}
	return c.leave(parent, r)
}

// end leaves all that is open yet.
func (c *climb) end() error {
	for len(c.rungs) > 0 {
		if err := c.down(); err != nil {
			return err
		}
	}
	return nil
}

// close closes what is open yet, when it is given up.
func (c *climb) close() {
	c.leave = nil
	_ = c.end()
}
