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
	path  []level // from the top to the directory of the last entry
}

// level is a directory that is being listed.
type level struct {
	index uint32 // Top at the top
	last  string // the name before
}

// maxDepth is how many directories may be in each other: more than a path of 4096 bytes can have.
const maxDepth = 2048

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
	if e.Dir {
		if len(l.path) > maxDepth {
			return fmt.Errorf("%w: more than %d directories in each other", ErrList, maxDepth)
		}
		l.path = append(l.path, level{index: l.count})
	}
	l.count++
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
