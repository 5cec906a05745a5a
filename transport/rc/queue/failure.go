package queue

import (
	"errors"
	"fmt"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
)

// ErrFatal: there is no device any more.
var ErrFatal = errors.New("the device failed")

// Failure is a completion's status as an error.
//
// Source: uct_ib_mlx5_completion_with_err.
func Failure(wc *rdma.WC) (kind, err error) {
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
		return transport.ErrReset, fmt.Errorf("%w: %w", err, ErrFatal)
	case rdma.StatusSuccess, rdma.StatusLocQPOp, rdma.StatusLocEEC, rdma.StatusLocProt, rdma.StatusFlushed, rdma.StatusMWBind,
		rdma.StatusBadResp, rdma.StatusLocAccess, rdma.StatusRemOp, rdma.StatusLocRDD, rdma.StatusRemInvRD, rdma.StatusRemAborted,
		rdma.StatusInvEECN, rdma.StatusInvEECState, rdma.StatusRespTimeout, rdma.StatusGeneral:
	}
	return transport.ErrReset, err
}
