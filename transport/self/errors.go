package self

import (
	"errors"
	"strconv"
	"strings"
)

// Error is what goes wrong here: what was tried, between whom, why, and what to do about it.
type Error struct {
	Op            string // "open", "listen", "dial", "connection"
	Local, Remote string // "" if not known
	Err           error  // the cause, mostly a sentinel of package transport or of this one
}

const opOpen, opListen, opDial, opConnection = "open", "listen", "dial", "connection"

var (
	// ErrAddress: an address that is not of this transport.
	ErrAddress = errors.New("not an address of this transport")
	// ErrInUse: a second listener at one address.
	ErrInUse = errors.New("address in use")
	// ErrNobody: a dial to an address at which this worker does not listen.
	ErrNobody = errors.New("nobody listens there")
)

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("self: " + e.Op)
	switch {
	case e.Op == opListen:
		b.WriteString(" " + strconv.Quote(e.Local)) // it may be empty
	case e.Op != opOpen:
		b.WriteString(" " + strconv.Quote(e.Remote))
		if e.Local != "" {
			b.WriteString(" from " + strconv.Quote(e.Local))
		}
	}
	b.WriteString(": " + e.Err.Error())
	if h := e.hint(); h != "" {
		b.WriteString(" (" + h + ")")
	}
	return b.String()
}

// Unwrap gives the cause to errors.Is.
func (e *Error) Unwrap() error { return e.Err }

// hint is what to do about it.
func (e *Error) hint() string {
	switch {
	case errors.Is(e.Err, ErrAddress) && e.Op == opListen:
		return "listen at self:PORT, port 0 picks one"
	case errors.Is(e.Err, ErrAddress):
		return "dial self:PORT, from self or from no address"
	case errors.Is(e.Err, ErrInUse):
		return "choose another port, or port 0"
	case errors.Is(e.Err, ErrNobody):
		return "self reaches listeners of the same worker only; others are reached over another transport"
	}
	return ""
}
