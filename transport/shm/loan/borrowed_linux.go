package loan

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/segment"
)

// What is borrowed, over a ring's control frames of id 0 with a key as their body, and over the socket:
//
//	borrower ── ring: flagAsk, key ──────────────────────────────────────────> owner: may he?
//	         <── socket: | key 16 | size 64 | gate 32 | rights 8 | write 8 | 0 16 |  and the memory
//	      or <── ring: flagRecall, key: no. Also later: not any more ───────────

const (
	loanLen = 32
	// mostBorrowed keys are remembered, those that came to nothing, too; mostAsked of them may be under way.
	mostBorrowed = 1024
	mostAsked    = 32
)

// offer is what comes with memory.
type offer struct {
	key    transport.MemKey
	size   uint64 // of the memfd
	gate   uint32
	rights uint8
	write  bool
}

func offerOf(l transport.Loan, key transport.MemKey, gate, size int) offer {
	return offer{key: key, size: uint64(size), gate: uint32(gate), rights: l.Rights, write: l.Write}
}

func (o offer) bytes() []byte {
	b := binary.LittleEndian.AppendUint64(o.key[:len(o.key):len(o.key)], o.size)
	b = append(binary.LittleEndian.AppendUint32(b, o.gate), o.rights, 0, 0, 0)
	if o.write {
		b[29] = 1
	}
	return b
}

func parse(b []byte) (o offer, ok bool) {
	if len(b) != loanLen {
		return o, false
	}
	o.size, o.gate, o.rights, o.write = binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint32(b[24:]), b[28], b[29] == 1
	copy(o.key[:], b)
	return o, b[29] <= 1 && b[30] == 0 && b[31] == 0 && o.size < 1<<62 && o.gate < 1<<16
}

// Borrowed is what was borrowed, or asked for, over one connection. The zero value is nothing.
type Borrowed struct {
	by      map[transport.MemKey]*item
	last    transport.MemKey // found last, and what came of it so far
	lastWin *transport.Window
	waiting int  // items that are asked for
	closed  bool // nobody gets in, until Open
}

// item is what became of a key: asked for, here, or refused.
type item struct {
	asked  bool
	sent   bool // the peer sends from it, and is to hear that it is here
	rights uint8
	win    *transport.Window // nil: not here, or nobody gets in
	mem    *segment.Borrowed // nil: not here
}

// Waiting is how much is asked for and not answered: the socket may bring it.
func (b *Borrowed) Waiting() int { return b.waiting }

// Len is how many keys are remembered, those too that came to nothing.
func (b *Borrowed) Len() int { return len(b.by) }

// Find is what a key brought. known: it was asked for, whatever came of it.
func (b *Borrowed) Find(key transport.MemKey) (w *transport.Window, known bool) {
	if key == b.last && b.by != nil {
		return b.lastWin, true
	}
	x := b.by[key]
	if x == nil {
		return nil, false
	}
	b.last, b.lastWin = key, x.win
	return x.win, true
}

// Ask notes that a key that is not known is asked for; false: not now.
func (b *Borrowed) Ask(key transport.MemKey) bool {
	switch {
	case b.waiting >= mostAsked:
		return false
	case b.by == nil:
		b.by = map[transport.MemKey]*item{}
	case len(b.by) >= mostBorrowed && !b.forget():
		return false
	}
	b.by[key] = &item{asked: true}
	b.waiting++
	return true
}

// AskSent is Ask for memory that the peer sends from.
func (b *Borrowed) AskSent(key transport.MemKey) bool {
	if _, ok := number(key); !ok || b.by[key] != nil || !b.Ask(key) {
		return false
	}
	b.by[key].sent = true
	return true
}

// forget forgets what was refused, and says whether there was something.
func (b *Borrowed) forget() bool {
	n := len(b.by)
	for key, x := range b.by { // in any order
		if !x.asked && x.mem == nil {
			delete(b.by, key)
		}
	}
	b.last, b.lastWin = transport.MemKey{}, nil
	return len(b.by) < n
}

// told notes that there is news of a key.
func (b *Borrowed) told(x *item) {
	if x.asked {
		x.asked = false
		b.waiting--
	}
	b.last, b.lastWin = transport.MemKey{}, nil
}

// Here maps what a peer lends, as it came over the socket. sent: he sends from it, and is to hear that it is here.
//
// Errors: transport.ErrProtocol.
func (b *Borrowed) Here(msg []byte, fd int) (key transport.MemKey, sent bool, err error) {
	o, ok := parse(msg)
	x := b.by[o.key]
	if !ok || fd < 0 || x == nil || !x.asked {
		if fd >= 0 {
			unix.Close(fd)
		}
		if ok && fd >= 0 {
			return key, false, nil // it was recalled before it came
		}
		return key, false, fmt.Errorf("%w: what the peer sent on the socket is no memory", transport.ErrProtocol)
	}
	b.told(x)
	mem, err := segment.Borrow(fd, int(o.size), int(o.gate), o.write)
	if err != nil {
		return key, false, fmt.Errorf("%w: %w", transport.ErrProtocol, err)
	}
	x.mem, x.rights = mem, o.rights
	if !b.closed {
		x.open()
	}
	return o.key, x.sent, nil
}

// open lets its owner in.
func (x *item) open() { x.win = transport.NewWindow(x.mem.Bytes(), x.mem.Gate(), x.rights) }

// Close lets nobody in to what was borrowed and will be, until Open: it is kept. Nobody is inside: copies are made by who calls this.
func (b *Borrowed) Close() {
	if b.closed {
		return
	}
	b.closed = true
	for _, x := range b.by { // in any order
		if x.win != nil {
			x.win.Close()
			x.win = nil
		}
	}
	b.last, b.lastWin = transport.MemKey{}, nil
}

// Open ends what Close began.
func (b *Borrowed) Open() {
	if !b.closed {
		return
	}
	b.closed = false
	for _, x := range b.by { // in any order
		if x.mem != nil {
			x.open()
		}
	}
	b.last, b.lastWin = transport.MemKey{}, nil
}

// Recalled unmaps what the peer wants back, or notes that he lends nothing.
//
// Errors: transport.ErrProtocol.
func (b *Borrowed) Recalled(key transport.MemKey) error {
	x := b.by[key]
	if x == nil || !x.asked && x.mem == nil {
		return fmt.Errorf("%w: the peer wants memory back that nobody has", transport.ErrProtocol)
	}
	b.told(x)
	if x.mem != nil {
		x.drop()
		delete(b.by, key)
	}
	return nil
}

func (x *item) drop() {
	if x.win != nil {
		x.win.Close()
	}
	if x.mem != nil {
		x.mem.Close()
	}
	x.win, x.mem = nil, nil
}

// GiveBack unmaps all that was borrowed. Nobody is inside: copies are made by who calls this.
func (b *Borrowed) GiveBack() {
	for _, x := range b.by { // in any order
		x.drop()
	}
	*b = Borrowed{}
}
