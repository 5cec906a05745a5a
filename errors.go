package braid

import (
	"errors"

	"github.com/openbraid/braid/internal/address"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/wireup"
)

// What errors.Is finds in the errors of this package. Of an endpoint that is over each call's matches net.ErrClosed, if either side has closed it, else ErrPeerFailed, besides what it is in particular.
var (
	ErrPeerFailed    = outcome.ErrPeerFailed    // silent on all lanes, or no lane for too long (Times), or it aborted; or one of those that say so
	ErrPeerRestarted = outcome.ErrPeerRestarted // another process answers at its address; dial anew, keys are void; matches ErrPeerFailed too
	ErrPeerClosed    = outcome.ErrPeerClosed    // the peer called Close; matches net.ErrClosed too
	ErrLaneFailed    = outcome.ErrLaneFailed    // in the error modes Peer and None; matches ErrPeerFailed too
	ErrAccess        = outcome.ErrAccess        // put: key, rights or bounds
	ErrHandler       = outcome.ErrHandler       // message: nobody there handles its id
	ErrCanceled      = outcome.ErrCanceled      // by Request.Cancel
	ErrTruncated     = outcome.ErrTruncated     // tag receive: the message was longer than the memory for it
	ErrLimit         = outcome.ErrLimit         // of Limits, here or at the peer; see OpError.Temporary
	ErrClosed        = outcome.ErrClosed        // on this side; matches net.ErrClosed too
	ErrProtocol      = outcome.ErrProtocol      // the peer sent what can't be; matches ErrPeerFailed too, once there is an endpoint
	ErrNoLane        = outcome.ErrNoLane        // FlushOptions.Lanes: the endpoint never had a lane of that name
	ErrDial          = outcome.ErrDial          // no lane came up; each way that was tried is a *LaneError in it
	ErrRails         = topo.ErrRails            // no rail will do, or an entry of Options.Rails can't be read
	ErrRefused       = wireup.ErrRefused        // the listener said no, and why
	ErrVersion       = wire.ErrVersion          // no common version
	ErrSecret        = secret.ErrSecret         // the two sides have not the same secret; or what was given is none
	ErrAddress       = address.ErrAddress       // ParseAddress, AddressOf: this is no address of a worker
	ErrKey           = wire.ErrRKey             // ParseRKey: these bytes are no key

	// ErrBusy: memory that is being written by a transfer that was granted before Deregister.
	ErrBusy = errors.New("in use: a transfer that began before is still writing; try again")
	// ErrRequest: a request that is or was waited for already, and may be another operation's now.
	ErrRequest = outcome.ErrRequest
	// ErrInCallback: a blocking call inside a handler of an Owned worker, which nobody could make progress for. Nothing was posted.
	ErrInCallback = outcome.ErrInCallback
	// ErrShared: what only the owner of a worker can do.
	ErrShared = outcome.ErrShared
)

// LaneError is why one lane could not be set up.
type LaneError = outcome.LaneError

// Fate says what the target may have done with an operation that ended with an error; of a flush or close, with the operations before it (Endpoint.Flush).
type Fate uint8

const (
	NotExecuted Fate = Fate(outcome.NotExecuted) // nothing of it is, or ever will be, done at the target
	Unknown     Fate = Fate(outcome.Unknown)     // it may have been executed, or may yet be
)

func (f Fate) String() string {
	if f == NotExecuted {
		return "not executed"
	}
	return "unknown"
}

// OpError is how an operation ended: what, towards whom, and why.
type OpError struct {
	Op   string // "put", "am", "flush", "dial", "listen", ...
	Peer string // address, where there is one
	Lane string // if one lane is to blame
	Fate Fate
	Err  error
}

func (e *OpError) Error() string {
	return "braid: " + (&outcome.Error{Op: e.Op, Peer: e.Peer, Lane: e.Lane, Fate: outcome.Fate(e.Fate), Err: e.Err}).Error()
}

func (e *OpError) Unwrap() error { return e.Err }

// Timeout and Temporary make an OpError usable as a net.Error.
func (e *OpError) Timeout() bool {
	var t interface{ Timeout() bool }
	return errors.As(e.Err, &t) && t.Timeout()
}

// Temporary says whether trying again later may help: too many operations wait. What is too large for a limit stays so.
func (e *OpError) Temporary() bool { return errors.Is(e.Err, outcome.ErrBackPressure) }

// public turns the engine's errors into this package's.
func public(err error) error {
	if err == nil {
		return nil
	}
	return translated(err)
}

// translated is apart so that success costs no allocation.
func translated(err error) error {
	var e *outcome.Error
	if !errors.As(err, &e) {
		return err
	}
	return &OpError{Op: e.Op, Peer: e.Peer, Lane: e.Lane, Fate: Fate(e.Fate), Err: e.Err}
}

func opError(op, peer string, err error) error {
	return &OpError{Op: op, Peer: peer, Err: err}
}
