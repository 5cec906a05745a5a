package tree

import (
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
	overwrite bool
	sync      bool

	mu   sync.Mutex
	busy map[string]bool // top-level names that somebody is sending
}

// TargetOptions are how files arrive.
type TargetOptions struct {
	Overwrite bool // files that exist may be replaced
	Sync      bool // what is committed is on the disk, not only handed to the system
}

// OpenTarget opens a directory, and clears away what receivers left that were killed.
func OpenTarget(dir string, o TargetOptions) (*Target, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	t := &Target{root: root, overwrite: o.Overwrite, sync: o.Sync, busy: map[string]bool{}}
	t.sweep()
	return t, nil
}

// Close lets go of the directory.
func (t *Target) Close() error { return t.root.Close() }

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
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
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
			return &dialogue.RefusedError{Text: fmt.Sprintf("%q is just being received from somebody else; try again when that is done", e.Name)}
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

// check looks what of a list exists already. present says of each entry whether its place is taken: by a directory if it is one, else by a file that may be replaced.
func (t *Target) check(list []dialogue.Entry) (present []bool, err error) {
	present = make([]bool, len(list))
	var exist []string
	more := 0
	for i := range list {
		e := &list[i]
		if e.Parent == dialogue.Top && strings.HasPrefix(e.Name, stagePrefix) {
			return nil, &dialogue.RefusedError{Text: fmt.Sprintf("%q: names that begin with %s are for unfinished files; rename it", e.Name, stagePrefix)}
		}
		if e.Parent != dialogue.Top && !present[e.Parent] {
			continue
		}
		path := dialogue.Path(list, i)
		info, err := t.root.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case e.Dir != info.IsDir() || !e.Dir && !info.Mode().IsRegular():
			return nil, &dialogue.RefusedError{Text: fmt.Sprintf("%q is %s there, and would be %s; remove it there first", path, what(info.Mode()), kindOf(e))}
		case !e.Dir && !t.overwrite:
			if len(exist) < showConflicts {
				exist = append(exist, fmt.Sprintf("%q", path))
			} else {
				more++
			}
		}
		present[i] = true
	}
	if exist == nil {
		return present, nil
	}
	text := strings.Join(exist, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return nil, &dialogue.RefusedError{Text: text + " exist there already; the receiver replaces files only with --overwrite"}
}

func kindOf(e *dialogue.Entry) string {
	if e.Dir {
		return "a directory"
	}
	return "a file"
}
