package owed

import (
	"fmt"

	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// handled is what the peer's messages cost: of those accepted, of those that the user is done with, and what the peer was told of that.
type handled struct{ taken, done, told uint64 }

// Share: a receiver tells when a share of its limit was handled. So while a sender has no more than that share untold, it may go on: nothing else
// would ever come.
const Share = 8

// Accepted counts a message of the peer that is whole. The error says that the peer does not keep the limit.
func (d *Debts) Accepted(cost uint64) error {
	c := &d.handled
	if open := c.taken - c.done; open > d.OwnBacklog {
		return fmt.Errorf("messages of %d bytes wait to be handled, at most %d may", open, d.OwnBacklog)
	}
	c.taken += cost
	return nil
}

// Handled notes that the user is done with a message, and tells the peer if it is time.
func (d *Debts) Handled(cost uint64) {
	d.handled.done += cost
	if d.creditDue() {
		d.host.Wake()
	}
}

func (d *Debts) creditDue() bool {
	c := &d.handled
	return c.done-c.told > d.OwnBacklog/Share
}

// creditDone is the debts as the Completer of a Credit, which nobody waits for.
type creditDone Debts

func (*creditDone) Sent(uint64)            {}
func (*creditDone) Executed(uint64, error) {}

// postCredit tells the peer what was handled. It is a data frame: a lost lane doesn't lose it.
func (d *Debts) postCredit() int {
	if !d.creditDue() || d.Closed {
		return 0
	}
	l := d.host.Carrier(wire.CreditSize)
	if l == nil {
		return 0
	}
	c := &d.handled
	*d.frame = transport.Frame{ID: wire.IDCredit, Head: wire.Credit{Handled: c.done}.AppendTo(d.head[:0]), Done: (*creditDone)(d)}
	if !d.post(l) {
		return 0
	}
	c.told = c.done
	return 1
}
