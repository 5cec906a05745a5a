package tree

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/openbraid/braid/internal/files/dialogue"
)

// A file of /proc says that it has no bytes, one of /sys that it has a page of them, whatever they have: the bytes are made when they are read. Files
// that might be such are read when they are listed. Is their size another one, then what was read is held until it is sent.
const (
	unsizedPage = 64 << 10            // a page, at most
	unsizedMost = dialogue.PieceBytes // that such a file may have
	unsizedAll  = 64 << 20            // that all of them may have
	unsizedWait = 2 * time.Second     // for one that might wait for something to happen
)

// mayLie says whether the size of a file may be another one than it says: it has no place on a disk.
func mayLie(info fs.FileInfo) bool {
	if info.IsDir() || info.Size() > unsizedPage {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return info.Size() == 0 || ok && st.Blocks == 0
}

// measure reads a file of the list that may lie, which is to be found at rel in a path that was asked for.
func (s *Source) measure(t *top, rel string, i int) error {
	f, err := t.file(rel)
	if err != nil {
		return s.in(t, err)
	}
	defer f.Close()
	_ = f.SetReadDeadline(time.Now().Add(unsizedWait)) // what has none needs none
	b, err := io.ReadAll(io.LimitReader(f, unsizedMost+1))
	e := &s.List[i]
	switch {
	case err != nil:
		return s.in(t, err)
	case uint64(len(b)) == e.Size, e.Size > 0 && uint64(len(b)) > e.Size:
		return nil
	case len(b) > unsizedMost, s.held+len(b) > unsizedAll:
		path := filepath.Join(t.path, rel)
		return fmt.Errorf("%s has more bytes than its size of %d says, and too many to be held in memory: send it alone, as in: braid send - --name %s ADDR < %s", path, e.Size, e.Name, path)
	}
	if s.hold == nil {
		s.hold = map[int][]byte{}
	}
	e.Size, s.hold[i] = uint64(len(b)), b
	s.held += len(b)
	return nil
}

// file opens what is at rel below a path that was asked for, "" for itself. What has become a pipe does not stop us.
func (t *top) file(rel string) (*os.File, error) {
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	if t.dir {
		return t.root.OpenFile(rel, flags, 0)
	}
	return os.OpenFile(t.path, flags, 0)
}

// Held is all of a file whose size is not what the system says, or nil: the others are opened by File.
func (s *Source) Held(i int) []byte { return s.hold[i] }
