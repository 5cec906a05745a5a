package packet

import "fmt"

// Syndrome is the first byte of an AETH: an acknowledgement with credits, a receiver that isn't ready, or a refusal.
type Syndrome uint8

// What the upper bits of a syndrome say.
const (
	ack = 0x00
	rnr = 0x20
	nak = 0x60
)

// The refusals.
const (
	NakSequence  Syndrome = nak     // a gap: the PSN is what was expected
	NakRequest   Syndrome = nak | 1 // invalid request
	NakAccess    Syndrome = nak | 2 // remote access error
	NakOperation Syndrome = nak | 3 // remote operational error
)

// noCredit is the credit code of a responder that doesn't count.
const noCredit = 31

// credits are how many messages a credit code allows.
var credits = [31]int{0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
	6144, 8192, 12288, 16384, 24576, 32768}

// Ack is an acknowledgement that allows n further messages, rounded down to what has a code; n < 0: as many as one likes.
func Ack(n int) Syndrome {
	if n < 0 {
		return ack | noCredit
	}
	code := len(credits) - 1
	for credits[code] > n {
		code--
	}
	return ack | Syndrome(code)
}

// RNR is a receiver that isn't ready, with the code of the time to wait.
func RNR(timer uint8) Syndrome { return rnr | Syndrome(timer&31) }

// IsAck says whether it acknowledges.
func (s Syndrome) IsAck() bool { return s&0xe0 == ack }

// IsRNR says whether the receiver wasn't ready; Timer is the code of the time to wait.
func (s Syndrome) IsRNR() bool { return s&0xe0 == rnr }

// IsNak says whether it refuses.
func (s Syndrome) IsNak() bool { return s&0xe0 == nak }

// Timer is the code of an RNR.
func (s Syndrome) Timer() uint8 { return uint8(s & 31) }

// Credits is how many messages an acknowledgement allows beyond those it counts; -1 if it doesn't say.
func (s Syndrome) Credits() int {
	if code := s & 31; code < noCredit {
		return credits[code]
	}
	return -1
}

func (s Syndrome) String() string {
	switch {
	case s.IsAck():
		return fmt.Sprintf("ack, credits %d", s.Credits())
	case s.IsRNR():
		return fmt.Sprintf("rnr, timer %d", s.Timer())
	case s == NakSequence:
		return "nak sequence"
	case s == NakRequest:
		return "nak invalid request"
	case s == NakAccess:
		return "nak remote access"
	case s == NakOperation:
		return "nak remote operation"
	}
	return fmt.Sprintf("syndrome %#02x", uint8(s))
}
