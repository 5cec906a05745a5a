package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/openbraid/braid/internal/files/dialogue"
	"golang.org/x/sys/unix"
)

// PartlyError: the end came while names were given.
type PartlyError struct {
	Placed int // files and directories that stand under their names, each of them whole
	Err    error
}

func (e *PartlyError) Error() string {
	return fmt.Sprintf("%v (%d files and directories were in place already and stay there, each of them whole)", e.Err, e.Placed)
}

func (e *PartlyError) Unwrap() error { return e.Err }

// Fill makes the files without bytes. All parts must have been written. It ends with the context.
func (s *Stage) Fill(ctx context.Context) error {
	for i := range s.list {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if e := &s.list[i]; !e.Dir && e.Size == 0 && !s.exists(i) {
			f, err := s.create(i)
			if err != nil {
				return err
			}
			if err := s.finish(i, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// exists says whether a file was written: one that was open may have had bytes.
func (s *Stage) exists(i int) bool {
	_, err := s.aside.kind(dialogue.Path(s.list, i))
	return err == nil
}

// Commit gives everything its name; Fill must have been called. Once begun it is not interrupted: half of a transfer is worse than a moment more, which is
// a few calls for each name.
//
// Errors: *PartlyError if something stands under its name already; what the system says.
func (s *Stage) Commit() error {
	c := s.t.climb(s.list)
	c.leave = s.settle
	defer c.close()
	placed := 0
	for i := range s.list {
		fresh, err := s.put(c, i)
		if err != nil {
			return s.partly(placed, err)
		}
		if fresh {
			placed++
		}
	}
	if err := c.end(); err != nil {
		return s.partly(placed, err)
	}
	return nil
}

func (s *Stage) partly(placed int, err error) error {
	if placed == 0 {
		return err
	}
	return &PartlyError{placed, err}
}

// put gives an entry its name, unless it has it with the directory that it is in. fresh: it was not there before.
func (s *Stage) put(c *climb, i int) (fresh bool, err error) {
	e := &s.list[i]
	came := e.Parent != dialogue.Top && !s.present[e.Parent]
	if came && !e.Dir {
		return true, nil
	}
	at, err := c.to(e.Parent)
	if err != nil {
		return false, err
	}
	if !e.Dir {
		return true, s.place(i, at)
	}
	var d dir
	switch {
	case came:
		if d, err = at.sub(e.Name); err != nil {
			return false, s.named(i, err)
		}
	case s.present[i]:
		if d, err = s.again(i, at); err != nil {
			return false, err
		}
	default: // opened before it has its name: what is opened then is what was written
		if d, err = s.aside.sub(dialogue.Path(s.list, i)); err != nil {
			return false, s.named(i, err)
		}
		if err := s.place(i, at); err != nil {
			d.f.Close()
			return false, err
		}
	}
	c.enter(i, d)
	return !s.present[i], nil
}

// again opens a directory that was there when the list was looked at. It must be the same.
func (s *Stage) again(i int, at dir) (dir, error) {
	d, err := at.sub(s.list[i].Name)
	if err == nil {
		info, err := d.f.Stat()
		if err == nil && os.SameFile(info, s.dirs[i]) {
			return d, nil
		}
		d.f.Close()
	}
	return dir{}, &dialogue.RefusedError{Text: fmt.Sprintf("directory %q became another one there while it was sent; nothing was written to it", dialogue.Path(s.list, i))}
}

// place gives one file, or a directory with all that is in it, its name in a directory.
func (s *Stage) place(i int, at dir) error {
	e := &s.list[i]
	from := dialogue.Path(s.list, i)
	if !e.Dir && s.t.overwrite {
		kind, err := at.kind(e.Name)
		switch {
		case err == nil && kind != 0:
			return &dialogue.RefusedError{Text: fmt.Sprintf("%q became %s there while it was sent; it was not replaced", from, what(kind))}
		case err == nil:
			return s.taken(i, rename(s.aside, from, at, e.Name))
		case !errors.Is(err, fs.ErrNotExist):
			return s.named(i, err)
		}
	}
	return s.taken(i, s.t.give(s.aside, from, at, e.Name, e.Dir))
}

// give gives a name that must not exist. Where the system can't do that in one step, a link does it for files; and where there are no links, and for
// directories, a look before is all there is.
func (t *Target) give(from dir, old string, to dir, name string, isDir bool) error {
	err := t.exclusive(from, old, to, name)
	if !unsupported(err) {
		return err
	}
	if !isDir {
		if err := t.link(from, old, to, name); !unsupported(err) {
			return err
		}
	}
	if _, err := to.kind(name); err == nil {
		return fs.ErrExist
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return rename(from, old, to, name)
}

// unsupported says that a file system, or a filter of system calls, does not have a call.
func unsupported(err error) bool {
	for _, e := range []error{unix.ENOSYS, unix.EINVAL, unix.ENOTSUP, unix.EOPNOTSUPP, unix.EPERM, unix.EMLINK} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// taken says what it means that a name could not be given.
func (s *Stage) taken(i int, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist), errors.Is(err, unix.ENOTEMPTY):
		return &dialogue.RefusedError{Text: fmt.Sprintf("%q came into being there while it was sent; nothing was replaced", dialogue.Path(s.list, i))}
	}
	return s.named(i, err)
}

// settle gives a new directory its permissions and time when nothing more comes into it: each new name changes the time, and it may be closed to us after
// that. With Sync it has the names in it on the disk.
func (s *Stage) settle(parent dir, r rung) error {
	if r.entry != dialogue.Top && !s.present[r.entry] {
		e := &s.list[r.entry]
		if err := r.f.Chmod(fs.FileMode(e.Mode)); err != nil {
			return s.named(int(r.entry), err)
		}
		if err := parent.date(e.Name, e); err != nil {
			return s.named(int(r.entry), err)
		}
	}
	if !s.t.sync {
		return nil
	}
	return s.t.flush(r.f)
}
