package owed

import (
	"fmt"

	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// Put is a message of this side's that the peer has room for, or its beginning, and the Completer of the frames by which it goes there.
type Put struct {
	d      *Debts
	head   wire.TagPut // of the next frame
	rest   []byte
	region *memory.Region // that the message is of; nil: it is over
	under  int            // frames that the peer has not accepted
	whole  bool           // the last frame is posted
	next   *Put
}

// puts are those of which not all is posted, and one that may be used again.
type puts struct {
	head, tail *Put
	n          int
	spare      *Put
	late       uint64 // messages that the peer gave up, and may have asked for before: the two words go on any lanes
}

// Sent implements transport.Completer.
func (p *Put) Sent(uint64) {}

// Executed implements transport.Completer: the peer has the frame, or never will.
func (p *Put) Executed(uint64, error) {
	p.under--
	p.settle()
}

// settle lets go of the memory when the peer has all of it, or what it will have.
func (p *Put) settle() {
	if !p.whole || p.under > 0 {
		return
	}
	d, r := p.d, p.region
	*p = Put{d: d, next: d.puts.spare}
	d.puts.spare = p
	d.leave(r)
}

// Of says whether it is of a region.
func (p *Put) Of(r *memory.Region) bool { return p.region == r }

// Cleared puts as much of a message as the peer has room for; region is nil if the message is over, which the peer is then told. It never waits: the peer can
// ask for no more than it was offered. After the end nothing is owed: what came then would hold its memory for ever.
func (d *Debts) Cleared(h wire.TagClear, region *memory.Region) {
	if d.Closed {
		return
	}
	q := &d.puts
	p := q.spare
	if p == nil {
		p = &Put{d: d}
	}
	q.spare, p.next = p.next, nil
	p.head.To = h.To
	if region != nil && region.Enter() {
		p.region, p.rest = region, region.Bytes[:h.Size]
	}
	if q.tail == nil {
		q.head = p
	} else {
		q.tail.next = p
	}
	q.tail = p
	q.n++
	if d.postPuts(); q.n > 0 {
		d.host.Wake()
	}
}

// GivenUp: the peer has given up a message for which it has not said that there is room.
func (d *Debts) GivenUp() { d.puts.late++ }

// Late is Cleared of a message that is over. The error says that the peer can't have asked.
func (d *Debts) Late(h wire.TagClear) error {
	if d.puts.late == 0 {
		return fmt.Errorf("room for a message that is not to be put")
	}
	d.puts.late--
	d.Cleared(h, nil)
	return nil
}

// postPuts posts what there is room for, one message behind the other.
func (d *Debts) postPuts() (n int) {
	for q := &d.puts; q.head != nil; {
		p := q.head
		for !p.whole {
			if !d.postPut(p) {
				if n > 0 {
					d.host.Posted()
				}
				return n
			}
			n++
		}
		if q.head = p.next; q.head == nil {
			q.tail = nil
		}
		p.next = nil
		q.n--
		p.settle()
	}
	if n > 0 {
		d.host.Posted()
	}
	return n
}

// postPut posts the next frame of p. What was taken back meanwhile is not put: the peer is told how much was.
func (d *Debts) postPut(p *Put) bool {
	if p.region == nil || p.region.Dead() {
		p.rest, p.head.Code = nil, wire.RefusedKey
	}
	n := min(len(p.rest), d.MaxFrame-wire.TagPutSize)
	l := d.host.Carrier(n)
	if l == nil {
		return false
	}
	*d.frame = transport.Frame{ID: wire.IDTagPut, Head: p.head.AppendTo(d.head[:0]), Payload: p.rest[:n:n], Done: p, ZeroCopy: d.ZeroCopy > 0 && n >= d.ZeroCopy}
	if !d.post(l) {
		return false
	}
	p.under++
	p.head.At += uint64(n)
	p.rest = p.rest[n:]
	p.whole = len(p.rest) == 0
	return true
}

// endPuts forgets what is not posted.
func (d *Debts) endPuts() {
	q := &d.puts
	for p := q.head; p != nil; {
		next := p.next
		p.rest, p.whole, p.next = nil, true, nil
		p.settle()
		p = next
	}
	*q = puts{spare: q.spare}
}
