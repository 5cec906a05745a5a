package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/openbraid/braid/internal/files/dialogue"
)

// Stage is the files of one transfer that do not have their names yet. Write may be called from many goroutines.
type Stage struct {
	t       *Target
	list    []dialogue.Entry
	folder  string
	aside   dir                 // folder, locked
	present []bool              // of each entry: its place was taken when it was looked at
	dirs    map[int]fs.FileInfo // which directories that were

	mu   sync.Mutex
	open map[int]*part // files that come in several pieces
}

// part is a file that is not complete.
type part struct {
	f    *os.File
	left uint64 // bytes; of a file that is open: all there can be, until its end is known
}

// Stage keeps the names of a list for it, looks whether it may be received, and makes a place to write to. It ends with the context.
//
// Errors: *dialogue.RefusedError; what the system says.
func (t *Target) Stage(ctx context.Context, list []dialogue.Entry) (*Stage, error) {
	if err := t.reserve(list); err != nil {
		return nil, err
	}
	s := &Stage{t: t, list: list, open: map[int]*part{}, dirs: map[int]fs.FileInfo{}}
	err := s.check(ctx)
	if err == nil {
		err = s.make(ctx)
	}
	if err == nil {
		return s, nil
	}
	if left := s.Discard(); left != nil {
		err = fmt.Errorf("%w; %w", err, left)
	}
	return nil, err
}

// make makes the folder and all directories in it.
func (s *Stage) make(ctx context.Context) (err error) {
	if s.folder, s.aside.f, err = s.t.folder(); err != nil {
		return barred(err)
	}
	for i := range s.list {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !s.list[i].Dir {
			continue
		}
		if err := s.aside.mkdir(dialogue.Path(s.list, i)); err != nil {
			return s.named(i, err)
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
	f, err := s.aside.create(dialogue.Path(s.list, i))
	if err != nil {
		return nil, s.named(i, err)
	}
	return f, nil
}

// named is an error with the name that the file will have, and what to do about it where that is known.
func (s *Stage) named(i int, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = fmt.Errorf("%s %q: %w", p.Op, dialogue.Path(s.list, i), p.Err)
	} else {
		err = fmt.Errorf("%q: %w", dialogue.Path(s.list, i), err)
	}
	if full(err) {
		return fmt.Errorf("%w: %s", err, makeRoom)
	}
	return err
}

// finish closes a complete file.
func (s *Stage) finish(i int, f *os.File) error {
	e := &s.list[i]
	err := f.Chmod(fs.FileMode(e.Mode))
	if err == nil && s.t.sync {
		err = s.t.flush(f)
	}
	if e := f.Close(); err == nil {
		err = e // some file systems tell only now that the disk is full
	}
	if err == nil {
		err = s.aside.date(dialogue.Path(s.list, i), e)
	}
	if err != nil {
		return s.named(i, err)
	}
	return nil
}

// LeftError: unfinished files could not be removed.
type LeftError struct{ Err error }

func (e *LeftError) Error() string {
	return fmt.Sprintf("unfinished files are left, since they can't be removed: %v; the next start tries again", e.Err)
}

func (e *LeftError) Unwrap() error { return e.Err }

// Discard removes everything that has no name, and lets go of the rest. Call it in any case, when nobody writes any more.
//
// Errors: *LeftError.
func (s *Stage) Discard() (err error) {
	s.mu.Lock()
	for _, p := range s.open {
		p.f.Close()
	}
	s.open = nil
	s.mu.Unlock()
	if s.folder != "" {
		if e := s.t.root.RemoveAll(s.folder); e != nil {
			err = &LeftError{e}
		}
		s.aside.f.Close()
	}
	s.t.release(s.list)
	return err
}
