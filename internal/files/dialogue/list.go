package dialogue

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Lister checks a list entry by entry, as it comes: depth first, names in ascending order within each directory. That order is what makes one
// look at the entry before enough to know that no name comes twice.
type Lister struct {
	count uint32
	paths uint64  // bytes of all paths
	path  []level // from the top to the directory of the last entry
}

// level is a directory that is being listed.
type level struct {
	index uint32 // Top at the top
	last  string // the name before
	bytes int    // of its path, with the slash behind it
}

// What a list may cost who looks for each of its names, and makes it: the system goes through a path component by component, and a receiver keeps the
// directories open that it is in.
const (
	maxDepth = 256       // directories in each other
	maxPath  = 4095      // bytes of a path: what Linux takes
	maxPaths = 256 << 20 // bytes of all paths
)

// ErrList: a list that can't be.
var ErrList = errors.New("not a list of files")

// Take checks the next entry.
func (l *Lister) Take(e *Entry) error {
	if err := e.check(); err != nil {
		return err
	}
	if l.path == nil {
		l.path = []level{{index: Top}}
	}
	for len(l.path) > 1 && l.path[len(l.path)-1].index != e.Parent {
		l.path = l.path[:len(l.path)-1] // that directory is complete
	}
	at := &l.path[len(l.path)-1]
	switch {
	case at.index != e.Parent:
		return fmt.Errorf("%w: entry %d is in no directory that is being listed", ErrList, l.count)
	case at.last >= e.Name:
		return fmt.Errorf("%w: entry %d, %q, comes after %q", ErrList, l.count, e.Name, at.last)
	}
	at.last = e.Name
	n := at.bytes + len(e.Name)
	if err := l.bounds(e, n); err != nil {
		return err
	}
	l.paths += uint64(n)
	if e.Dir {
		l.path = append(l.path, level{index: l.count, bytes: n + 1})
	}
	l.count++
	return nil
}

// bounds refuses what costs too much. n is the length of the entry's path.
func (l *Lister) bounds(e *Entry, n int) error {
	switch {
	case e.Dir && len(l.path) > maxDepth:
		return &RefusedError{fmt.Sprintf("there are more than %d directories in each other; send what is deep inside by itself", maxDepth)}
	case n > maxPath:
		return &RefusedError{fmt.Sprintf("the path to %q has more than %d bytes; send what is deep inside by itself", e.Name, maxPath)}
	case l.paths+uint64(n) > maxPaths:
		return &RefusedError{fmt.Sprintf("the paths alone have more than %d bytes; send it in parts", maxPaths)}
	}
	return nil
}

// check looks at an entry alone.
func (e *Entry) check() error {
	if err := CheckName(e.Name); err != nil {
		return err
	}
	switch {
	case e.Mode&^0o777 != 0:
		return fmt.Errorf("%w: %q has mode %#o; only permissions are sent", ErrList, e.Name, e.Mode)
	case e.Dir && e.Size != 0:
		return fmt.Errorf("%w: directory %q has a size", ErrList, e.Name)
	case e.Size > math.MaxInt64:
		return fmt.Errorf("%w: %q has %d bytes", ErrList, e.Name, e.Size)
	}
	return nil
}

// CheckName says whether a name is one component of a path, and not a way out.
func CheckName(name string) error {
	switch {
	case name == "" || name == "." || name == "..":
		return fmt.Errorf("%w: %q is not a name", ErrList, name)
	case len(name) > MaxName:
		return fmt.Errorf("%w: a name of %d bytes, at most %d", ErrList, len(name), MaxName)
	case strings.ContainsAny(name, "/\x00"):
		return fmt.Errorf("%w: the name %q has a slash or a zero in it", ErrList, name)
	}
	return nil
}

// Path is where entry i of a list is, with slashes. The list must have been checked.
func Path(list []Entry, i int) string {
	e := &list[i]
	if e.Parent == Top {
		return e.Name
	}
	n := len(e.Name)
	for p := e.Parent; p != Top; p = list[p].Parent {
		n += len(list[p].Name) + 1
	}
	b := make([]byte, n)
	n -= copy(b[n-len(e.Name):], e.Name)
	for p := e.Parent; p != Top; p = list[p].Parent {
		n--
		b[n] = '/'
		n -= copy(b[n-len(list[p].Name):], list[p].Name)
	}
	return string(b)
}

// Totals are what an offer says of a list. open: the last file's size is not known.
func Totals(list []Entry, open bool) Offer {
	o := Offer{Open: open}
	for i := range list {
		if list[i].Dir {
			o.Dirs++
		} else {
			o.Files++
			o.Bytes += list[i].Size
		}
	}
	return o
}

// Parts cuts a list into notes.
func Parts(list []Entry) (notes []List) {
	from, n := 0, 1
	for i := range list {
		if k := list[i].bytes(); n+k > MaxNote {
			notes = append(notes, List{list[from:i]})
			from, n = i, 1+k
		} else {
			n += k
		}
	}
	if from < len(list) {
		notes = append(notes, List{list[from:]})
	}
	return notes
}
