package dialogue

import "fmt"

// Outgo is the sender's side. It is for one goroutine at a time.
type Outgo struct {
	state  State
	window uint64
	base   uint64 // the first piece that is not free
	next   uint64 // the first that was not taken
	freed  []bool // by number, modulo window
	files  uint32
	bytes  uint64 // of the pieces that were announced
}

// NewOutgo is a sender that waits for a receiver.
func NewOutgo(o Offer) *Outgo { return &Outgo{state: Greeting, files: o.Files} }

// State is where it is in its life.
func (o *Outgo) State() State { return o.state }

// Heard takes a note. An error ends the transfer; tell it to the other side (CodeOf). What is heard after the end is nothing.
func (o *Outgo) Heard(n Note) (Step, error) {
	if o.state == Over || o.state == Aborted {
		return Step{}, nil
	}
	s, err := o.heard(n)
	if err != nil {
		o.Abort()
	}
	return s, err
}

func (o *Outgo) heard(n Note) (Step, error) {
	switch n := n.(type) {
	case Ready:
		return Step{Do: Greet}, o.note(WasReady, n)
	case Accept:
		if n.Window == 0 || n.Window > Window {
			return Step{}, fmt.Errorf("%w: room for %d pieces", ErrViolated, n.Window)
		}
		if err := o.note(WasAccepted, n); err != nil {
			return Step{}, err
		}
		o.window, o.freed = uint64(n.Window), make([]bool, n.Window)
		return Step{Do: Begin, Accept: n}, nil
	case Free:
		return o.free(n)
	case Alive:
		return Step{}, nil
	case Done:
		if n.Files != o.files || n.Bytes != o.bytes || o.base != o.next {
			return Step{}, fmt.Errorf("%w: done with %d files and %d bytes, of %d and %d", ErrViolated, n.Files, n.Bytes, o.files, o.bytes)
		}
		return Step{Do: Ended}, o.note(WasDone, n)
	case Abort:
		o.Abort()
		return Step{Do: Stop, Abort: n}, nil
	}
	return Step{}, fmt.Errorf("%w: %T while %s", ErrViolated, n, o.state)
}

func (o *Outgo) note(e Event, n Note) error {
	if !SenderLife.Note(&o.state, e) {
		return fmt.Errorf("%w: %T while %s", ErrViolated, n, o.state)
	}
	return nil
}

func (o *Outgo) free(f Free) (Step, error) {
	if f.N < o.base || f.N >= o.next || o.freed[f.N%o.window] {
		return Step{}, fmt.Errorf("%w: place of piece %d, which is not under way", ErrViolated, f.N)
	}
	o.freed[f.N%o.window] = true
	for o.base < o.next && o.freed[o.base%o.window] {
		o.freed[o.base%o.window] = false
		o.base++
	}
	return Step{Do: Again}, nil
}

// Take is the number of the next piece, if there is a place for it.
func (o *Outgo) Take() (n uint64, ok bool) {
	if o.state != Sending || o.next == o.base+o.window {
		return 0, false
	}
	o.next++
	return o.next - 1, true
}

// Announced counts the bytes of a piece whose Data is sent now.
func (o *Outgo) Announced(length int) { o.bytes += uint64(length) }

// Finished says that all pieces were announced. The note is for the other side.
func (o *Outgo) Finished() Finish {
	SenderLife.Note(&o.state, WasFinished)
	return Finish{Bytes: o.bytes}
}

// Abort ends it.
func (o *Outgo) Abort() { SenderLife.Note(&o.state, WasAborted) }
