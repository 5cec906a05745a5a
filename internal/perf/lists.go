package perf

import (
	"encoding/binary"
	"fmt"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/catalog"
	"github.com/openbraid/braid/internal/perf/gather"
	"github.com/openbraid/braid/internal/perf/note"
	"github.com/openbraid/braid/internal/perf/pattern"
	"github.com/openbraid/braid/iov"
)

// Operations whose payload is a list of buffers are calls that return when the buffers are their user's again, as package iov has them: there is one
// under way in the client, however many the library has taken over.

// lists says what can't be of a test with lists.
func (p *Params) lists(t catalog.Test) error {
	l := &p.Lists
	switch {
	case !l.Used() && len(l.Sizes) == 0:
		return nil
	case !l.Used():
		return fmt.Errorf("-s with %d sizes: they are those of a list, with -D iov", len(l.Sizes))
	case t.Stream || t.Atomic || t.Signal:
		return fmt.Errorf("-D iov: %s has no lists of buffers", t.Name)
	case t.Latency:
		return fmt.Errorf("-D iov: %s answers from where no call may wait, as those on lists do: measure %s, or get", t.Name, t.Bandwidth())
	case l.There && !t.Tag:
		return fmt.Errorf("-D %s: in %s only this side has buffers to choose; -D iov is a list here", "contig,iov", t.Name)
	case p.Outstanding > 1:
		return fmt.Errorf("-O %d: a call with a list returns when its buffers are its user's again; there is no window of them", p.Outstanding)
	case l.Len() != p.Size:
		return fmt.Errorf("-s %d: the buffers of the list have %d bytes", p.Size, l.Len())
	}
	return l.Check()
}

// passList carries the next operation out of, or into, the list of a slot.
func (c *client) passList(s *slot) error {
	l := s.pieces.List()
	if c.p.Verify && !c.test.Get {
		s.pieces.Fill(pattern.Base(s.seq, false))
		if len(s.head) >= pattern.WordLen {
			binary.LittleEndian.PutUint64(s.head, s.seq)
		}
	}
	var err error
	switch {
	case c.test.Get && c.p.Verify:
		err = c.getList(s, l)
	case c.test.Get:
		err = iov.Get(c.ctx, c.ep, l, c.key, 0)
	case c.test.Put:
		err = iov.Put(c.ctx, c.ep, l, c.key, 0)
	case c.test.Sync:
		err = iov.SendTagSync(c.ctx, c.ep, s.seq, l)
	case c.test.Tag:
		err = iov.SendTag(c.ctx, c.ep, s.seq, l)
	case c.test.Offer:
		err = iov.OfferAM(c.ctx, c.ep, note.Data, s.head, l)
	default:
		err = iov.SendAM(c.ctx, c.ep, note.Data, s.head, l)
	}
	if err == nil {
		c.completed()
	}
	return err
}

// getList is a get that is looked at.
func (c *client) getList(s *slot, l iov.List) error {
	c.ledger.Rest(s.pieces.Whole())
	if err := iov.Get(c.ctx, c.ep, l, c.key, s.seq%c.slots*uint64(c.p.Size)); err != nil {
		return err
	}
	c.ledger.Answer(s.pieces.Whole(), s.seq, c.slots)
	s.pieces.Clear()
	return nil
}

// takePieces looks whether the next message has come, and receives it into the list. What was offered is waited for.
func (ses *session) takePieces(s *server) bool {
	m := ses.ep.TakeTag(0, braid.AnyTag)
	if m == nil {
		return false
	}
	info, err := iov.RecvTaken(s.ctx, m, ses.tags.pieces.List())
	if err != nil {
		s.p.Log("%v", err) // an endpoint that failed is an event, too
		return false
	}
	ses.arrived++
	if ses.ledger != nil {
		ses.ledger.Numbered(info.Tag, ses.tags.pieces.Whole(), false)
		ses.tags.pieces.Clear()
	}
	return true
}

// scatter has a session receive into lists.
func (ses *session) scatter(sizes []int) error {
	l := gather.Layout{Sizes: sizes, There: true}
	if err := l.Check(); err != nil {
		return err
	}
	if !ses.test.Tag || ses.test.Latency || l.Len() != ses.size {
		return fmt.Errorf("a list of %d bytes in a %s of %d", l.Len(), ses.test.Name, ses.size)
	}
	ses.tags.pieces = gather.New(sizes)
	return nil
}
