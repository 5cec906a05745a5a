package rdma

// Op is what a work request asks for.
//
// Source: ibv_wr_opcode.
type Op uint8

// The operations, in the order of ibv_wr_opcode as far as they are there.
const (
	OpWrite    Op = iota
	OpWriteImm    // consumes a receive at the peer, whose completion has the immediate
	OpSend        // into a receive
	OpSendImm
	OpRead
	OpCompareSwap // 8 aligned bytes (a device may refuse others at the post), in the byte order of the responder's processor; the old value comes back
	OpFetchAdd    // likewise
	OpLocalInv    // ends the window of type 2 with RKey
	OpBindMW      // binds Bind.MW
	OpSendInv     // as OpSend, and ends the peer's window of type 2 with RKey
	ops
)

func (o Op) String() string {
	return [...]string{"WRITE", "WRITE+IMM", "SEND", "SEND+IMM", "READ", "CMP_SWAP", "FETCH_ADD", "LOCAL_INV", "BIND_MW",
		"SEND+INV", "op(?)"}[min(o, ops)]
}

// Valid says whether a queue pair of this type can be asked for it.
func (o Op) Valid(t QPType) bool {
	if t.Datagram() {
		return o == OpSend || o == OpSendImm
	}
	return o < ops
}

// Atomic says whether it is one of the 8-byte atomics.
func (o Op) Atomic() bool { return o == OpCompareSwap || o == OpFetchAdd }

// Answered says whether the responder sends data back: then it counts against MaxReads.
func (o Op) Answered() bool { return o == OpRead || o.Atomic() }

// Sends says whether it goes into a receive at the peer and carries payload.
func (o Op) Sends() bool { return o == OpSend || o == OpSendImm || o == OpSendInv }

// HasImm says whether it carries an immediate.
func (o Op) HasImm() bool { return o == OpSendImm || o == OpWriteImm }

// Local says whether no packet of it leaves the device.
func (o Op) Local() bool { return o == OpLocalInv || o == OpBindMW }

// SendFlags change how a work request is run.
//
// Source: ibv_send_flags.
type SendFlags uint8

// The flags.
const (
	FlagSignaled  SendFlags = 1 << iota // make a completion also on success
	FlagFence                           // wait until earlier READs and atomics are done
	FlagSolicited                       // the peer's completion counts as solicited
)

// SGE is a piece of registered memory: a WRITE or SEND gathers from such, a READ, an atomic and a receive scatter to them.
//
// Source: ibv_sge.
type SGE struct {
	Addr   uint64 // MR.Addr() and further
	Length uint32
	LKey   uint32
}

// SendWR is a work request for the send queue.
//
// Source: ibv_send_wr.
type SendWR struct {
	ID    uint64 // handed back as WC.ID
	Op    Op
	Flags SendFlags
	SGL   []SGE
	// Inline, if it isn't nil, is the payload of a SEND or WRITE instead of SGL, and copied by the post.
	Inline []byte

	Imm  uint32 // OpSendImm, OpWriteImm
	RKey uint32 // of remote memory; of the window for OpLocalInv and OpSendInv
	Addr uint64 // of remote memory, of the peer's MR.Addr() and further

	CompareAdd uint64 // OpCompareSwap: what must be there; OpFetchAdd: what to add
	Swap       uint64 // OpCompareSwap: what to set

	AH       AH // UD: where to
	DestQPN  uint32
	DestQKey uint32
	Bind     Bind
}

// Fits says whether a queue pair of these sizes, with so many reads and atomics under way at most, takes a work request of this shape.
// Whose the objects in it are, the device checks.
func (wr *SendWR) Fits(c *QPCap, reads uint8) bool {
	if len(wr.SGL) > c.SendSGE || len(wr.Inline) > c.Inline {
		return false
	}
	if wr.Inline != nil && (len(wr.SGL) > 0 || wr.Op.Answered() || wr.Op.Local()) {
		return false
	}
	switch {
	case wr.Op == OpBindMW || wr.Op == OpLocalInv:
		return len(wr.SGL) == 0
	case wr.Op.Answered() && reads == 0:
		return false
	case wr.Op.Atomic():
		return len(wr.SGL) == 1 && wr.SGL[0].Length == 8
	}
	return true
}

// Bind says what part of a region a window opens, to whom.
//
// Source: ibv_mw_bind_info.
type Bind struct {
	MW     MW
	MR     MR // registered with AccessMWBind
	Addr   uint64
	Length uint64 // 0 closes a window of type 1
	Access Access // of AccessRemote
}

// RecvWR is memory for one incoming message. The first GRHBytes of a datagram's belong to the network header.
//
// Source: ibv_recv_wr.
type RecvWR struct {
	ID  uint64
	SGL []SGE
}

// GRHBytes is what stands before the payload of a datagram in its receive: an IPv6 header, or 20 bytes of nothing in
// particular and an IPv4 header.
const GRHBytes = 40
