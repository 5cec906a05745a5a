package order

import (
	"math"
	"slices"
)

// Place is somewhere that unexecuted work can be: a lane instance, or no lane. It counts by epoch. The zero value is empty.
type Place struct {
	InOrder bool // work is executed in the order in which it entered

	tallies []tally // by epoch, from head on. The first and the last are not 0; one between may be, until there is no room
	head    int
	n       uint64
}

// tally is how much of an epoch is here.
type tally struct {
	epoch uint64
	n     uint32
}

// none is an epoch after all.
const none = math.MaxUint64

// Enter puts something of an epoch here: a frame, or an operation that is not whole on lanes.
func (p *Place) Enter(epoch uint64) {
	switch last := len(p.tallies) - 1; {
	case p.n == 0 || epoch > p.tallies[last].epoch:
		p.push(tally{epoch, 1})
	case epoch == p.tallies[last].epoch:
		p.tallies[last].n++
	default:
		p.between(epoch)
	}
	p.n++
}

// Leave takes it away, and says whether that was the last of the first epoch: a flush may be done, or a fence passed.
func (p *Place) Leave(epoch uint64) bool {
	i, ok := p.head, p.n > 0 && p.tallies[p.head].epoch == epoch
	if !ok && p.n > 0 {
		i, ok = p.find(epoch)
	}
	if !ok || p.tallies[i].n == 0 {
		panic("order: it is not at this place, or left before")
	}
	p.n--
	if p.tallies[i].n--; p.tallies[i].n > 0 {
		return false
	}
	first := i == p.head
	if p.n == 0 {
		p.tallies, p.head = p.tallies[:0], 0
		return first
	}
	for p.tallies[p.head].n == 0 {
		p.head++
	}
	for p.tallies[len(p.tallies)-1].n == 0 {
		p.tallies = p.tallies[:len(p.tallies)-1]
	}
	return first
}

// Len is how much is here.
func (p *Place) Len() uint64 { return p.n }

// First is the first epoch that something here is of; with nothing, one after all.
func (p *Place) First() uint64 {
	if p.n == 0 {
		return none
	}
	return p.tallies[p.head].epoch
}

// within says whether something here is of the epochs from one up to another.
func (p *Place) within(from, to uint64) bool {
	if p.n == 0 || p.First() >= to {
		return false
	}
	for i, _ := p.find(from); i < len(p.tallies) && p.tallies[i].epoch < to; i++ {
		if p.tallies[i].n > 0 {
			return true
		}
	}
	return false
}

// find is where the tally of an epoch is, or would be.
func (p *Place) find(epoch uint64) (i int, ok bool) {
	i, ok = slices.BinarySearchFunc(p.tallies[p.head:], epoch, func(t tally, e uint64) int {
		switch {
		case t.epoch < e:
			return -1
		case t.epoch > e:
			return 1
		}
		return 0
	})
	return p.head + i, ok
}

// between enters an epoch before the last: something was handed back.
func (p *Place) between(epoch uint64) {
	i, ok := p.find(epoch)
	switch {
	case ok:
		p.tallies[i].n++
	case i == p.head && i > 0:
		p.head--
		p.tallies[p.head] = tally{epoch, 1}
	default:
		p.tallies = slices.Insert(p.tallies, i, tally{epoch, 1})
	}
}

// push adds a tally behind the others.
func (p *Place) push(t tally) {
	if n := len(p.tallies); n == cap(p.tallies) {
		if p.head > n/2 {
			p.tallies, p.head = p.tallies[:copy(p.tallies, p.tallies[p.head:])], 0
		} else {
			p.room()
		}
	}
	p.tallies = append(p.tallies, t)
}

// room takes tallies of nothing away, and more memory only if more than half is alive.
func (p *Place) room() {
	left := p.tallies[:0]
	for _, o := range p.tallies[p.head:] {
		if o.n > 0 {
			left = append(left, o)
		}
	}
	if size := cap(left); len(left) >= size/2 {
		left = append(make([]tally, 0, max(8, 2*size)), left...)
	}
	p.tallies, p.head = left, 0
}
