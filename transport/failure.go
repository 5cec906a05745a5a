package transport

import (
	"errors"
	"strings"
)

// Error is what goes wrong with a connection of a network: what was tried, between whom, why, and what to do about it.
type Error struct {
	Transport     string // "tcp", "rc", "shm"
	Op            string // dial, listen, accept, read, write, send, receive, port, open
	Local, Remote string // "" if not known
	Kind          error  // a sentinel of this package; nil if there is none for it
	Err           error  // the cause
	Hint          string // what to do about it, if the cause does not say that
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Transport + ": " + e.Op)
	if e.Remote != "" {
		b.WriteString(" " + e.Remote)
	}
	if e.Local != "" {
		if e.Remote != "" {
			b.WriteString(" from")
		}
		b.WriteString(" " + e.Local)
	}
	if e.Kind != nil && !errors.Is(e.Err, e.Kind) {
		b.WriteString(": " + e.Kind.Error())
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// Unwrap gives both the sentinel and the cause to errors.Is.
func (e *Error) Unwrap() []error {
	var all []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}
