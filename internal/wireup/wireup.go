package wireup

import (
	"errors"
	"fmt"

	"github.com/openbraid/braid/internal/secret"
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

// Is makes it an ErrRefused, and ErrVersion or ErrSecret where that is why.
func (e *RefusedError) Is(target error) bool {
	return target == ErrRefused || target == wire.ErrVersion && e.Code == wire.RejectVersion || target == secret.ErrSecret && e.Code == wire.RejectSecret
}

// Verdict is what a message of the handshake comes to.
type Verdict uint8

const (
	More      Verdict = iota // the next message decides
	Hello                    // acceptor: Step.Hello wants in
	Up                       // opener: the lane is up, Step.Ack says how; Confirm is to be sent
	Confirmed                // acceptor: the lane that was agreed to is up
	Busy                     // opener: take another instance
	Closed                   // opener: the endpoint is gone, Step.Closed says whose
	Refused                  // over, for the reason in Step.Err
)

// Step is the outcome of one message.
type Step struct {
	Verdict Verdict
	Hello   wire.Hello
	Ack     wire.HelloAck
	Closed  wire.EPClosed
	Err     error
}

// phase is what a side waits for.
type phase uint8

const (
	forPreface phase = iota
	forHello         // acceptor
	deciding         // acceptor: its engine is to answer
	forConfirm       // acceptor, with a secret
	forAnswer        // opener
	over
)

// Machine is one side of one handshake.
type Machine struct {
	opener bool
	phase  phase
	keys   Keys
	said   transcript     // with a secret
	nonce  [16]byte       // of the opener's Hello
	inst   wire.Instance  // of the opener's Hello
	join   wire.JoinProof // of the opener's Hello
	peer   wire.Preface
}

// Open is the side that wants a lane. It puts its proofs into the Hello, and into the Preface that is to go before it.
func Open(k Keys, h *wire.Hello) (Machine, wire.Preface) {
	h.Join = JoinProof(k.Join, h)
	m := Machine{opener: true, keys: k, nonce: h.Nonce, inst: h.Instance, join: h.Join}
	p := wire.Preface{Nonce: h.Nonce}
	if k.Secret.IsSet() {
		p.Flags = wire.FlagSecret
		m.said.addPreface(p)
		m.said.add(wire.IDHello, h.AppendTo(nil))
		p.Proof = k.Secret.MAC(opensWith, m.said)
	}
	return m, p
}

// Accept is the other side.
func Accept(s secret.Secret) Machine { return Machine{keys: Keys{Secret: s}} }

func refused(err error) Step { return Step{Verdict: Refused, Err: err} }

// Greeted says whether the peer speaks braid: its Preface has come. Whether the proof in it is right is seen when the Hello has come, too, and that decides.
func (m *Machine) Greeted() bool { return m.phase != forPreface }

// Confirms says that the opener has proved itself by what anybody may have recorded: a lane that is agreed to is up when it has confirmed it.
func (m *Machine) Confirms() bool { return m.proves() }

// Frame takes the next frame of the peer.
func (m *Machine) Frame(id uint8, body []byte) Step {
	s := m.frame(id, body)
	if s.Verdict != More && m.phase != deciding {
		m.phase = over
	}
	return s
}

func (m *Machine) frame(id uint8, body []byte) Step {
	switch m.phase {
	case forPreface:
		return m.preface(id, body)
	case forHello:
		return m.hello(id, body)
	case forAnswer:
		return m.answer(id, body)
	case forConfirm:
		return m.confirmed(id, body)
	case deciding, over:
	}
	return refused(fmt.Errorf("%w: %s after its end", ErrOrder, wire.Name(id)))
}

func (m *Machine) preface(id uint8, body []byte) Step {
	if id != wire.IDPreface {
		return refused(wire.ErrMagic)
	}
	var err error
	if m.peer, err = wire.DecodePreface(body); err != nil {
		return refused(err)
	}
	m.phase = forHello
	if m.opener {
		m.phase = forAnswer
	}
	switch proves := m.proves(); {
	case proves == m.keys.Secret.IsSet():
		if proves {
			m.said.addPreface(m.peer)
		}
	case m.opener && !proves: // it may be about to say that it has none
	case m.opener, !proves:
		return refused(errDialerHasNone)
	default:
		return refused(errListenerHasNone)
	}
	return Step{Verdict: More}
}

// proves says whether the peer has put a proof into its Preface.
func (m *Machine) proves() bool { return m.peer.Flags&wire.FlagSecret != 0 }

// hello looks at a Hello only if its sender has proved to have the secret.
func (m *Machine) hello(id uint8, body []byte) Step {
	if id != wire.IDHello {
		return refused(fmt.Errorf("%w: %s instead of Hello", ErrOrder, wire.Name(id)))
	}
	if m.proves() {
		if m.said.add(id, body); !same(m.peer.Proof, m.keys.Secret.MAC(opensWith, m.said)) {
			return refused(errDiffer)
		}
	}
	h, err := wire.DecodeHello(body)
	if err != nil {
		return refused(err)
	}
	m.phase, m.join = deciding, h.Join
	return Step{Verdict: Hello, Hello: h}
}

// Answer is the acceptor's word on a Hello, or why there is none that it could take. It returns the Preface that is to go before it. join is
// the key of the endpoint whose further lane it agrees to.
func (m *Machine) Answer(nonce [16]byte, join wire.JoinKey, id uint8, body []byte) wire.Preface {
	p := wire.Preface{Nonce: nonce}
	if m.phase != deciding || !m.proves() {
		m.phase = over
		return p
	}
	p.Flags = wire.FlagSecret
	m.said.addPreface(p)
	m.said.add(id, body)
	m.keys.Join = join
	key, purpose := m.keys.answerKey(id)
	p.Proof = key.MAC(purpose, m.said)
	m.phase = over
	if id == wire.IDHelloAck {
		m.phase = forConfirm
	}
	return p
}

// JoinKey is the key of an endpoint whose first lane was agreed to here. Without a secret it is the one that the acceptor has told.
func (m *Machine) JoinKey(told wire.JoinKey) wire.JoinKey {
	if m.proves() {
		sum := m.keys.Secret.MAC(joinKeyFor, m.said)
		copy(told[:], sum[:])
	}
	return told
}

// Confirm is what the opener of a lane that is up here has to send first. Without a secret there is nothing to send.
func (m *Machine) Confirm() (c wire.Confirm, needed bool) {
	if !m.proves() {
		return c, false
	}
	key := m.keys.laneKey()
	c.Proof = key.MAC(confirmsWith, m.said)
	return c, true
}

func (m *Machine) confirmed(id uint8, body []byte) Step {
	if id != wire.IDConfirm {
		return refused(fmt.Errorf("%w: %s instead of Confirm", ErrOrder, wire.Name(id)))
	}
	c, err := wire.DecodeConfirm(body)
	if err != nil {
		return refused(err)
	}
	key := m.keys.laneKey()
	if !same(c.Proof, key.MAC(confirmsWith, m.said)) {
		return refused(errNotConfirmed)
	}
	return Step{Verdict: Confirmed}
}

func (m *Machine) answer(id uint8, body []byte) Step {
	if m.proves() {
		m.said.add(id, body)
		key, purpose := m.keys.answerKey(id)
		if !same(m.peer.Proof, key.MAC(purpose, m.said)) {
			return refused(errWrongAnswer)
		}
	} else if m.keys.Secret.IsSet() && id != wire.IDReject {
		return refused(errNoProof)
	}
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
		// A peer that could not read our Hello has no nonce to echo, and maybe no secret: believe it, it can only end this attempt.
		return refused(&RefusedError{r.Code, r.Text})
	default:
		return refused(fmt.Errorf("%w: %s instead of an answer", ErrOrder, wire.Name(id)))
	}
	switch {
	case s.Err != nil:
		return refused(s.Err)
	case nonce != m.nonce || inst != m.inst:
		return refused(fmt.Errorf("%w: %s answers another Hello", ErrOrder, wire.Name(id)))
	case s.Verdict == Up && !m.keys.Join.IsZero() && !m.admitted(s.Ack.Join):
		return refused(errNotThePeer)
	}
	return s
}

// RejectFor is the Reject that tells a peer why its Preface or Hello was not taken.
func RejectFor(err error) wire.Reject {
	code := wire.RejectBad
	switch {
	case errors.Is(err, wire.ErrVersion) || errors.Is(err, wire.ErrUnsupported):
		code = wire.RejectVersion
	case errors.Is(err, secret.ErrSecret):
		code = wire.RejectSecret
	}
	return wire.Reject{Code: code, Text: err.Error()}
}
