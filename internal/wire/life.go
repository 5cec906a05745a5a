package wire

import "strconv"

// Ping asks for a Pong with the same content on the same lane: proof of a round trip.
type Ping struct {
	Nonce uint64
	Time  uint64 // nanoseconds of the sender's clock: means nothing to the peer
}

// Pong answers a Ping.
type Pong Ping

const pingSize = 16

// AppendTo appends the message to b.
func (m Ping) AppendTo(b []byte) []byte { return appendPair(b, m.Nonce, m.Time) }

// AppendTo appends the message to b.
func (m Pong) AppendTo(b []byte) []byte { return appendPair(b, m.Nonce, m.Time) }

// DecodePing reads a Ping.
//
// Errors: *FormatError.
func DecodePing(b []byte) (Ping, error) {
	if err := exact("Ping", b, pingSize); err != nil {
		return Ping{}, err
	}
	return Ping{Nonce: le.Uint64(b), Time: le.Uint64(b[8:])}, nil
}

// DecodePong reads a Pong.
//
// Errors: *FormatError.
func DecodePong(b []byte) (Pong, error) {
	if err := exact("Pong", b, pingSize); err != nil {
		return Pong{}, err
	}
	return Pong{Nonce: le.Uint64(b), Time: le.Uint64(b[8:])}, nil
}

// CloseCode is how an endpoint ends.
type CloseCode uint16

const (
	CloseGraceful CloseCode = 0 // all is done
	CloseAborted  CloseCode = 1 // outstanding operations are dropped
)

func (c CloseCode) String() string {
	switch c {
	case CloseGraceful:
		return "graceful"
	case CloseAborted:
		return "aborted"
	}
	return "close(" + strconv.Itoa(int(c)) + ")"
}

// Close says that its sender closes the endpoint. It is answered with Closed.
type Close struct {
	Code CloseCode
}

// AppendTo appends the message to b.
func (m Close) AppendTo(b []byte) []byte { return le.AppendUint16(b, uint16(m.Code)) }

// DecodeClose reads a Close.
//
// Errors: *FormatError.
func DecodeClose(b []byte) (Close, error) {
	if err := exact("Close", b, 2); err != nil {
		return Close{}, err
	}
	m := Close{Code: CloseCode(le.Uint16(b))}
	if m.Code > CloseAborted {
		return Close{}, bad("Close", 0, "code is unknown")
	}
	return m, nil
}

// Closed answers a Close. It has no content.
type Closed struct{}

// AppendTo appends the message to b.
func (Closed) AppendTo(b []byte) []byte { return b }

// DecodeClosed reads a Closed.
//
// Errors: *FormatError.
func DecodeClosed(b []byte) (Closed, error) { return Closed{}, exact("Closed", b, 0) }
