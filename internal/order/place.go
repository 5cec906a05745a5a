package order

import "math"

// Place is somewhere that unexecuted work can be: a lane instance, or no lane. It counts by epoch. The zero value is empty.
type Place struct {
	InOrder bool // work is executed in the order in which it entered

	counts    []uint32 // ring, power of two; epochs low..high. What is outside of them is 0
	head      int      // of low
	low, high uint64
	n         uint64
}

// none is an epoch after all.
const none = math.MaxUint64

// Enter puts something of an epoch here: a frame, or an operation that is not whole on lanes.
func (p *Place) Enter(epoch uint64) {
	if p.n == 0 {
		p.low, p.high = epoch, epoch
		if p.counts == nil {
			p.counts = make([]uint32, 8)
		}
	} else if epoch < p.low || epoch > p.high {
		p.widen(min(p.low, epoch), max(p.high, epoch))
	}
	*p.slot(epoch)++
	p.n++
}

// Leave takes it away, and says whether that was the last of the first epoch: a flush may be done, or a fence passed.
func (p *Place) Leave(epoch uint64) bool {
	if p.n == 0 || epoch < p.low || epoch > p.high || *p.slot(epoch) == 0 {
		panic("order: it is not at this place, or left before")
	}
	c := p.slot(epoch)
	*c--
	p.n--
	if *c > 0 || epoch != p.low {
		return false
	}
	for p.low < p.high && *p.slot(p.low) == 0 {
		p.head = (p.head + 1) & (len(p.counts) - 1)
		p.low++
	}
	return true
}

// Len is how much is here.
func (p *Place) Len() uint64 { return p.n }

// First is the first epoch that something here is of; with nothing, one after all.
func (p *Place) First() uint64 {
	if p.n == 0 {
		return none
	}
	return p.low
}

func (p *Place) slot(epoch uint64) *uint32 {
	return &p.counts[(p.head+int(epoch-p.low))&(len(p.counts)-1)]
}

func (p *Place) widen(low, high uint64) {
	if n := high - low + 1; n > uint64(len(p.counts)) {
		size := len(p.counts)
		for uint64(size) < n {
			size *= 2
		}
		counts := make([]uint32, size)
		for e := p.low; e <= p.high; e++ {
			counts[e-low] = *p.slot(e)
		}
		p.counts, p.head = counts, 0
	} else {
		p.head = (p.head - int(p.low-low)) & (len(p.counts) - 1)
	}
	p.low, p.high = low, high
}
