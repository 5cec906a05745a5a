package outbox

import (
	"slices"

	"github.com/openbraid/braid/internal/cost"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/order"
	"github.com/openbraid/braid/internal/replay"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/weight"
)

// seat is a lane instance as the box sees it, with its place in the book, from LaneUp until nothing of it is left there.
type seat struct {
	*lane.Lane
	b       *Box
	id      uint64 // in the tags of frames of requests; never used again
	place   *order.Place
	hand    *replay.Handover // what became of it, once it is lost
	meter   weight.Meter
	poor    bool // another one is much better
	touched order.Touched
	once    request.End // of what leaves here and has no request
}

// touch notes that something for a region was posted on the lane.
func (s *seat) touch(region uint32, epoch uint64) {
	if !s.touched.Is(region, epoch) {
		s.touched.Note(region, epoch, s.place.First())
	}
}

// seats are the lanes.
type seats struct {
	up      []*seat // in the order in which they came up
	use     []*seat // of them, those that new frames go on
	all     []*seat // and those that are lost and not taken back
	off     seat    // no lane: what waits is here
	model   cost.Model
	lastPut *seat               // on which small operations stay
	ordered order.Line[*seat]   // that of frames with an order promise
	rival   weight.Rival[*seat] // of that one
	lastID  uint64
	fenced  uint64 // something waits for this fence, 0 if nothing does
	asked   uint64 // the last fence for which acknowledgements were asked for
}

func (t *seats) init(b *Box) { t.off = seat{b: b, place: &b.book.Off} }

// seat is the one with the given id; no lane, if it isn't there any more.
func (t *seats) seat(id uint64) *seat {
	for _, s := range t.all {
		if s.id == id {
			return s
		}
	}
	return &t.off
}

// of is the seat of a lane, nil if there is none.
func (t *seats) of(l *lane.Lane) *seat {
	for _, s := range t.all {
		if s.Lane == l {
			return s
		}
	}
	return nil
}

// LaneUp adds a lane to post on.
func (b *Box) LaneUp(l *lane.Lane) {
	b.lastID++
	s := &seat{Lane: l, b: b, id: b.lastID, place: &order.Place{InOrder: l.InOrder}, once: request.OnLane(l.ID), meter: weight.New(float64(l.Speed) * perMbit)}
	b.book.Open(s.place)
	b.up = append(b.up, s)
	b.all = append(b.all, s)
	b.rank()
	b.host.Wake()
}

// rank finds out which lanes are used: those within this host, if there are any. What is on others stays there; messages follow once that is acknowledged.
func (b *Box) rank() {
	b.use = b.use[:0]
	for _, near := range []bool{true, false} {
		for _, s := range b.up {
			if s.Near == near {
				b.use = append(b.use, s)
			}
		}
		if len(b.use) > 0 {
			break
		}
	}
	b.findReach()
	if s := b.lastPut; s != nil && (!slices.Contains(b.up, s) || !b.used(s)) {
		b.lastPut = nil
	}
	if s := b.ordered.At(); s != nil && s.State() == lane.Up && !b.used(s) {
		b.move(b.use[0])
	}
	b.choose()
}

// LaneLost takes a lane away. What is on it stays in the book, at its place, until TakeBack or End.
func (b *Box) LaneLost(l *lane.Lane) {
	for i, s := range b.up {
		if s.Lane == l {
			b.up = append(b.up[:i], b.up[i+1:]...)
			break
		}
	}
	b.rank()
	b.host.Wake()
}

// vacate forgets a lane of which nothing is in the book any more.
func (b *Box) vacate(s *seat) {
	b.book.Shut(s.place)
	for i, o := range b.all {
		if o == s {
			b.all = append(b.all[:i], b.all[i+1:]...)
			return
		}
	}
}

// used says whether new frames go on a lane that is up.
func (b *Box) used(s *seat) bool { return s.Near || len(b.use) == len(b.up) }

// laneFor is the lane on which a frame of so many bytes, behind this fence, may be posted now, nil if there is none.
func (b *Box) laneFor(ordered bool, barrier uint64, size int) *seat {
	if barrier != 0 {
		at, free := b.book.Sole(barrier)
		if !free {
			return b.follow(at, ordered, barrier)
		}
	}
	if ordered {
		return b.orderLane()
	}
	return b.pick(size)
}

// follow is R12 where something before the fence is not executed: behind it on its lane, if it is one and in order. Else
// the frame waits, for the acknowledgements that are asked for here.
func (b *Box) follow(at *order.Place, ordered bool, barrier uint64) *seat {
	for _, s := range b.up {
		if s.place != at || !at.InOrder {
			continue
		}
		switch {
		case !ordered:
			if b.used(s) {
				b.lastPut = s
			}
			return s
		case b.ordered.Join(s):
			return s
		}
	}
	b.fenced = max(b.fenced, barrier)
	if b.asked >= barrier {
		return nil
	}
	b.asked = barrier
	b.Fenced++
	for _, s := range b.up {
		if s.place.First() < barrier {
			s.Tep.RequestAck()
		}
	}
	return nil
}

// awaited says that somebody waits for the acknowledgement of a frame of this epoch.
func (b *Box) awaited(epoch uint64) bool {
	return b.flushes.Len() > 0 || b.partial.Len() > 0 || b.fenced > epoch
}

// Fence keeps what is posted from now on behind what was posted before.
func (b *Box) Fence() { b.book.Fence() }
