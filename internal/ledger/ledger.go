package ledger

import "github.com/openbraid/braid/transport"

// Entry is one frame in the books.
type Entry struct {
	transport.Frame
	Size     int               // bytes of head and payload, even when they were let go
	Mem      *transport.Buffer // holds Head and a copied Payload; released with the entry; may be nil
	Unsent   bool              // zero-copy payload still in use: Sent is owed
	Released bool              // Head and Payload were let go (no retention)
}

// Ledger is the list of outstanding frames, in posting order. The zero value is ready.
type Ledger struct {
	ring   []Entry // power of two
	acked  uint64  // index of the first entry
	posted uint64
	told   uint64 // highest acknowledgement: unlike acked it doesn't move by Purge and Cancel

	postedBytes, ackedBytes uint64
	trips                   uint64

	held   bool
	purged bool
	at     uint64 // position of the purge
}

// Posted is the count of frames ever pushed.
func (l *Ledger) Posted() uint64 { return l.posted }

// Acked is the index of the first entry that is outstanding.
func (l *Ledger) Acked() uint64 { return l.acked }

// Len is the number of outstanding frames.
func (l *Ledger) Len() int { return int(l.posted - l.acked) }

// Bytes is the size of the outstanding frames.
func (l *Ledger) Bytes() uint64 { return l.postedBytes - l.ackedBytes }

// Held says whether the ledger takes neither entries nor acknowledgements.
func (l *Ledger) Held() bool { return l.held }

// Hold freezes the books until Purge or Cancel. Idempotent.
func (l *Ledger) Hold() { l.held = true }

// Counts fills in the sender's half of an endpoint's counts.
func (l *Ledger) Counts(c *transport.Counts) {
	c.Posted, c.Acked = l.posted, l.acked
	c.PostedBytes, c.AckedBytes = l.postedBytes, l.ackedBytes
	c.RoundTrips = l.trips
}

// At is the entry with the given index, acked <= i < posted.
func (l *Ledger) At(i uint64) *Entry { return &l.ring[i&uint64(len(l.ring)-1)] }

// Push appends a frame and returns its entry for the transport to fill in Head, Payload and Mem.
// Held books take none: that would be a frame that nobody ever ends.
func (l *Ledger) Push(f *transport.Frame) *Entry {
	if l.held {
		panic("ledger: push into held books: the endpoint must say Failed")
	}
	if l.Len() == len(l.ring) {
		l.grow()
	}
	e := l.At(l.posted)
	*e = Entry{Frame: *f, Size: f.Len(), Unsent: f.ZeroCopy}
	l.posted++
	l.postedBytes += uint64(e.Size)
	return e
}

func (l *Ledger) grow() {
	ring := make([]Entry, max(64, 2*len(l.ring)))
	for i := l.acked; i < l.posted; i++ {
		ring[i&uint64(len(ring)-1)] = *l.At(i)
	}
	l.ring = ring
}

// Ack ends the frames before position n as executed. A position outside of [acked, posted] is
// ErrPosition and changes nothing; a held ledger ignores it.
func (l *Ledger) Ack(n uint64) error {
	if l.held || n == l.acked {
		return nil
	}
	if n < l.acked || n > l.posted {
		return transport.ErrPosition
	}
	l.trips++
	l.told = n
	l.endTo(n, nil)
	return nil
}

// Passed ends the only frame that is outstanding as executed, without a word to who posted it: he knows. Nothing of its memory is in the books any more.
func (l *Ledger) Passed() {
	e := l.At(l.acked)
	l.ackedBytes += uint64(e.Size)
	*e = Entry{}
	l.acked++
	l.told = l.acked
	l.trips++
}

// Release lets go of an entry's memory before it is acknowledged, and says Sent if that is owed.
func (l *Ledger) Release(e *Entry) {
	if e.Released {
		return
	}
	e.Released = true
	e.Head, e.Payload = nil, nil
	if e.Mem != nil {
		e.Mem.Release()
		e.Mem = nil
	}
	if e.Unsent {
		e.Unsent = false
		if e.Done != nil {
			e.Done.Sent(e.Tag)
		}
	}
}

// pop takes the first entry out of the books and returns it.
func (l *Ledger) pop() Entry {
	e := l.At(l.acked)
	out := *e
	*e = Entry{} // no reference stays behind
	l.acked++
	l.ackedBytes += uint64(out.Size)
	return out
}

func (l *Ledger) endTo(n uint64, err error) (count int) {
	for l.acked < n {
		e := l.pop()
		if e.Mem != nil {
			e.Mem.Release()
		}
		if e.Done != nil {
			if e.Unsent {
				e.Done.Sent(e.Tag)
			}
			e.Done.Executed(e.Tag, err)
		}
		count++
	}
	return count
}

// Purge is transport.Endpoint.PurgeOutstanding.
func (l *Ledger) Purge(position uint64, fn func(f *transport.Frame) error) (transport.PurgeResult, error) {
	var r transport.PurgeResult
	if !l.held {
		return r, transport.ErrNotHeld
	}
	if l.purged && position != l.at || position < l.told || position > l.posted {
		r.Remaining = l.Len()
		return r, transport.ErrPosition
	}
	l.purged, l.at = true, position
	r.Delivered = l.endTo(position, nil)
	for l.acked < l.posted {
		at := l.acked
		if err := fn(&l.At(at).Frame); err != nil {
			r.Remaining = l.Len()
			return r, err
		}
		if l.acked != at { // fn ended the books itself, by Cancel
			return r, nil
		}
		if e := l.pop(); e.Mem != nil {
			e.Mem.Release()
		}
		r.Handed++
	}
	return r, nil
}

// Cancel ends everything that is outstanding with err and holds the ledger.
func (l *Ledger) Cancel(err error) {
	l.held = true
	l.endTo(l.posted, err)
}

// Detach copies the zero-copy payloads of the frames whose Done match accepts, so that their owner can have them back.
// It returns whether there was one. Sent is not called for them any more.
func (l *Ledger) Detach(match func(transport.Completer) bool) bool {
	found := false
	for i := l.acked; i < l.posted; i++ {
		e := l.At(i)
		if !e.Unsent || !match(e.Done) {
			continue
		}
		e.Payload = append([]byte(nil), e.Payload...)
		e.Unsent, e.ZeroCopy = false, false
		found = true
	}
	return found
}
