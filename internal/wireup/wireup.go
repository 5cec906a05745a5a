package wireup

import (
	"errors"
	"fmt"

	"github.com/openbraid/braid/internal/wire"
)

// ErrOrder: a handshake message that may not come now.
var ErrOrder = errors.New("wireup: unexpected message in the handshake")

// ErrRefused is matched by a *RefusedError.
var ErrRefused = errors.New("wireup: refused by the peer")

// RefusedError is a peer's Reject.
type RefusedError struct {
	Code wire.RejectCode
	Text string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("refused by the peer (%v): %s", e.Code, e.Text)
}

// Is makes it an ErrRefused, and ErrVersion where that is why.
func (e *RefusedError) Is(target error) bool {
	return target == ErrRefused || target == wire.ErrVersion && e.Code == wire.RejectVersion
}

// Verdict is what a message of the handshake comes to.
type Verdict uint8

const (
	More    Verdict = iota // the next message decides
	Hello                  // acceptor: Step.Hello wants in
	Up                     // opener: the lane is up, Step.Ack says how
	Busy                   // opener: take another instance
	Closed                 // opener: the endpoint is gone, Step.Closed says whose
	Refused                // over, for the reason in Step.Err
)

// Step is the outcome of one message.
type Step struct {
	Verdict Verdict
	Hello   wire.Hello
	Ack     wire.HelloAck
	Closed  wire.EPClosed
	Err     error
}

// Machine is one side of one handshake.
type Machine struct {
	opener  bool
	nonce   [16]byte // of the opener's Hello
	inst    wire.Instance
	preface bool
	over    bool
}

// Open is the side that sent the given Hello.
func Open(h *wire.Hello) Machine { return Machine{opener: true, nonce: h.Nonce, inst: h.Instance} }

// Accept is the other side.
func Accept() Machine { return Machine{} }

func refused(err error) Step { return Step{Verdict: Refused, Err: err} }

// Greeted says whether the peer has proved to be one, by its Preface.
func (m *Machine) Greeted() bool { return m.preface }

// Frame takes the next frame of the peer.
func (m *Machine) Frame(id uint8, body []byte) Step {
	s := m.frame(id, body)
	m.over = s.Verdict != More
	return s
}

func (m *Machine) frame(id uint8, body []byte) Step {
	if m.over {
		return refused(fmt.Errorf("%w: %s after its end", ErrOrder, wire.Name(id)))
	}
	if !m.preface {
		if id != wire.IDPreface {
			return refused(wire.ErrMagic)
		}
		if _, err := wire.DecodePreface(body); err != nil {
			return refused(err)
		}
		m.preface = true
		return Step{Verdict: More}
	}
	if m.opener {
		return m.answer(id, body)
	}
	if id != wire.IDHello {
		return refused(fmt.Errorf("%w: %s instead of Hello", ErrOrder, wire.Name(id)))
	}
	h, err := wire.DecodeHello(body)
	if err != nil {
		return refused(err)
	}
	return Step{Verdict: Hello, Hello: h}
}

func (m *Machine) answer(id uint8, body []byte) Step {
	var s Step
	var nonce [16]byte
	inst := m.inst
	switch id {
	case wire.IDHelloAck:
		s.Verdict = Up
		s.Ack, s.Err = wire.DecodeHelloAck(body)
		nonce, inst = s.Ack.Nonce, s.Ack.Instance
	case wire.IDBusy:
		var b wire.Busy
		s.Verdict = Busy
		b, s.Err = wire.DecodeBusy(body)
		nonce, inst = b.Nonce, b.Instance
	case wire.IDEPClosed:
		s.Verdict = Closed
		s.Closed, s.Err = wire.DecodeEPClosed(body)
		nonce = s.Closed.Nonce
	case wire.IDReject:
		r, err := wire.DecodeReject(body)
		if err != nil {
			return refused(err)
		}
		// A peer that could not read our Hello has no nonce to echo: believe it, it can only end this attempt.
		return refused(&RefusedError{r.Code, r.Text})
	default:
		return refused(fmt.Errorf("%w: %s instead of an answer", ErrOrder, wire.Name(id)))
	}
	switch {
	case s.Err != nil:
		return refused(s.Err)
	case nonce != m.nonce || inst != m.inst:
		return refused(fmt.Errorf("%w: %s answers another Hello", ErrOrder, wire.Name(id)))
	}
	return s
}

// RejectFor is the Reject that tells a peer why its Preface or Hello was not taken.
func RejectFor(err error) wire.Reject {
	code := wire.RejectBad
	if errors.Is(err, wire.ErrVersion) || errors.Is(err, wire.ErrUnsupported) {
		code = wire.RejectVersion
	}
	return wire.Reject{Code: code, Text: err.Error()}
}
