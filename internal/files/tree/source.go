package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openbraid/braid/internal/files/dialogue"
)

// Source is what is sent.
type Source struct {
	List    []dialogue.Entry
	Skipped []Skipped

	tops []top // by their first entry, ascending
	open bool

	hold map[int][]byte // of files whose size is not what the system says
	held int            // bytes, of all of them
}

// Skipped is something that is not sent.
type Skipped struct {
	Path string
	Why  string
}

// top is one path that was asked for.
type top struct {
	name  string
	path  string
	dir   bool
	info  fs.FileInfo
	root  *os.Root // of a directory
	first int      // its entry
}

// Stream is a file without a size, such as standard input: it has a name and is read until it ends.
type Stream struct {
	Name string
	Mode fs.FileMode
	Time int64 // nanoseconds since 1970
}

// Scan looks at what is to be sent. A path may be a link; what links inside of a directory point to is not sent. The paths are read again
// when they are opened, so the source holds no files meanwhile, but its directories. It ends with the context: a large tree takes its time.
//
// Errors: what can't be found or listed, and two paths of one name.
func Scan(ctx context.Context, paths []string, stream *Stream) (*Source, error) {
	s := &Source{}
	for _, p := range paths {
		t, err := look(p)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.tops = append(s.tops, t)
	}
	slices.SortFunc(s.tops, func(a, b top) int { return strings.Compare(a.name, b.name) })
	for i := range s.tops {
		t := &s.tops[i]
		if i > 0 && t.name == s.tops[i-1].name {
			s.Close()
			return nil, fmt.Errorf("%s and %s would both be called %s there: send them one after the other", s.tops[i-1].path, t.path, t.name)
		}
		if err := s.add(ctx, t); err != nil {
			s.Close()
			return nil, err
		}
	}
	if err := s.stream(stream); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// look finds out what a path is, and what it is called there.
func look(path string) (top, error) {
	full, err := filepath.Abs(path) // "." has a name, too
	if err != nil {
		return top{}, err
	}
	t := top{path: path, name: filepath.Base(full)}
	if err := dialogue.CheckName(t.name); err != nil {
		return t, fmt.Errorf("%s has no name to be sent under; name what is in it", path)
	}
	if err := CheckName(t.name); err != nil {
		return t, fmt.Errorf("%s can't be sent: %w; rename it", path, err)
	}
	if t.info, err = os.Stat(path); err != nil {
		return t, err
	}
	switch {
	case t.info.IsDir():
		t.dir = true
		t.root, err = os.OpenRoot(path)
	case !t.info.Mode().IsRegular():
		err = fmt.Errorf("%s is %s: only files and directories are sent", path, what(t.info.Mode()))
	}
	return t, err
}

// CheckName says whether a name can stand at the top of what is sent.
func CheckName(name string) error {
	switch {
	case dialogue.CheckName(name) != nil:
		return fmt.Errorf("%q: this is no name of a file: it has 1 to %d bytes without a slash, and is neither . nor .. itself", name, dialogue.MaxName)
	case strings.HasPrefix(name, stagePrefix):
		return fmt.Errorf("%q: names that begin with %s are for the receiver's unfinished files", name, stagePrefix)
	}
	return nil
}

// what is a kind of file for people.
func what(m fs.FileMode) string {
	switch m.Type() {
	case 0:
		return "a file"
	case fs.ModeDir:
		return "a directory"
	case fs.ModeSymlink:
		return "a link"
	case fs.ModeNamedPipe:
		return "a pipe"
	case fs.ModeSocket:
		return "a socket"
	}
	return "a device"
}

func entry(parent uint32, name string, info fs.FileInfo) dialogue.Entry {
	e := dialogue.Entry{Parent: parent, Name: name, Dir: info.IsDir(), Mode: uint16(info.Mode().Perm()), Time: info.ModTime().UnixNano()}
	if !e.Dir {
		e.Size = uint64(info.Size())
	}
	return e
}

// add lists a path and what is below it.
func (s *Source) add(ctx context.Context, t *top) error {
	t.first = len(s.List)
	s.List = append(s.List, entry(dialogue.Top, t.name, t.info))
	if mayLie(t.info) {
		return s.measure(t, "", t.first)
	}
	if !t.dir {
		return nil
	}
	return s.below(ctx, t, ".", uint32(t.first))
}

// below lists what is in a directory, which is an entry already.
func (s *Source) below(ctx context.Context, t *top, dir string, parent uint32) error {
	f, err := t.root.Open(dir)
	if err != nil {
		return s.in(t, err)
	}
	list, err := f.ReadDir(-1)
	f.Close()
	if err != nil {
		return s.in(t, err)
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, d := range list {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		path := filepath.Join(dir, d.Name())
		info, err := t.root.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // it went meanwhile
		case err != nil:
			return s.in(t, err)
		case !info.IsDir() && !info.Mode().IsRegular():
			s.Skipped = append(s.Skipped, Skipped{filepath.Join(t.path, path), what(info.Mode())})
			continue
		}
		i := uint32(len(s.List))
		s.List = append(s.List, entry(parent, d.Name(), info))
		switch {
		case info.IsDir():
			err = s.below(ctx, t, path, i)
		case mayLie(info):
			err = s.measure(t, path, int(i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// in says in which path an error happened, and what to do about what may not be read.
func (s *Source) in(t *top, err error) error {
	var p *fs.PathError
	switch {
	case errors.As(err, &p) && t.dir:
		err = &fs.PathError{Op: strings.Replace(p.Op, "openat", "open", 1), Path: filepath.Join(t.path, p.Path), Err: p.Err}
	case p == nil:
		err = fmt.Errorf("%s: %w", t.path, err)
	} // else its path is the one that was asked for
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: let this user read it; all is sent, or nothing", err)
	}
	return err
}

// stream puts the file without a size behind the others.
func (s *Source) stream(t *Stream) error {
	if t == nil {
		return nil
	}
	e := dialogue.Entry{Parent: dialogue.Top, Name: t.Name, Mode: uint16(t.Mode.Perm()), Time: t.Time}
	if err := CheckName(t.Name); err != nil {
		return err
	}
	if len(s.List) > 0 {
		return errors.New("standard input is sent alone: send the other paths by a second command")
	}
	s.List, s.open = append(s.List, e), true
	return nil
}

// Open is whether the last file has no size.
func (s *Source) Open() bool { return s.open }

// File opens a file of the list.
func (s *Source) File(i int) (*os.File, error) {
	k, found := slices.BinarySearchFunc(s.tops, i, func(t top, i int) int { return t.first - i })
	if !found {
		k-- // the one before, which it is below of
	}
	t := &s.tops[k]
	_, rel, _ := strings.Cut(dialogue.Path(s.List, i), "/")
	f, err := t.file(filepath.FromSlash(rel))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s was removed while it was sent: nothing was kept; send it again when nobody changes what is there", s.Name(i))
	case err != nil:
		return nil, s.in(t, err)
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || uint64(info.Size()) < s.List[i].Size) {
		err = s.shorter(i)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Early is the error of an open file that ended before the size that it was listed with.
func (s *Source) Early(i int, f *os.File) error {
	if info, err := f.Stat(); err == nil && uint64(info.Size()) >= s.List[i].Size {
		name := s.Name(i)
		return fmt.Errorf("%s has fewer bytes than its size says, as what the system makes up when it is read: send it alone, as in: braid send - --name %s ADDR < %s", name, s.List[i].Name, name)
	}
	return s.shorter(i)
}

// shorter is the error of a file that has fewer bytes than were listed, or is none any more.
func (s *Source) shorter(i int) error {
	return fmt.Errorf("%s became shorter while it was sent: nothing was kept; send it again when nobody writes to it", s.Name(i))
}

// Changed says whether a file is not what was listed any more. What was sent of it is as long as the list says, but may be of two versions.
func (s *Source) Changed(i int, f *os.File) bool {
	info, err := f.Stat()
	return err != nil || uint64(info.Size()) != s.List[i].Size || info.ModTime().UnixNano() != s.List[i].Time
}

// Name is how a file is called here.
func (s *Source) Name(i int) string {
	k, found := slices.BinarySearchFunc(s.tops, i, func(t top, i int) int { return t.first - i })
	switch {
	case len(s.tops) == 0:
		return s.List[i].Name
	case found:
		return s.tops[k].path
	}
	_, rel, _ := strings.Cut(dialogue.Path(s.List, i), "/")
	return filepath.Join(s.tops[k-1].path, filepath.FromSlash(rel))
}

// Close lets go of the directories.
func (s *Source) Close() {
	for i := range s.tops {
		if r := s.tops[i].root; r != nil {
			r.Close()
		}
	}
}
