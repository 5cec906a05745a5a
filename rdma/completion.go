package rdma

// WCStatus is how a work request ended.
//
// Source: ibv_wc_status, whose numbers it has.
type WCStatus uint8

// The ends of a work request.
const (
	StatusSuccess       WCStatus = iota
	StatusLocLen                 // local: longer than the receive, or than the device can
	StatusLocQPOp                // local: the device could not run it; the link failed
	StatusLocEEC                 // (not used)
	StatusLocProt                // local: key, bounds or rights of an SGE
	StatusFlushed                // not run, since the queue pair is in ERR (or SQE)
	StatusMWBind                 // window and region don't go together
	StatusBadResp                // the responder answered what can't be
	StatusLocAccess              // local: the peer's write into a receive hit memory that it may not
	StatusRemInvReq              // responder: the request can't be
	StatusRemAccess              // responder: key, bounds or rights
	StatusRemOp                  // responder: failed at its side
	StatusRetryExceeded          // nobody answered
	StatusRNRExceeded            // the responder had no receive posted
	StatusLocRDD                 // (not used)
	StatusRemInvRD               // (not used)
	StatusRemAborted             // responder: aborted
	StatusInvEECN                // (not used)
	StatusInvEECState            // (not used)
	StatusFatal                  // the device failed
	StatusRespTimeout            // (not used)
	StatusGeneral                // anything else
	wcStatuses
)

func (s WCStatus) String() string {
	return [...]string{"success", "local length error", "local QP operation error", "local EE context error",
		"local protection error", "flushed", "memory window bind error", "bad response", "local access error",
		"remote invalid request", "remote access error", "remote operation error", "retry exceeded", "RNR retry exceeded",
		"local RDD violation", "remote invalid RD request", "remote aborted", "invalid EE context number",
		"invalid EE context state", "fatal error", "response timeout", "general error", "status(?)"}[min(s, wcStatuses)]
}

// WCOp is what completed.
//
// Source: ibv_wc_opcode.
type WCOp uint8

// What can complete. It is valid with StatusSuccess only, as all of a WC but ID, Status, QPNum and Vendor.
const (
	WCSend WCOp = iota
	WCWrite
	WCRead
	WCCompareSwap
	WCFetchAdd
	WCBindMW
	WCLocalInv
	WCRecv
	WCRecvWriteImm
	wcOps
)

func (o WCOp) String() string {
	return [...]string{"SEND", "WRITE", "READ", "CMP_SWAP", "FETCH_ADD", "BIND_MW", "LOCAL_INV", "RECV", "RECV_WRITE_IMM",
		"op(?)"}[min(o, wcOps)]
}

// WCFlags say what else a completion has.
//
// Source: ibv_wc_flags.
type WCFlags uint8

// The flags of a completion.
const (
	WCHasImm WCFlags = 1 << iota
	WCHasInv         // InvRKey: the peer ended this window
	WCHasGRH         // the receive begins with GRHBytes of header
)

// WC is a work completion.
//
// Source: ibv_wc.
type WC struct {
	ID     uint64
	Status WCStatus
	Op     WCOp
	Flags  WCFlags
	// Length in bytes: of a receive what arrived (GRHBytes included for a datagram), of a READ or atomic what came back.
	Length  uint32
	Imm     uint32 // with WCHasImm
	InvRKey uint32 // with WCHasInv
	QPNum   uint32 // whose work request it was
	Vendor  uint32 // more about an error, if the device has more; for logs

	// Of a datagram: who sent it.
	SrcQPN  uint32
	SrcGID  GID    // its address
	SrcPort uint16 // its UDP port: AHAttr.Port of an answer to a device with a port of its own; 0 if the device doesn't know
}

// Reply is where an answer to a received datagram goes.
//
// Source: ibv_init_ah_from_wc.
func (wc *WC) Reply(sgidIndex int) AHAttr {
	return AHAttr{DGID: wc.SrcGID, SGIDIndex: sgidIndex, Port: wc.SrcPort}
}
