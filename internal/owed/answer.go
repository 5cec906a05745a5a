package owed

import (
	"encoding/binary"
	"fmt"

	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// Answer is one to a get or a fetch of the peer, and the Completer of its frame.
type Answer struct {
	d      *Debts
	head   wire.GetData
	data   []byte
	region *memory.Region // that data is of; kept until the peer has it
	word   [8]byte        // what data is of otherwise
	next   *Answer
}

type answers struct {
	head, tail *Answer
	n          int
	spare      *Answer
}

// Sent implements transport.Completer.
func (p *Answer) Sent(uint64) {}

// Executed implements transport.Completer: the peer has the answer, or never will.
func (p *Answer) Executed(uint64, error) {
	d, r := p.d, p.region
	*p = Answer{d: d, next: d.answers.spare}
	d.answers.spare = p
	d.leave(r)
}

// leave notes that a frame, or a put, needs the memory of a region no more; nil: it needed none.
func (d *Debts) leave(r *memory.Region) {
	if r == nil {
		return
	}
	if r.Leave(); r.Dead() && !r.Busy() {
		d.host.Returned(r)
	}
}

// AnswerGet answers a get of the peer with bytes of this node's memory, or with a reason; then refused is 1. It never waits: what can't be
// posted now has a slot, and the peer has credits for so many (R14).
func (d *Debts) AnswerGet(mem *memory.Table, h wire.Get) (refused uint64, err error) {
	if d.Closed {
		return 0, nil
	}
	p := d.newAnswer(wire.GetData{Op: h.Op, At: h.At})
	r, src, code := mem.Target(h.Index, h.Secret, wire.Read, h.Offset, uint64(h.Size))
	if code == 0 && !r.Enter() {
		code = wire.RefusedKey
	}
	if p.head.Code = code; code != 0 {
		return 1, d.queueAnswer(p)
	}
	if word, ok := memory.Load(src); ok { // kept here: so it stays what it was, however often the answer is posted
		r.Leave()
		p.word = word
		p.data = p.word[:len(src)]
		return 0, d.queueAnswer(p)
	}
	p.data, p.region = src, r
	return 0, d.queueAnswer(p)
}

// AnswerFetch changes a word of this node's memory, once, and answers with what it was.
func (d *Debts) AnswerFetch(mem *memory.Table, h wire.AtomicOp) (refused uint64, err error) {
	if d.Closed {
		return 0, nil
	}
	old, code := mem.Change(h)
	p := d.newAnswer(wire.GetData{Op: h.Op, Code: code})
	if code != 0 {
		return 1, d.queueAnswer(p)
	}
	binary.LittleEndian.PutUint64(p.word[:], old)
	p.data = p.word[:h.Size]
	return 0, d.queueAnswer(p)
}

func (d *Debts) newAnswer(h wire.GetData) *Answer {
	p := d.answers.spare
	if p == nil {
		return &Answer{d: d, head: h}
	}
	d.answers.spare = p.next
	p.head, p.next = h, nil
	return p
}

func (d *Debts) queueAnswer(p *Answer) error {
	q := &d.answers
	if q.tail == nil {
		q.head, q.tail = p, p
	} else {
		q.tail.next, q.tail = p, p
	}
	q.n++
	d.postAnswers()
	if q.n > d.OwnCredits {
		return fmt.Errorf("more gets and fetches than this side has promised to answer at a time: %d", d.OwnCredits)
	}
	return nil
}

// postAnswers posts answers. They wait behind replays of their kind, and for nothing else.
func (d *Debts) postAnswers() (n int) {
	for q := &d.answers; q.head != nil; n++ {
		p := q.head
		l := d.host.Carrier(len(p.data))
		if l == nil {
			break
		}
		*d.frame = transport.Frame{
			ID: wire.IDGetData, Head: p.head.AppendTo(d.head[:0]), Payload: p.data, Done: p,
			ZeroCopy: d.ZeroCopy > 0 && len(p.data) >= d.ZeroCopy,
		}
		if !d.post(l) {
			break
		}
		if q.head = p.next; q.head == nil {
			q.tail = nil
		}
		p.next = nil
		q.n--
	}
	if n > 0 {
		d.host.Posted()
	}
	return n
}

func (d *Debts) endAnswers(err error) {
	q := &d.answers
	for p := q.head; p != nil; {
		next := p.next
		p.Executed(0, err)
		p = next
	}
	*q = answers{spare: q.spare}
}

// Of says whether the answer is of bytes of a region.
func (p *Answer) Of(r *memory.Region) bool { return p.region == r }

// Copy makes the answers that wait independent of a region's memory.
func (d *Debts) Copy(r *memory.Region) {
	for p := d.answers.head; p != nil; p = p.next {
		if p.Of(r) {
			p.data = append([]byte(nil), p.data...)
		}
	}
}
