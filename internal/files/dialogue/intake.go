package dialogue

import (
	"errors"
	"fmt"
)

// Limits are what a receiver takes. Zero is no limit.
type Limits struct {
	Bytes uint64 // of a transfer
	Files uint32 // and directories
}

// maxListBytes are the names of a list: what a receiver keeps of it is bounded by this and by Limits.Files.
const maxListBytes = 64 << 20

// Action is what a note asks a side to do.
type Action uint8

const (
	Nothing Action = iota
	Check          // receiver: the list is complete: look at it, then Accepted
	Take           // receiver: Step.Piece is in its place: hash and write it, then Written
	Place          // receiver: no piece is missing: give names when all are written, then Placed
	Greet          // sender: offer, and list
	Begin          // sender: accepted: put pieces
	Again          // sender: a place is free
	Stop           // both: the other side has ended it
	Ended          // sender: done
)

func (a Action) String() string {
	return [...]string{"nothing", "check", "take", "place", "greet", "begin", "again", "stop", "ended"}[a]
}

// Step is the answer to a note.
type Step struct {
	Do     Action
	Piece  Piece  // Take
	Accept Accept // Begin
	Abort  Abort  // Stop
}

// Piece is one that is in its place.
type Piece struct {
	N       uint64
	Length  int
	Extents []Extent
	Sums    []Sum // one for each extent
}

// ErrViolated: the other side said what can't be.
var ErrViolated = errors.New("the other side breaks the file protocol")

// RefusedError: the receiver does not want that.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

// CodeOf is the code with which an error is told to the other side.
func CodeOf(err error) Code {
	var refused *RefusedError
	var version *VersionError
	switch {
	case errors.As(err, &refused), errors.As(err, &version):
		return Refused
	case errors.Is(err, ErrViolated), errors.Is(err, ErrNote), errors.Is(err, ErrList):
		return Violated
	}
	return Failed
}

// Intake is the receiver's side. It is for one goroutine at a time.
type Intake struct {
	Limits Limits
	List   []Entry // complete from Check on
	Offer  Offer

	state     State
	lister    Lister
	files     uint32
	listBytes int
	listed    uint64 // bytes

	cut      *Cutter
	window   uint64
	base     uint64  // the first piece that is not written
	next     uint64  // the first that is not cut
	places   []place // by number, modulo window
	over     bool    // the open file has ended, with piece next-1
	bytes    uint64  // announced
	announce uint64  // pieces announced
}

// place is where a piece is put.
type place struct {
	ext     []Extent
	taken   bool // announced
	written bool
}

// NewIntake is a receiver that waits for an offer.
func NewIntake(l Limits) *Intake { return &Intake{Limits: l, state: Waiting} }

// State is where it is in its life.
func (in *Intake) State() State { return in.state }

// Heard takes a note. An error ends the transfer; tell it to the other side (CodeOf). What is heard after the end is nothing.
func (in *Intake) Heard(n Note) (Step, error) {
	if in.state == Over || in.state == Aborted {
		return Step{}, nil
	}
	s, err := in.heard(n)
	if err != nil {
		in.Abort()
	}
	return s, err
}

func (in *Intake) heard(n Note) (Step, error) {
	switch n := n.(type) {
	case Offer:
		return in.offered(n)
	case List:
		return in.listing(n)
	case Data:
		return in.data(n)
	case Finish:
		return in.finish(n)
	case Alive:
		return Step{}, nil
	case Abort:
		in.Abort()
		return Step{Do: Stop, Abort: n}, nil
	}
	return Step{}, in.unexpected(fmt.Sprintf("%T", n))
}

func (in *Intake) unexpected(what string) error {
	return fmt.Errorf("%w: %s while %s", ErrViolated, what, in.state)
}

func (in *Intake) note(e Event, what string) error {
	if !ReceiverLife.Note(&in.state, e) {
		return in.unexpected(what)
	}
	return nil
}

func (in *Intake) offered(o Offer) (Step, error) {
	if err := in.note(WasOffered, "an offer"); err != nil {
		return Step{}, err
	}
	n := uint64(o.Files) + uint64(o.Dirs)
	switch {
	case n == 0:
		return Step{}, fmt.Errorf("%w: an offer of nothing", ErrViolated)
	case o.Open && o.Files == 0:
		return Step{}, fmt.Errorf("%w: an open file, and no files", ErrViolated)
	case in.Limits.Files > 0 && n > uint64(in.Limits.Files):
		return Step{}, &RefusedError{fmt.Sprintf("%d files and directories are more than the %d that this receiver takes at once; send fewer, or raise --max-files there", n, in.Limits.Files)}
	case in.Limits.Bytes > 0 && o.Bytes > in.Limits.Bytes:
		return Step{}, in.tooMuch(fmt.Sprintf("%d bytes are", o.Bytes))
	}
	in.Offer = o
	return Step{}, nil
}

func (in *Intake) tooMuch(what string) error {
	return &RefusedError{fmt.Sprintf("%s more than the %d bytes that this receiver takes at once; send less, or raise --max-bytes there", what, in.Limits.Bytes)}
}

