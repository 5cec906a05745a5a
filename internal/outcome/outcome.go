package outcome

import (
	"errors"
	"fmt"
	"net"
)

// Why an operation or an endpoint ended. The root package shows them to the world.
var (
	ErrPeerFailed    = errors.New("the peer is not reachable any more")
	ErrPeerRestarted = errors.New("the peer's process restarted: it is another one now")
	ErrPeerClosed    = error(over("the peer closed the endpoint"))
	ErrLaneFailed    = errors.New("a lane failed, and the endpoint's error mode does not allow for others to take over")
	ErrAccess        = errors.New("the peer's memory may not be accessed so")
	ErrRefused       = errors.New("refused; which operations they were is lost with the lane that carried the answers")
	ErrHandler       = errors.New("the peer has no handler for this active message: it must set one before others send")
	ErrCanceled      = errors.New("canceled")
	ErrTruncated     = errors.New("the message is longer than the memory for it")
	ErrLimit         = errors.New("a limit is reached")
	ErrClosed        = error(over("closed by this side"))
	ErrBackPressure  = fmt.Errorf("%w", ErrLimit)
	ErrProtocol      = errors.New("protocol error: the peer sent what can't be")
	ErrNoLane        = errors.New("the endpoint has, and had, no such lane")
	ErrDial          = errors.New("no lane to the peer could be set up")
	ErrRequest       = errors.New("this request was given back, or will be, by another Wait, Then or Release")
	ErrShared        = errors.New("a Shared worker sleeps and wakes by itself; for an event loop of one's own set Options.Owned")
	ErrInCallback    = errors.New("a handler of an Owned worker must not block: post the operation and return")
)

// over is why something is over that somebody has closed. Who goes by net.ErrClosed, as users of a net.Conn do, finds it.
type over string

func (e over) Error() string { return string(e) }

// Is makes it match net.ErrClosed.
func (e over) Is(target error) bool { return target == net.ErrClosed }

// Failed is why an endpoint failed that nobody had closed: ErrPeerFailed is found in it, whatever the reason that it gives.
func Failed(err error) error {
	if errors.Is(err, ErrPeerFailed) {
		return err
	}
	return &failed{err}
}

type failed struct{ why error }

func (f *failed) Error() string        { return f.why.Error() }
func (f *failed) Unwrap() error        { return f.why }
func (f *failed) Is(target error) bool { return target == ErrPeerFailed }

// Fate says what the target may have done with an operation that ended with an error.
type Fate uint8

const (
	NotExecuted Fate = iota // nothing of it is, or will be, done at the target
	Unknown                 // it may have been executed, or may yet be
)

// Error is how an operation ended.
type Error struct {
	Op   string // "put", "am", "flush", "dial", ...
	Peer string
	Lane string // if one lane is to blame
	Fate Fate
	Err  error
}

func (e *Error) Error() string {
	s := e.Op
	if e.Peer != "" {
		s += " " + e.Peer
	}
	if e.Lane != "" {
		s += " lane " + e.Lane
	}
	s += ": " + e.Err.Error()
	switch {
	case e.Fate != Unknown, e.Op == "flush", e.Op == "close", e.Op == "endpoint": // those say what may be lost, or are of no operation
	case errors.Is(e.Err, ErrTruncated): // it was
	default:
		s += " (it may have been executed)"
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// LaneError is why one lane could not be set up.
type LaneError struct {
	Lane string // "local->remote"; "remote" if the system picked where it leaves
	Err  error
}

func (e *LaneError) Error() string { return e.Lane + ": " + e.Err.Error() }

// Unwrap gives errors.Is the cause.
func (e *LaneError) Unwrap() error { return e.Err }

// As makes err the end of an operation, unless it is one already.
func As(op, peer string, fate Fate, err error) error {
	var have *Error
	if errors.As(err, &have) && have.Op == op {
		return err
	}
	return &Error{Op: op, Peer: peer, Fate: fate, Err: err}
}

// Uncovered adds to an endpoint's error how many sent operations no flush has covered.
func Uncovered(err error, n uint64) error {
	if n == 0 {
		return err
	}
	return fmt.Errorf("%w; %d operations since the last flush may be lost", err, n)
}

// Both are two errors of one operation as one, nil if there is none.
func Both(op string, a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &Error{Op: op, Fate: Unknown, Err: errors.Join(a, b)}
}
