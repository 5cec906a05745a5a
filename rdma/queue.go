package rdma

import "fmt"

// QPType is the service of a queue pair.
//
// Source: ibv_qp_type.
type QPType uint8

// The services.
const (
	TypeRC QPType = iota + 1
	TypeUD
	// TypeGSI is the UD queue pair with the well-known number 1, one a device, whose QKey is GSIQKey: who knows only an
	// address can send to it. Systems keep that of a hardware device to themselves.
	TypeGSI
)

// GSIQKey is the well-known QKey of TypeGSI.
const GSIQKey = 0x80010000

func (t QPType) String() string {
	switch t {
	case TypeRC:
		return "RC"
	case TypeUD:
		return "UD"
	case TypeGSI:
		return "GSI"
	}
	return fmt.Sprintf("type(%d)", uint8(t))
}

// Datagram says whether each send names its peer.
func (t QPType) Datagram() bool { return t == TypeUD || t == TypeGSI }

// BlockBytes is the unit of a send ring.
const BlockBytes = 64

// QPCap is how much a queue pair holds.
//
// Source: ibv_qp_cap.
type QPCap struct {
	// SendBlocks is the send ring in blocks. A posted work request takes QP.Blocks of them until a completion of it or of
	// a later one was polled; at most SendBlocks are ever taken. On hardware that counts requests each is one block.
	SendBlocks int
	RecvWR     int
	SendSGE    int
	RecvSGE    int
	Inline     int // bytes
}

// QPInit makes a queue pair.
//
// Source: ibv_qp_init_attr.
type QPInit struct {
	Type           QPType
	SendCQ, RecvCQ CQ // may be the same
	Cap            QPCap
	SigAll         bool // every send makes a completion
}

// QP is a queue pair.
//
// Source: ibv_qp.
type QP interface {
	Type() QPType
	// Num is its number, 24 bits; of a device in software random. A number is not given again soon.
	Num() uint32
	// State may ask the system: adapters go to ERR by themselves.
	State() QPState

	// Modify moves the queue pair along the table in docs/rdma.md. CheckModify says which attributes each step needs and
	// allows; on an error nothing has changed. To RTR the peer's address is resolved afresh.
	//
	// Errors: ErrState, ErrInvalid, ErrUnreachable; ErrBusy for a new address in SQD before EventSQDrained.
	// Source: ibv_modify_qp.
	Modify(a QPAttr, mask AttrMask) error
	// Query returns the attributes as they are, State, RQPSN and SQPSN among them.
	//
	// Source: ibv_query_qp.
	Query() QPAttr

	// PostSend takes work requests in order and rings the doorbell once. It returns how many it took, and why the next
	// was not taken.
	//
	// Owns:   wrs and the slices in them are the caller's again at return. What the SGEs name is the device's
	//         until the completion; Inline is copied.
	// Order:  executed in posting order. A READ or atomic may take effect late: use FlagFence.
	// Done:   a completion of StatusSuccess on an RC queue pair says that the responder has it.
	// Source: ibv_post_send.
	PostSend(wrs []SendWR) (int, Status)
	// PostRecv gives memory for incoming messages, used in posting order.
	//
	// Source: ibv_post_recv.
	PostRecv(wrs []RecvWR) (int, Status)
	// Blocks is how many blocks of the send ring wr takes: 1 to MaxWRBlocks.
	Blocks(wr *SendWR) int

	// Destroy ends it in any state. What is posted is given back without a completion. Completions that were made before
	// and not polled may stay in their queues.
	//
	// Source: ibv_destroy_qp.
	Destroy() error
}

// AttrMask says which fields of a QPAttr are meant.
//
// Source: ibv_qp_attr_mask.
type AttrMask uint32

// One bit for each field of QPAttr but State, which is always meant.
const (
	MaskAccess AttrMask = 1 << iota
	MaskQKey
	MaskAV
	MaskPathMTU
	MaskDestQPN
	MaskRQPSN
	MaskMaxDestReads
	MaskMinRNRTimer
	MaskSQPSN
	MaskTimeout
	MaskRetryCount
	MaskRNRRetry
	MaskMaxReads
)

// QPAttr are a queue pair's attributes. There is one port and one partition (the default, 0xffff).
//
// Source: ibv_qp_attr.
type QPAttr struct {
	State  QPState
	Access Access // what the peer may do: of AccessRemote
	QKey   uint32 // UD

	// What leads to the peer, for RTR of an RC queue pair.
	AV           AHAttr
	PathMTU      MTU
	DestQPN      uint32
	RQPSN        uint32 // the packet number expected next: in ERR it is the position
	MaxDestReads uint8  // READs and atomics of the peer at a time, as responder
	MinRNRTimer  uint8  // code of RNRDelay: how long the peer waits when no receive is posted

	// What sending needs, for RTS; UD needs SQPSN only.
	SQPSN      uint32 // of the next packet
	Timeout    uint8  // code of AckTimeout: 0 waits for ever
	RetryCount uint8  // 0 to 7, after time-outs and gaps
	RNRRetry   uint8  // 0 to 6; 7 tries for ever
	MaxReads   uint8  // READs and atomics at a time, as requester

	// Draining: in SQD, what was sent is not acknowledged yet. Query only.
	Draining bool
}

// CQ is a completion queue.
//
// Source: ibv_cq.
type CQ interface {
	// Poll takes up to len(dst) completions, oldest first, and returns how many.
	//
	// Source: ibv_poll_cq.
	Poll(dst []WC) int
	// Arm asks that Device.EventFD becomes readable with the next completion, or with the next that was sent
	// solicited. False: there are completions now: poll them first. Arm, then look once more, then sleep.
	//
	// Source: ibv_req_notify_cq.
	Arm(solicited bool) bool
	Depth() int
	// Destroy ends it. ErrBusy while a queue pair uses it.
	//
	// Source: ibv_destroy_cq.
	Destroy() error
}