func (in *Intake) listing(l List) (Step, error) {
	if in.state != Listing {
		return Step{}, in.unexpected("a list")
	}
	total := int(in.Offer.Files) + int(in.Offer.Dirs)
	if len(in.List)+len(l.Entries) > total {
		return Step{}, fmt.Errorf("%w: a list longer than the offer of %d", ErrViolated, total)
	}
	for i := range l.Entries {
		e := &l.Entries[i]
		if err := in.lister.Take(e); err != nil {
			return Step{}, err
		}
		if !e.Dir {
			in.files++
		}
		if e.Size > in.Offer.Bytes-in.listed {
			return Step{}, fmt.Errorf("%w: the list has more bytes than the offer, %d", ErrViolated, in.Offer.Bytes)
		}
		in.listed += e.Size
		if in.listBytes += e.bytes(); in.listBytes > maxListBytes {
			return Step{}, &RefusedError{fmt.Sprintf("the names alone are more than %d bytes; send it in parts", maxListBytes)}
		}
	}
	in.List = append(in.List, l.Entries...)
	if len(in.List) < total {
		return Step{}, nil
	}
	last := &in.List[total-1]
	if in.files != in.Offer.Files || in.listed != in.Offer.Bytes || in.Offer.Open && (last.Dir || last.Size > 0) {
		return Step{}, fmt.Errorf("%w: the list is not what was offered", ErrViolated)
	}
	return Step{Do: Check}, in.note(WasListed, "a list")
}

// Accepted says that the list was looked at, and that there is room for so many pieces.
func (in *Intake) Accepted(window int) {
	if ReceiverLife.Note(&in.state, WasAccepted) {
		in.window, in.places = uint64(window), make([]place, window)
		in.cut = NewCutter(in.List, in.Offer.Open)
	}
}

func (in *Intake) data(d Data) (Step, error) {
	if in.state != Taking {
		return Step{}, in.unexpected("a piece")
	}
	if d.N < in.base || d.N >= in.base+in.window {
		return Step{}, fmt.Errorf("%w: piece %d, when %d to %d may come", ErrViolated, d.N, in.base, in.base+in.window-1)
	}
	for in.next <= d.N {
		p := &in.places[in.next%in.window]
		var ok bool
		if p.ext, ok = in.cut.Next(p.ext[:0]); !ok {
			return Step{}, fmt.Errorf("%w: piece %d of %d", ErrViolated, d.N, in.next)
		}
		*p = place{ext: p.ext}
		in.next++
	}
	p := &in.places[d.N%in.window]
	if p.taken {
		return Step{}, fmt.Errorf("%w: piece %d twice", ErrViolated, d.N)
	}
	if err := in.fits(p, d); err != nil {
		return Step{}, err
	}
	in.bytes += uint64(d.Length)
	in.announce++
	if in.Limits.Bytes > 0 && in.bytes > in.Limits.Bytes {
		return Step{}, in.tooMuch("it is")
	}
	p.taken = true
	return Step{Do: Take, Piece: Piece{N: d.N, Length: int(d.Length), Extents: p.ext, Sums: d.Sums}}, nil
}

// fits compares what is said of a piece with what it must be.
func (in *Intake) fits(p *place, d Data) error {
	want := 0
	for _, x := range p.ext {
		want += x.Length
	}
	x := &p.ext[len(p.ext)-1]
	isOpen := in.Offer.Open && x.File == len(in.List)-1
	if isOpen && d.Last {
		if d.N != in.next-1 || d.Length > PieceBytes {
			return fmt.Errorf("%w: piece %d of %d bytes can't be the last", ErrViolated, d.N, d.Length)
		}
		x.Length, x.End, in.over = int(d.Length), true, true
		in.cut.End()
		want = x.Length
	} else if d.Last {
		return fmt.Errorf("%w: piece %d is said to end what is not open", ErrViolated, d.N)
	}
	if int(d.Length) != want || len(d.Sums) != len(p.ext) {
		return fmt.Errorf("%w: piece %d has %d bytes and %d digests, not %d and %d", ErrViolated, d.N, d.Length, len(d.Sums), want, len(p.ext))
	}
	return nil
}

// Written says that a piece was written, so that its place is free.
func (in *Intake) Written(n uint64) {
	in.places[n%in.window].written = true
	for in.base < in.next && in.places[in.base%in.window].written {
		in.base++
	}
}

func (in *Intake) finish(f Finish) (Step, error) {
	if in.state != Taking {
		return Step{}, in.unexpected("the end")
	}
	_, more := in.cut.Next(nil)
	if more || in.announce != in.next || in.Offer.Open && !in.over || f.Bytes != in.bytes {
		return Step{}, fmt.Errorf("%w: the end after %d pieces and %d bytes, which is not all", ErrViolated, in.announce, in.bytes)
	}
	return Step{Do: Place}, in.note(WasFinished, "the end")
}

// Complete says that all pieces are written.
func (in *Intake) Complete() bool { return in.state == Placing && in.base == in.next }

// Placed says that everything has its name. The note is for the other side.
func (in *Intake) Placed() Done {
	ReceiverLife.Note(&in.state, WasDone)
	return Done{Files: in.Offer.Files, Bytes: in.bytes}
}

// Bytes are those that were announced.
func (in *Intake) Bytes() uint64 { return in.bytes }

// Abort ends it.
func (in *Intake) Abort() { ReceiverLife.Note(&in.state, WasAborted) }
