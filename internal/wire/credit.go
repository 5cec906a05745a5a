package wire

// CreditSize is the size of the head of a Credit.
const CreditSize = 8

// Credit says how much of the peer's messages this side has handled, all together: what it has accepted and not handled
// has a limit (Hello.Backlog), which the sender keeps. An older one that comes late says nothing new.
type Credit struct {
	Handled uint64 // sum of MessageCost
}

// AppendTo appends the head to b.
func (h Credit) AppendTo(b []byte) []byte { return le.AppendUint64(b, h.Handled) }

// DecodeCredit reads the head of a Credit.
//
// Errors: *FormatError.
func DecodeCredit(b []byte) (Credit, error) {
	if err := exact("Credit", b, CreditSize); err != nil {
		return Credit{}, err
	}
	return Credit{Handled: le.Uint64(b)}, nil
}

// MessageCost is what a message counts until it is handled: one without a byte isn't free.
func MessageCost(header, payload int) uint64 { return uint64(header) + uint64(payload) + 256 }
