package rdma

import (
	"fmt"
	"strings"

	"github.com/openbraid/braid/internal/fsm"
)

// QPState is the state of a queue pair.
//
//	RESET ──> INIT ──> RTR ──> RTS <──> SQD
//	  ^                         ^ └─ a send failed, UD ──> SQE
//	  └── from all             SQE                         │
//	ERR: from all but RESET, by Modify or a failure        └──> RTS
//
// Source: ibv_qp_state.
type QPState uint8

// The states, in the order of ibv_qp_state.
const (
	Reset QPState = iota
	Init
	RTR
	RTS
	SQD
	SQE
	Err
	QPStates
)

func (s QPState) String() string {
	return [...]string{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR", "state(?)"}[min(s, QPStates)]
}

// QPEvent moves a queue pair: a Modify to the state that it is named after, or a failure.
type QPEvent uint8

// The events. The first seven have the numbers of the states.
const (
	ToReset    QPEvent = QPEvent(Reset)
	ToInit     QPEvent = QPEvent(Init)
	ToRTR      QPEvent = QPEvent(RTR)
	ToRTS      QPEvent = QPEvent(RTS)
	ToSQD      QPEvent = QPEvent(SQD)
	ToSQE      QPEvent = QPEvent(SQE) // nobody can ask for it
	ToErr      QPEvent = QPEvent(Err)
	SendFailed QPEvent = iota // a send completed with an error
	RecvFailed                // the peer asked for what can't be, or a receive failed
	CQOverrun                 // a completion of it was lost
	QPEvents
)

func (e QPEvent) String() string {
	return [...]string{"to RESET", "to INIT", "to RTR", "to RTS", "to SQD", "to SQE", "to ERR",
		"send failed", "receive failed", "CQ overrun", "event(?)"}[min(e, QPEvents)]
}

type arrow = fsm.Row[QPState, QPEvent]

// shared are the arrows of every type.
var shared = []arrow{
	{From: Reset, On: ToReset, To: Reset}, {From: Reset, On: ToInit, To: Init}, {From: Reset, On: CQOverrun, To: Reset},
	{From: Init, On: ToReset, To: Reset}, {From: Init, On: ToInit, To: Init}, {From: Init, On: ToRTR, To: RTR},
	{From: Init, On: ToErr, To: Err}, {From: Init, On: CQOverrun, To: Err},
	{From: RTR, On: ToReset, To: Reset}, {From: RTR, On: ToRTS, To: RTS},
	{From: RTR, On: ToErr, To: Err}, {From: RTR, On: CQOverrun, To: Err},
	{From: RTS, On: ToReset, To: Reset}, {From: RTS, On: ToRTS, To: RTS}, {From: RTS, On: ToSQD, To: SQD},
	{From: RTS, On: ToErr, To: Err}, {From: RTS, On: CQOverrun, To: Err},
	{From: SQD, On: ToReset, To: Reset}, {From: SQD, On: ToRTS, To: RTS}, {From: SQD, On: ToSQD, To: SQD},
	{From: SQD, On: ToErr, To: Err}, {From: SQD, On: CQOverrun, To: Err},
	{From: Err, On: ToReset, To: Reset}, {From: Err, On: ToErr, To: Err}, {From: Err, On: CQOverrun, To: Err},
	{From: Err, On: SendFailed, To: Err}, {From: Err, On: RecvFailed, To: Err},
}

// lives are the tables of reliable queue pairs and of datagrams. The latter's receive side has no peer that could ask for what can't be.
var lives = [2]*fsm.Table[QPState, QPEvent]{
	fsm.New(QPStates-1, QPEvents-1, append([]arrow{
		{From: RTS, On: SendFailed, To: Err}, {From: SQD, On: SendFailed, To: Err},
		{From: RTR, On: RecvFailed, To: Err}, {From: RTS, On: RecvFailed, To: Err}, {From: SQD, On: RecvFailed, To: Err},
	}, shared...)...),
	fsm.New(QPStates-1, QPEvents-1, append([]arrow{
		{From: RTS, On: SendFailed, To: SQE}, {From: SQD, On: SendFailed, To: SQE}, {From: SQE, On: SendFailed, To: SQE},
		{From: SQE, On: ToReset, To: Reset}, {From: SQE, On: ToRTS, To: RTS}, {From: SQE, On: ToErr, To: Err},
		{From: SQE, On: CQOverrun, To: Err},
	}, shared...)...),
}

func life(t QPType) *fsm.Table[QPState, QPEvent] {
	if t.Datagram() {
		return lives[1]
	}
	return lives[0]
}

// Note applies an event to *s and says whether it can come there: for devices, which write a state by nothing else.
func Note(t QPType, s *QPState, e QPEvent) bool { return life(t).Note(s, e) }

// step is what one Modify needs and what it may change besides.
type step struct {
	from, to QPState
	datagram bool
	need     AttrMask
	may      AttrMask
}

// steps are the attributes of each Modify; a pair that is missing takes none.
//
// Source: qp_state_table of the kernel's verbs.c, without alternate paths and partitions.
var steps = []step{
	{Reset, Init, false, MaskAccess, 0},
	{Reset, Init, true, MaskQKey, 0},
	{Init, Init, false, 0, MaskAccess},
	{Init, Init, true, 0, MaskQKey},
	{Init, RTR, false, MaskAV | MaskPathMTU | MaskDestQPN | MaskRQPSN | MaskMaxDestReads | MaskMinRNRTimer, MaskAccess},
	{Init, RTR, true, 0, MaskQKey},
	{RTR, RTS, false, MaskSQPSN | MaskTimeout | MaskRetryCount | MaskRNRRetry | MaskMaxReads, MaskAccess | MaskMinRNRTimer},
	{RTR, RTS, true, MaskSQPSN, MaskQKey},
	{RTS, RTS, false, 0, MaskAccess | MaskMinRNRTimer},
	{RTS, RTS, true, 0, MaskQKey},
	{SQD, RTS, false, 0, MaskAccess | MaskMinRNRTimer},
	{SQD, RTS, true, 0, MaskQKey},
	{SQD, SQD, false, 0, MaskAV | MaskTimeout | MaskRetryCount | MaskRNRRetry | MaskMaxReads | MaskMaxDestReads |
		MaskAccess | MaskMinRNRTimer},
	{SQD, SQD, true, 0, MaskQKey},
	{SQE, RTS, true, 0, MaskQKey},
}

// CheckModify says whether a queue pair of this type may go from one state to a.State with these attributes: the step is in the
// table, what it needs is there, what it doesn't know isn't, and each value is one that can be.
//
// Errors: ErrState, ErrInvalid, with the reason.
// Source: ib_modify_qp_is_ok.
func CheckModify(t QPType, from QPState, a *QPAttr, mask AttrMask) error {
	if a.State >= QPStates {
		return fmt.Errorf("%w: no state %d", ErrInvalid, a.State)
	}
	probe := from
	if !Note(t, &probe, QPEvent(a.State)) {
		return fmt.Errorf("%w: %v queue pair can't go from %v to %v", ErrState, t, from, a.State)
	}
	s := step{}
	for _, row := range steps {
		if row.from == from && row.to == a.State && row.datagram == t.Datagram() {
			s = row
		}
	}
	if lack := s.need &^ mask; lack != 0 {
		return fmt.Errorf("%w: %v to %v needs %v", ErrInvalid, from, a.State, lack)
	}
	if extra := mask &^ (s.need | s.may); extra != 0 {
		return fmt.Errorf("%w: %v to %v doesn't take %v", ErrInvalid, from, a.State, extra)
	}
	return a.check(mask)
}

// check looks at the values that are meant.
func (a *QPAttr) check(mask AttrMask) error {
	for _, c := range []struct {
		bit  AttrMask
		bad  bool
		want string
	}{
		{MaskAccess, a.Access&^(AccessRemote|AccessLocalWrite) != 0, "remote rights only"},
		{MaskPathMTU, a.PathMTU.Bytes() == 0, "256 to 4096 bytes"},
		{MaskDestQPN, a.DestQPN > MaxNum, "24 bits"},
		{MaskRQPSN, a.RQPSN > MaxNum, "24 bits"},
		{MaskSQPSN, a.SQPSN > MaxNum, "24 bits"},
		{MaskMinRNRTimer, a.MinRNRTimer > 31, "a code from 0 to 31"},
		{MaskTimeout, a.Timeout > 31, "a code from 0 to 31"},
		{MaskRetryCount, a.RetryCount > 7, "0 to 7"},
		{MaskRNRRetry, a.RNRRetry > 7, "0 to 7"},
	} {
		if mask&c.bit != 0 && c.bad {
			return fmt.Errorf("%w: %v must be %s", ErrInvalid, c.bit, c.want)
		}
	}
	return nil
}

var maskNames = [...]string{"access", "qkey", "av", "path mtu", "dest qpn", "rq psn", "max dest reads", "min rnr timer",
	"sq psn", "timeout", "retry count", "rnr retry", "max reads"}

func (m AttrMask) String() string {
	var names []string
	for i, n := range maskNames {
		if m&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	if rest := m >> len(maskNames); rest != 0 {
		names = append(names, fmt.Sprintf("unknown bits %#x", uint32(rest)<<len(maskNames)))
	}
	return strings.Join(names, ", ")
}

// StateTable prints every state with every event for a type, and the attributes of each Modify.
func StateTable(t QPType) string {
	var b strings.Builder
	b.WriteString(life(t).Matrix())
	for _, s := range steps {
		if s.datagram == t.Datagram() {
			fmt.Fprintf(&b, "%v to %v: needs [%v] may [%v]\n", s.from, s.to, s.need, s.may)
		}
	}
	return b.String()
}

// MaySend says how posts to the send queue go in a state: taken and run, taken and kept, taken and flushed, or refused.
func (s QPState) MaySend() Status {
	if s == Reset || s == Init || s == RTR {
		return BadState
	}
	return Posted
}

// MayRecv says whether receives are taken; in ERR they are flushed.
func (s QPState) MayRecv() Status {
	if s == Reset {
		return BadState
	}
	return Posted
}

// Responds says whether packets from the peer are executed.
func (s QPState) Responds() bool { return s == RTR || s == RTS || s == SQD || s == SQE }

// Flushes says whether the send queue ends what is in it.
func (s QPState) Flushes() bool { return s == SQE || s == Err }
