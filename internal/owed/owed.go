package owed

import (
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/transport"
)

// Host is the endpoint whose debts these are.
type Host interface {
	// Carrier is a lane on which so many bytes can be posted now, nil if there is none.
	Carrier(size int) transport.Endpoint
	// Wake asks for a Settle in this turn or the next; Posted says that something is under way.
	Wake()
	Posted()
	// Paid: the peer has all notes.
	Paid()
	// Returned: no answer needs the memory of a region that was removed.
	Returned(r *memory.Region)
}

// Debts are what is owed. Init makes them.
type Debts struct {
	host    Host
	frame   *transport.Frame
	head    []byte
	answers answers
	notes   notes
	puts    puts
	handled handled

	MaxFrame   int    // bytes of a frame
	ZeroCopy   int    // bytes from which an answer is sent from where it stands; 0: never
	OwnCredits int    // answers that this side has promised room for
	OwnBacklog uint64 // cost of messages that it takes before it has handled them
	Closed     bool   // nothing more is owed: the endpoint is over
}

// Init sets what belongs to the worker: scratch memory for a frame and its head.
func (d *Debts) Init(h Host, frame *transport.Frame, head []byte) {
	d.host, d.frame, d.head = h, frame, head
}

// Settle posts what can be posted, and says how many frames that were.
func (d *Debts) Settle() int { return d.postCredit() + d.postNotes() + d.postAnswers() + d.postPuts() }

// End forgets all; what is under way ends with its lane.
func (d *Debts) End(err error) {
	d.Closed = true
	d.endAnswers(err)
	d.endPuts()
	d.notes.left -= len(d.notes.queue)
	d.notes.queue = nil
}

// Left says how many answers, and messages that are to be put, wait for room, and how many notes the peer has not accepted.
func (d *Debts) Left() (answers, notes int) { return d.answers.n + d.puts.n, d.notes.left }

// post posts the frame that was made.
func (d *Debts) post(l transport.Endpoint) bool {
	s := l.Post(d.frame)
	return s == transport.Done || s == transport.Pending
}
