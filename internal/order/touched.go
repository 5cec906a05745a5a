package order

// Touched is which regions a lane's operations were for, each with the last epoch: a few, and the rest as one.
type Touched struct {
	region uint32
	epoch  uint64 // of the last one
	others []mark
	rest   uint64
}

type mark struct {
	region uint32
	epoch  uint64
}

const marks = 8

// Is says whether that is what was noted last.
func (t *Touched) Is(region uint32, epoch uint64) bool { return t.region == region && t.epoch == epoch }

// Note adds an operation. first is the first epoch of which the lane has anything.
func (t *Touched) Note(region uint32, epoch, first uint64) {
	if t.region == region {
		t.epoch = max(t.epoch, epoch) // what is replayed is older than what was posted before it
		return
	}
	old := mark{t.region, t.epoch}
	t.region, t.epoch = region, max(epoch, t.rest) // it may be one of the rest, posted later than what is replayed now
	left := t.others[:0]
	for _, m := range t.others {
		switch {
		case m.region == region:
			t.epoch = max(t.epoch, m.epoch)
		case m.epoch >= first:
			left = append(left, m)
		}
	}
	t.others = left
	switch {
	case old.epoch < first:
	case len(t.others) < marks:
		t.others = append(t.others, old)
	default:
		t.rest = max(t.rest, old.epoch)
	}
}

// Last is the last epoch of an operation for a region, 0 if there was none that may be unexecuted.
func (t *Touched) Last(region uint32) uint64 {
	if t.region == region {
		return t.epoch
	}
	for _, m := range t.others {
		if m.region == region {
			return m.epoch
		}
	}
	return t.rest
}
