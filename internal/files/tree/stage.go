package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"

	"github.com/openbraid/braid/internal/files/dialogue"
	"golang.org/x/sys/unix"
)

// Stage is the files of one transfer that do not have their names yet. Write may be called from many goroutines.
type Stage struct {
	t       *Target
	list    []dialogue.Entry
	folder  string
	lock    *os.File
	root    *os.Root // folder
	present []bool   // of each entry: its place was taken when it was looked at

	mu   sync.Mutex
	open map[int]*part // files that come in several pieces
}

// part is a file that is not complete.
type part struct {
	f    *os.File
	left uint64 // bytes; of a file that is open: all there can be, until its end is known
}

// Stage looks whether a list may be received, keeps its names for it, and makes a place to write to.
//
// Errors: *dialogue.RefusedError; what the system says.
func (t *Target) Stage(list []dialogue.Entry) (*Stage, error) {
	present, err := t.check(list)
	if err != nil {
		return nil, err
	}
	if err := t.reserve(list); err != nil {
		return nil, err
	}
	s := &Stage{t: t, list: list, present: present, open: map[int]*part{}}
	if err := s.make(); err != nil {
		s.Discard()
		return nil, err
	}
	return s, nil
}

// make makes the folder and all directories in it.
func (s *Stage) make() (err error) {
	if s.folder, s.lock, err = s.t.folder(); err != nil {
		return err
	}
	if s.root, err = s.t.root.OpenRoot(s.folder); err != nil {
		return err
	}
	for i := range s.list {
		if !s.list[i].Dir {
			continue
		}
		if err := s.root.Mkdir(dialogue.Path(s.list, i), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// Write writes a part of a file. The last one closes it, with its permissions and its time.
func (s *Stage) Write(x dialogue.Extent, b []byte) error {
	p, err := s.part(x)
	if err != nil {
		return err
	}
	if _, err = p.f.WriteAt(b, int64(x.Offset)); err != nil {
		if x.Whole {
			p.f.Close()
		}
		return s.named(x.File, err)
	}
	if !s.wrote(p, x) {
		return nil
	}
	return s.finish(x.File, p.f)
}

// part is the file that an extent belongs to, made if need be.
func (s *Stage) part(x dialogue.Extent) (*part, error) {
	if x.Whole {
		f, err := s.create(x.File)
		return &part{f: f}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.open[x.File]; p != nil {
		return p, nil
	}
	f, err := s.create(x.File)
	if err != nil {
		return nil, err
	}
	p := &part{f: f, left: s.list[x.File].Size}
	if p.left == 0 {
		p.left = 1 << 63
	}
	s.open[x.File] = p
	return p, nil
}

// wrote counts, and says whether the file is complete.
func (s *Stage) wrote(p *part, x dialogue.Extent) bool {
	if x.Whole {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.End && s.list[x.File].Size == 0 { // the open file's end is known: what it lacks is what was not written of it
		p.left -= 1<<63 - (x.Offset + uint64(x.Length))
	}
	if p.left -= uint64(x.Length); p.left > 0 {
		return false
	}
	delete(s.open, x.File)
	return true
}

func (s *Stage) create(i int) (*os.File, error) {
	f, err := s.root.OpenFile(dialogue.Path(s.list, i), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, s.named(i, err)
	}
	return f, nil
}

// named is an error with the name that the file will have.
func (s *Stage) named(i int, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s %q: %w", p.Op, dialogue.Path(s.list, i), p.Err)
	}
	return fmt.Errorf("%q: %w", dialogue.Path(s.list, i), err)
}

// finish closes a complete file.
func (s *Stage) finish(i int, f *os.File) error {
	e := &s.list[i]
	err := f.Chmod(fs.FileMode(e.Mode))
	if err == nil && s.t.sync {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e // some file systems tell only now that the disk is full
	}
	if err == nil {
		err = s.root.Chtimes(dialogue.Path(s.list, i), e.When(), e.When())
	}
	if err != nil {
		return s.named(i, err)
	}
	return nil
}

// PartlyError: the end came while names were given.
type PartlyError struct {
	Placed int // files and directories that stand under their names, each of them whole
	Err    error
}

func (e *PartlyError) Error() string {
	return fmt.Sprintf("%v (%d files and directories were in place already and stay there, each of them whole)", e.Err, e.Placed)
}

func (e *PartlyError) Unwrap() error { return e.Err }

// Commit gives everything its name. All parts must have been written; files without bytes are made here.
//
// Errors: *PartlyError if something stands under its name already; what the system says.
func (s *Stage) Commit() error {
	for i := range s.list {
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
	placed := 0
	for i := range s.list {
		e := &s.list[i]
		if e.Parent != dialogue.Top && !s.present[e.Parent] {
			placed++ // it came with its directory
			continue
		}
		if e.Dir && s.present[i] {
			continue
		}
		if err := s.place(i); err != nil {
			return s.partly(placed, err)
		}
		placed++
	}
	if err := s.settle(); err != nil {
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

// exists says whether a file was written: one that was open may have had bytes.
func (s *Stage) exists(i int) bool {
	_, err := s.root.Lstat(dialogue.Path(s.list, i))
	return err == nil
}

// place gives one file, or a directory with all that is in it, its name.
func (s *Stage) place(i int) error {
	name := dialogue.Path(s.list, i)
	from := path.Join(s.folder, name)
	if s.list[i].Dir || s.t.overwrite {
		return s.taken(i, s.t.root.Rename(from, name))
	}
	err := s.t.root.Link(from, name) // unlike a rename, it never replaces
	if err == nil || errors.Is(err, fs.ErrExist) {
		return s.taken(i, err)
	}
	if _, err := s.t.root.Lstat(name); !errors.Is(err, fs.ErrNotExist) { // a file system without links
		return s.taken(i, fs.ErrExist)
	}
	return s.taken(i, s.t.root.Rename(from, name))
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

// settle gives the new directories their permissions and times: last, since each new name in one changes its time, and one may be closed to us after that.
func (s *Stage) settle() error {
	for i := len(s.list) - 1; i >= 0; i-- {
		e := &s.list[i]
		if !e.Dir || s.present[i] {
			continue
		}
		name := dialogue.Path(s.list, i)
		if err := s.t.root.Chtimes(name, e.When(), e.When()); err != nil {
			return s.named(i, err)
		}
		if err := s.t.root.Chmod(name, fs.FileMode(e.Mode)); err != nil {
			return s.named(i, err)
		}
	}
	if s.t.sync {
		return s.flush()
	}
	return nil
}

// flush has the names themselves on the disk.
func (s *Stage) flush() error {
	dirs := map[string]bool{".": true}
	for i := range s.list {
		if name := dialogue.Path(s.list, i); s.list[i].Dir {
			dirs[name] = true
		}
	}
	for d := range dirs {
		f, err := s.t.root.Open(d)
		if errors.Is(err, fs.ErrPermission) {
			continue // its own permissions close it to us
		}
		if err != nil {
			return err
		}
		err = f.Sync()
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// Discard removes everything that has no name, and lets go of the rest. Call it in any case, when nobody writes any more.
func (s *Stage) Discard() {
	s.mu.Lock()
	for _, p := range s.open {
		p.f.Close()
	}
	s.open = nil
	s.mu.Unlock()
	if s.root != nil {
		s.root.Close()
	}
	if s.folder != "" {
		_ = s.t.root.RemoveAll(s.folder)
	}
	if s.lock != nil {
		s.lock.Close()
	}
	s.t.release(s.list)
}
