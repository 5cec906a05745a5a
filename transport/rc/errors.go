package rc

import (
	"errors"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc/queue"
)

// Error is what goes wrong with a connection.
type Error = transport.Error

// wrap says of which connection an error is.
func (ep *endpoint) wrap(op string, kind, err error) error {
	return &Error{Transport: "rc", Op: op, Local: ep.local, Remote: ep.remote, Kind: kind, Err: err}
}

var (
	errTrust     = errors.New("RDMA packets carry no proof of who sent them: set rc.Options.TrustNetwork, or rc-trust=network, if whoever can send to this address may be trusted")
	errSecret    = errors.New("a secret proves both ends of a lane, and RDMA packets after that carry no proof: set rc.Options.AllowSecret, or rc-trust=secret, if that is enough")
	errOneAddr   = errors.New("an RDMA device has one address: name it, and those of other rails in Options.Rails (setting rails)")
	errNobody    = errors.New("nobody listens there, though a device is at this address and port: it dials only; check the port")
	errFull      = errors.New("too many connections wait there; try again")
	errTerms     = errors.New("its device can't reach this one's queue pair; its log says why: an adapter reaches UDP port 4791 only (rc-port)")
	errNoAnswer  = errors.New("nobody answers; is an rc listener of braid there, and do UDP packets pass?")
	errPortDown  = transport.ErrPortDown
	errMoved     = errors.New("the peer's address moved to another machine or interface; a new connection finds it")
	errOwnMoved  = errors.New("the port lost the address of this connection")
	errOverrun   = errors.New("a completion was lost")
	errFatal     = queue.ErrFatal
	errViolation = errors.New("the peer did what this connection does not allow")
)
