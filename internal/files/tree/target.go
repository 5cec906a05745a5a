package tree

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/openbraid/braid/internal/files/dialogue"
	"golang.org/x/sys/unix"
)

// stagePrefix begins the names of folders of unfinished files; stageDigits follow.
const (
	stagePrefix = ".braid-"
	stageDigits = 16
)

// Target is the directory that transfers arrive in. It is safe for concurrent use.
type Target struct {
	root      *os.Root
	top       dir // the same
	overwrite bool
	sync      bool

	exclusive, link func(from dir, old string, to dir, name string) error // what the system has; tests take them away
	flush           func(*os.File) error

	mu   sync.Mutex
	busy map[string]bool // top-level names that somebody is sending
}

// TargetOptions are how files arrive.
type TargetOptions struct {
	Overwrite bool // files that exist may be replaced
	Sync      bool // what is committed is on the disk, not only handed to the system
}

// OpenTarget opens a directory, and clears away what receivers left that were killed.
func OpenTarget(path string, o TargetOptions) (*Target, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	top, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	t := &Target{
		root: root, top: dir{top}, overwrite: o.Overwrite, sync: o.Sync, busy: map[string]bool{},
		exclusive: exclusive, link: link, flush: (*os.File).Sync,
	}
	t.sweep()
	return t, nil
}

// Close lets go of the directory.
func (t *Target) Close() error { return errors.Join(t.top.f.Close(), t.root.Close()) }

// sweep removes folders that nobody has locked. What can't be removed stays: it is no reason not to receive.
func (t *Target) sweep() {
	list, err := fs.ReadDir(t.root.FS(), ".")
	if err != nil {
		return
	}
	for _, d := range list {
		digits, ours := strings.CutPrefix(d.Name(), stagePrefix)
		if _, err := hex.DecodeString(digits); !ours || !d.IsDir() || len(digits) != stageDigits || err != nil {
			continue
		}
		if lock, err := t.lock(d.Name()); err == nil {
			_ = t.root.RemoveAll(d.Name())
			lock.Close()
		}
	}
}

// lock locks a folder, or says that somebody else has.
func (t *Target) lock(name string) (*os.File, error) {
	f, err := t.root.Open(name)
	if err != nil {
		return nil, err
	}
	if err := t.hold(f, name); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// hold locks a folder that is open. It must have its name yet: who had the lock before may have removed it.
func (t *Target) hold(f *os.File, name string) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := t.root.Lstat(name)
	if err == nil && !os.SameFile(mine, there) {
		err = fs.ErrNotExist
	}
	return err
}

// folder makes a locked folder for unfinished files.
func (t *Target) folder() (name string, lock *os.File, err error) {
	for range 100 {
		var b [stageDigits / 2]byte
		_, _ = rand.Read(b[:]) // it never fails
		name = stagePrefix + hex.EncodeToString(b[:])
		if err = t.root.Mkdir(name, 0o700); errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		if lock, err = t.lock(name); err == nil {
			return name, lock, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, fs.ErrNotExist) {
			_ = t.root.Remove(name)
			return "", nil, fmt.Errorf("lock: %w", err)
		} // another start has taken it for a left one, and removes it
	}
	return "", nil, err
}

// reserve keeps the top-level names of a list for one transfer.
func (t *Target) reserve(list []dialogue.Entry) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range list {
		if e := &list[i]; e.Parent == dialogue.Top && t.busy[e.Name] {
			return &dialogue.RefusedError{Text: fmt.Sprintf("%q is just being received from another sender; try again when that is done. One that was killed or cut off is waited for, as long as the receiver's setting suspended says", e.Name)}
		}
	}
	for i := range list {
		if e := &list[i]; e.Parent == dialogue.Top {
			t.busy[e.Name] = true
		}
	}
	return nil
}

func (t *Target) release(list []dialogue.Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range list {
		if e := &list[i]; e.Parent == dialogue.Top {
			delete(t.busy, e.Name)
		}
	}
}

// showConflicts is how many files that exist are named.
const showConflicts = 3

// check looks what of the list exists already, and fills in present and dirs.
func (s *Stage) check(ctx context.Context) error {
	s.present = make([]bool, len(s.list))
	c := s.t.climb(s.list)
	defer c.close()
	var exist []string
	more := 0
	for i := range s.list {
		e := &s.list[i]
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case e.Parent == dialogue.Top && strings.HasPrefix(e.Name, stagePrefix):
			return &dialogue.RefusedError{Text: fmt.Sprintf("%q: names that begin with %s are for unfinished files; rename it", e.Name, stagePrefix)}
		case e.Parent != dialogue.Top && !s.present[e.Parent]:
			continue
		}
		if err := s.look(c, i); err != nil {
			return err
		}
		if e.Dir || !s.present[i] || s.t.overwrite {
			continue
		}
		if len(exist) < showConflicts {
			exist = append(exist, fmt.Sprintf("%q", dialogue.Path(s.list, i)))
		} else {
			more++
		}
	}
	if exist == nil {
		return nil
	}
	text := strings.Join(exist, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if len(exist) == 1 {
		text += " exists"
	} else {
		text += " exist"
	}
	return &dialogue.RefusedError{Text: text + " there already; the receiver replaces files only with --overwrite"}
}

// look looks whether the place of an entry is taken, and enters it if it is a directory.
func (s *Stage) look(c *climb, i int) error {
	e := &s.list[i]
	at, err := c.to(e.Parent)
	if err != nil {
		return err
	}
	kind, err := at.kind(e.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return s.named(i, err)
	case e.Dir != (kind == fs.ModeDir) || !e.Dir && kind != 0:
		return &dialogue.RefusedError{Text: fmt.Sprintf("%q is %s there, and would be %s; remove it there first", dialogue.Path(s.list, i), what(kind), kindOf(e))}
	}
	s.present[i] = true
	if !e.Dir {
		return nil
	}
	d, err := at.sub(e.Name)
	if err != nil {
		return s.named(i, err)
	}
	c.enter(i, d)
	if s.dirs[i], err = d.f.Stat(); err != nil {
		return s.named(i, err)
	}
	return nil
}

func kindOf(e *dialogue.Entry) string {
	if e.Dir {
		return "a directory"
	}
	return "a file"
}
