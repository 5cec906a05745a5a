package topo

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path"
	"strings"
)

// Selection is what a user chose of his host's rails. The zero value: whatever is of use.
type Selection struct {
	entries  []entry
	positive bool // there is an entry that isn't an exclusion
}

// entry is one of
//
//	eth0            an interface       10.0.0.5, fe80::1%eth0   an address
//	eth*, ib[0-3]   interfaces         10.0.0.0/16, fd00::/8    addresses of a network
//	!docker*        not this
type entry struct {
	text   string
	not    bool
	addr   netip.Addr
	prefix netip.Prefix
	name   string // of interfaces, with or without wildcards
}

// rank is how exactly a rail was asked for.
type rank uint8

const (
	byNobody rank = iota
	byKind        // a pattern, or a network
	byName        // the interface
	byAddress
)

// ErrRails is what errors.Is finds in each error of this package.
var ErrRails = errors.New("no rail will do")

// SelectionError is an entry of Rails that can't be read.
type SelectionError struct {
	Entry string
	Why   string
}

func (e *SelectionError) Error() string {
	return fmt.Sprintf("rail %q: %s; write an interface (eth0), an address (10.0.0.5), a network (10.0.0.0/16), a pattern (eth*), or one of them after ! to leave it out", e.Entry, e.Why)
}

// Is says that it is ErrRails, too.
func (e *SelectionError) Is(target error) bool { return target == ErrRails }

// Select reads the entries of a selection.
//
// Errors: *SelectionError.
func Select(texts []string) (Selection, error) {
	var s Selection
	for _, text := range texts {
		e, why := parseEntry(text)
		if why != "" {
			return Selection{}, &SelectionError{text, why}
		}
		s.entries = append(s.entries, e)
		s.positive = s.positive || !e.not
	}
	return s, nil
}

func parseEntry(text string) (e entry, why string) {
	e.text = text
	rest, not := strings.CutPrefix(text, "!")
	e.not = not
	var err error
	switch {
	case rest == "":
		return e, "it is empty"
	case strings.ContainsAny(rest, "\t\n ,"):
		return e, "there is a space or a comma in it"
	case strings.Contains(rest, "/"):
		if e.prefix, err = netip.ParsePrefix(rest); err != nil {
			return e, "it has a slash and is no network"
		}
		e.prefix = e.prefix.Masked()
		return e, ""
	case strings.ContainsRune(rest, ':'), looksLikeIPv4(rest):
		if e.addr, err = netip.ParseAddr(rest); err == nil {
			e.addr = e.addr.Unmap()
			return e, ""
		}
		if _, _, err := net.SplitHostPort(rest); err == nil {
			return e, "a rail has no port"
		}
		return e, "it is no address"
	}
	if _, err := path.Match(rest, ""); err != nil {
		return e, "the pattern can't be read"
	}
	if len(rest) > 15 && !strings.ContainsAny(rest, "*?[\\") {
		return e, "an interface's name has at most 15 characters"
	}
	e.name = rest
	return e, ""
}

// looksLikeIPv4: digits and dots only, with a dot.
func looksLikeIPv4(s string) bool {
	return strings.Contains(s, ".") && strings.Trim(s, "0123456789.") == ""
}

// match is how exactly the entry means a rail.
func (e *entry) match(r Rail) rank {
	switch {
	case e.addr.IsValid():
		if r.Addr.IsValid() && r.Addr.WithZone("") == e.addr.WithZone("") && inZone(e.addr.Zone(), r) {
			return byAddress
		}
	case e.prefix.IsValid():
		if r.Addr.IsValid() && e.prefix.Contains(r.Addr.WithZone("")) {
			return byKind
		}
	case e.name == r.Name, e.name == r.host && r.Name == "":
		return byName
	default:
		if ok, _ := path.Match(e.name, r.Name); ok && r.Name != "" {
			return byKind
		}
	}
	return byNobody
}

// Any says that nothing was chosen: whatever is of use.
func (s Selection) Any() bool { return len(s.entries) == 0 }

func (s Selection) String() string {
	var texts []string
	for _, e := range s.entries {
		texts = append(texts, e.text)
	}
	return strings.Join(texts, ",")
}

// of says how exactly a rail was chosen and by which entry, or why it was not.
func (s Selection) of(r Rail) (how rank, at int, why string) {
	for i := range s.entries {
		e := &s.entries[i]
		m := e.match(r)
		switch {
		case m != byNobody && e.not:
			return byNobody, 0, "left out by " + e.text
		case m > how:
			how, at = m, i
		}
	}
	if s.positive && how == byNobody {
		return byNobody, 0, "not among the rails chosen (" + s.String() + ")"
	}
	return how, at, ""
}

// Unmatched are the entries that mean nothing of this host, for a warning: "eht0".
func (v View) Unmatched() (texts []string) {
	for i := range v.Chosen.entries {
		e := &v.Chosen.entries[i]
		found := false
		for _, c := range v.choices() {
			found = found || e.match(c.Rail) != byNobody
		}
		if !found && !e.not {
			texts = append(texts, e.text)
		}
	}
	return texts
}

// NoRailError is a selection that leaves nothing to use.
type NoRailError struct {
	Chosen  string   // the selection
	Reasons []string // one for each rail that was chosen and can't be used
	Known   string   // what there is
}

func (e *NoRailError) Error() string {
	if len(e.Reasons) == 0 {
		return fmt.Sprintf("no rail matches %s; this host has %s", e.Chosen, e.Known)
	}
	return fmt.Sprintf("no rail of %s can be used: %s", e.Chosen, strings.Join(e.Reasons, "; "))
}

// Is says that it is ErrRails, too.
func (e *NoRailError) Is(target error) bool { return target == ErrRails }
