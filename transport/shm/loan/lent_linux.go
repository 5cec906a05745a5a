package loan

import (
	"fmt"
	"slices"

	"github.com/openbraid/braid/transport"
)

// Lent is what one connection has lent. The zero value is nothing.
type Lent struct {
	loans   []*loan
	tie     *tie
	sources map[uint32]*source // memory that is sent from
}

// Ask answers a peer who wants to borrow by a key what is his: over the socket fd, or by false: then the key is to be recalled.
//
// Errors: transport.ErrProtocol.
func (t *Lent) Ask(d *Desk, fd int, what transport.Loan, key transport.MemKey) (ok bool, err error) {
	if slices.ContainsFunc(t.loans, func(l *loan) bool { return l.key == key }) {
		return false, fmt.Errorf("%w: the peer asked twice for memory that it has", transport.ErrProtocol)
	}
	x, ok := what.Export.(*export)
	if !ok || x.of != d {
		return false, nil
	}
	if t.tie == nil {
		t.tie = &tie{fd: -1}
	}
	l := x.lend(fd, what, key, t.tie)
	if l == nil {
		return false, nil
	}
	t.loans = append(t.loans, l)
	return true, nil
}

// Revoked takes away what was revoked, and returns the keys that are to be recalled.
func (t *Lent) Revoked(d *Desk) (keys []transport.MemKey) {
	if len(t.loans) == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	t.loans = slices.DeleteFunc(t.loans, func(l *loan) bool {
		if l.x.revoked {
			keys = append(keys, l.key)
			delete(t.sources, l.x.number)
		}
		return l.x.revoked
	})
	return keys
}

// Shut lets nobody in any more who borrowed over the connection.
func (t *Lent) Shut(d *Desk) {
	for _, s := range t.sources { // in any order
		s.here = false
	}
	if len(t.loans) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range t.loans {
		if l.gate != nil {
			l.shut()
		}
	}
}

// End ends the lending when the connection ends. kept: its socket fd is the desk's now, until the peer has ended, too.
func (t *Lent) End(d *Desk, fd int) (kept bool) {
	if len(t.loans) == 0 {
		return false
	}
	d.part(t.loans, t.tie, fd)
	*t = Lent{}
	return true
}
