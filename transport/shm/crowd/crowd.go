package crowd

import (
	"slices"

	"github.com/openbraid/braid/transport/shm/ring"
)

const (
	// Most is up to how many members none dozes.
	Most = 128
	// Quiet is after how many turns that brought nothing a member dozes: polling it has cost then what a bell does.
	Quiet = 256
	// Bells is after how many turns the system is asked for bells while somebody dozes.
	Bells = 4
	// drowse is after how many turns the quiet ones are looked for.
	drowse = 64

	// Roomy so many connections of a worker get large rings, if it dials them.
	Roomy = 16
)

// The sizes of rings.
const (
	fullSlots, fullData = 2048, 512 << 10
	fewSlots, fewData   = 256, 4 * ring.Piece
)

// Shape is that of the rings of a worker's n-th connection, where asked says nothing else.
func Shape(asked ring.Shape, n int) ring.Shape {
	slots, data := fullSlots, fullData
	if n > Roomy {
		slots, data = fewSlots, fewData
	}
	if asked.Slots == 0 {
		asked.Slots = slots
	}
	if asked.Data == 0 {
		asked.Data = data
	}
	return asked
}

// Place is a member's in the crowd.
type Place struct {
	moved uint32 // the turn in which it brought something last
	dozes bool
}

// Dozes says whether it does.
func (p *Place) Dozes() bool { return p.dozes }

// Member is a connection.
type Member interface {
	comparable
	Place() *Place
	// Lie has it say that it is polled no more; false: it can't be now.
	Lie() bool
}

// Crowd is one worker's connections. The zero value has none.
type Crowd[M Member] struct {
	Polled []M
	Dozing int // how many do
}

// Add takes one in, which is polled.
func (c *Crowd[M]) Add(m M, turn uint32) {
	c.Polled = append(c.Polled, m)
	m.Place().moved = turn
}

// Moved notes that it brought something.
func (p *Place) Moved(turn uint32) { p.moved = turn }

// Drowse has those doze that have brought nothing for a while, where there are many.
func (c *Crowd[M]) Drowse(turn uint32) {
	if len(c.Polled)+c.Dozing <= Most || turn%drowse != 0 {
		return
	}
	c.Polled = slices.DeleteFunc(c.Polled, func(m M) bool {
		p := m.Place()
		if p.dozes = turn-p.moved >= Quiet && m.Lie(); p.dozes {
			c.Dozing++
		}
		return p.dozes
	})
}

// Stir has a member polled again.
func (c *Crowd[M]) Stir(m M, turn uint32) {
	p := m.Place()
	p.moved = turn
	if p.dozes {
		p.dozes = false
		c.Dozing--
		c.Polled = append(c.Polled, m)
	}
}

// Leave takes one out, wherever it is.
func (c *Crowd[M]) Leave(m M) {
	if p := m.Place(); p.dozes {
		p.dozes = false
		c.Dozing--
	} else if i := slices.Index(c.Polled, m); i >= 0 {
		c.Polled = slices.Delete(c.Polled, i, i+1)
	}
}
