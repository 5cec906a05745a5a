package rc

import (
	"errors"
	"fmt"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
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
	errOneAddr   = errors.New("an RDMA device has one address: name it")
	errNobody    = errors.New("nobody listens there")
	errFull      = errors.New("too many connections wait there; try again")
	errNoAnswer  = errors.New("nobody answers; is an rc listener of braid there, and do UDP packets pass?")
	errPortDown  = transport.ErrPortDown
	errMoved     = errors.New("the peer's address moved to another machine or interface; a new connection finds it")
	errOwnMoved  = errors.New("the port lost the address of this connection")
	errOverrun   = errors.New("a completion was lost")
	errFatal     = errors.New("the device failed")
	errViolation = errors.New("the peer did what this connection does not allow")
)

// failure is a completion's status as an error.
//
// Source: uct_ib_mlx5_completion_with_err.
func failure(wc *rdma.WC) (kind, err error) {
	err = fmt.Errorf("work request ended with: %v", wc.Status)
	if wc.Vendor != 0 {
		err = fmt.Errorf("%w (vendor code %#x)", err, wc.Vendor)
	}
	switch wc.Status {
	case rdma.StatusRetryExceeded:
		return transport.ErrReset, fmt.Errorf("%w: the peer does not answer", err)
	case rdma.StatusRNRExceeded:
		return transport.ErrProtocol, fmt.Errorf("%w: the peer granted more than it has receives", err)
	case rdma.StatusLocLen, rdma.StatusRemInvReq, rdma.StatusRemAccess:
		return transport.ErrProtocol, err
	case rdma.StatusFatal:
		return transport.ErrReset, fmt.Errorf("%w: %w", err, errFatal)
	case rdma.StatusSuccess, rdma.StatusLocQPOp, rdma.StatusLocEEC, rdma.StatusLocProt, rdma.StatusFlushed, rdma.StatusMWBind,
		rdma.StatusBadResp, rdma.StatusLocAccess, rdma.StatusRemOp, rdma.StatusLocRDD, rdma.StatusRemInvRD, rdma.StatusRemAborted,
		rdma.StatusInvEECN, rdma.StatusInvEECState, rdma.StatusRespTimeout, rdma.StatusGeneral:
	}
	return transport.ErrReset, err
}
