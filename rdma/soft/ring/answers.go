package ring

import (
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/packet"
)

// Answer is something that the responder has to send: an acknowledgement or refusal, the result of an atomic, or the
// packets of a READ.
type Answer struct {
	Kind     Kind
	Syndrome packet.Syndrome // of a refusal
	PSN      uint32          // of the next packet
	MSN      uint32
	Orig     uint64 // atomic
	RKey     uint32 // READ: where it reads next, and how much
	VA       uint64
	Left     uint32
	Begun    bool   // READ: the first packet has left
	First    uint32 // READ: its first packet number
	Total    uint32
	Start    uint64
	Repeat   bool // READ: it was asked for again
}

// Kind is what an answer is.
type Kind uint8

// The kinds of answers.
const (
	Ack Kind = iota
	Nak
	Atomic
	Read
)

// Answers are in the order in which they must leave.
type Answers struct {
	ring  []Answer
	head  int
	Count int
	Data  int // READs and atomics among them
}

// Clear forgets them.
func (a *Answers) Clear() { a.head, a.Count, a.Data = 0, 0, 0 }

// At is the i-th from the first.
func (a *Answers) At(i int) *Answer { return &a.ring[(a.head+i)%len(a.ring)] }

// Push adds an answer; there is room, or it is one that would be sent again when it is asked for again.
func (a *Answers) Push(x Answer) {
	if a.Count == len(a.ring) {
		return
	}
	*a.At(a.Count) = x
	a.Count++
	if x.Kind == Atomic || x.Kind == Read {
		a.Data++
	}
}

// Pop ends the first.
func (a *Answers) Pop() {
	if k := a.At(0).Kind; k == Atomic || k == Read {
		a.Data--
	}
	a.head = (a.head + 1) % len(a.ring)
	a.Count--
}

// Acknowledge acknowledges everything up to psn; it replaces an acknowledgement that has not left.
func (a *Answers) Acknowledge(psn, msn uint32) {
	if a.Count > 0 {
		if last := a.At(a.Count - 1); last.Kind == Ack {
			last.PSN, last.MSN = psn, msn
			return
		}
	}
	a.Push(Answer{Kind: Ack, PSN: psn, MSN: msn})
}

// Again moves a READ that is under way back to a packet that was asked for again. False: there is none.
func (a *Answers) Again(p *packet.Packet, mtu int) bool {
	for i := range a.Count {
		x := a.At(i)
		if x.Kind != Read {
			continue
		}
		off := rdma.PSNDiff(p.PSN, x.First)
		if at := uint32(off) * uint32(mtu); off >= 0 && at < x.Total && rdma.PSNDiff(x.PSN, p.PSN) >= 0 {
			x.PSN, x.VA, x.Left, x.Begun = p.PSN, x.Start+uint64(at), x.Total-at, false
			x.Repeat = true
			return true
		}
	}
	return false
}

// Grow makes room for so many READs and atomics, each with an acknowledgement, and keeps what there is.
func (a *Answers) Grow(data int) {
	if n := 2*data + 4; n > len(a.ring) {
		ring := make([]Answer, n)
		for i := range a.Count {
			ring[i] = *a.At(i)
		}
		a.ring, a.head = ring, 0
	}
}
