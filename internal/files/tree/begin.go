package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// MakeDir makes the directory that things are to arrive in, if only the last element of its path is missing.
func MakeDir(path string) error {
	err := os.Mkdir(path, 0o777) // less the umask, as mkdir does
	switch {
	case err == nil, errors.Is(err, fs.ErrExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the directory %s can't be made: %w, and only its last element is made: make the others (mkdir -p)", path, bareCause(err))
	}
	if st, e := os.Stat(path); e == nil && st.IsDir() { // of a file system that may not be written to, say; Try finds that out
		return nil
	}
	return fmt.Errorf("the directory %s can't be made: %w", path, bareCause(err))
}

// Try finds out whether anything can arrive: by a folder as transfers have one, that is removed at once.
func (t *Target) Try(path string) error {
	name, lock, err := t.folder()
	if err != nil {
		return fmt.Errorf("nothing can be made in the directory %s: %w: let this user write to it, or name another one", path, bareCause(err))
	}
	defer lock.Close()
	return t.root.Remove(name)
}

// barred is the error of a receiver in whose directory nothing can be made any more: it could when it was started.
func barred(err error) error {
	advice := "let its user write there"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		advice = "it was removed: make it, and start the receiver again"
	case full(err):
		advice = makeRoom
	}
	return fmt.Errorf("nothing can be made in the receiver's directory: %w: %s", bareCause(err), advice)
}

// makeRoom is what to do about a disk that is full.
const makeRoom = "make room there"

func full(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// bareCause is an error without the path, which is said in other words.
func bareCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
