package stream

import (
	"errors"
	"net"
	"syscall"
)

// What errors.Is finds in the errors of this package, besides net.ErrClosed, os.ErrDeadlineExceeded, and those of package braid: the end of an
// endpoint is the end of its streams. All errors of a Conn are *net.OpError, so they are net.Error, too.
var (
	ErrRefused = errors.New("the peer refused the stream") // matches syscall.ECONNREFUSED, too
	ErrReset   = errors.New("the stream was reset")        // by the peer; matches syscall.ECONNRESET, too
	ErrGone    = errors.New("the peer has closed the stream and reads no more")

	errShut    = errors.New("no write after CloseWrite")
	errOwned   = errors.New("streams need a Shared worker (Options.Owned: false): their readers and writers are goroutines that sleep")
	errTwice   = errors.New("this worker has a Mux already; use that one")
	errForeign = errors.New("the endpoint is of another worker, whose Mux has its streams")
	errSilent  = errors.New("the peer did not answer; has its worker a stream.Mux?")
	errRules   = errors.New("the peer breaks the rules of streams")
)

// resetError is what the peer gave as its reason.
type resetError struct {
	is   error
	text string
}

func (e *resetError) Error() string {
	if e.text == "" {
		return e.is.Error()
	}
	return e.is.Error() + ": " + e.text
}

func (e *resetError) Unwrap() error { return e.is }

// Is makes programs content that look for what a TCP connection says.
func (e *resetError) Is(target error) bool {
	return target == syscall.ECONNREFUSED && e.is == ErrRefused || target == syscall.ECONNRESET && e.is == ErrReset
}

// network is what addresses and errors have as the name of the network.
const network = "braid"

// Addr is an end of a stream: the address of the endpoint that it is on.
type Addr struct{ text string }

// Network is "braid".
func (Addr) Network() string { return network }

func (a Addr) String() string { return a.text }

// opError is err of a call on c.
func (c *Conn) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: network, Source: c.s.local, Addr: c.s.remote, Err: err}
}

// dialError is that of who has no stream yet.
func dialError(addr string, err error) error {
	return &net.OpError{Op: "dial", Net: network, Addr: Addr{addr}, Err: err}
}
