package wireup

import (
	"bytes"
	"errors"
	"testing"

	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/wire"
)

// said is one message of a handshake.
type said struct {
	id   uint8
	body []byte
}

// The messages of a handshake that goes well, by their place in it.
const (
	atPreface = iota
	atHello
	atAnswerPreface
	atAnswer
	atConfirm
	places
)

// rehearsal is a handshake between two machines, with somebody in between.
type rehearsal struct {
	opener, acceptor Keys // Join of the acceptor: that of the endpoint whose further lane it takes it for
	hello            wire.Hello
	nonce            [16]byte // of the acceptor
	decline          bool     // the acceptor answers Busy

	between func(place int, m said) said // nil: hands on what it gets

	// What came of it.
	all     [places]said
	up      [2]bool
	err     [2]error
	key     [2]wire.JoinKey
	verdict Verdict // of the answer, at the opener
}

func (r *rehearsal) pass(place int, id uint8, body []byte) (uint8, []byte) {
	m := said{id, bytes.Clone(body)}
	r.all[place] = said{id, bytes.Clone(body)}
	if r.between != nil {
		m = r.between(place, m)
	}
	return m.id, m.body
}

func (r *rehearsal) run() *rehearsal {
	h := r.hello
	o, preface := Open(r.opener, &h)
	a := Accept(r.acceptor.Secret)
	step := func(m *Machine, place int, id uint8, body []byte) Step {
		s := m.Frame(r.pass(place, id, body))
		if s.Verdict == Refused && m == &a {
			r.err[1] = s.Err
		} else if s.Verdict == Refused {
			r.err[0] = s.Err
		}
		return s
	}
	if step(&a, atPreface, wire.IDPreface, preface.AppendTo(nil)).Verdict == Refused {
		r.refuse(&o, &a)
		return r
	}
	s := step(&a, atHello, wire.IDHello, h.AppendTo(nil))
	if s.Verdict != Hello {
		r.refuse(&o, &a)
		return r
	}
	if !r.acceptor.Join.IsZero() && !Joins(r.acceptor.Join, &s.Hello) {
		r.err[1] = errors.New("the engine finds that the join proof is wrong")
		return r
	}
	id, body := wire.IDHelloAck, wire.HelloAck{Nonce: s.Hello.Nonce, Instance: s.Hello.Instance, Incarnation: 9, Endpoint: 1,
		Mode: wire.ModeFailover, MaxFrame: MinFrame, MaxMessage: 1, Join: a.Admits(r.acceptor.Join), Addrs: []string{"10.0.0.1:7"}}.AppendTo(nil)
	if r.decline {
		id, body = wire.IDBusy, wire.Busy{Nonce: s.Hello.Nonce, Instance: s.Hello.Instance}.AppendTo(nil)
	}
	back := a.Answer(r.nonce, r.acceptor.Join, id, body)
	r.key[1] = a.JoinKey(wire.JoinKey{})
	r.up[1] = !r.decline && !a.Confirms()
	if step(&o, atAnswerPreface, wire.IDPreface, back.AppendTo(nil)).Verdict == Refused {
		return r
	}
	s = step(&o, atAnswer, id, body)
	r.verdict = s.Verdict
	if s.Verdict != Up {
		return r
	}
	r.up[0], r.key[0] = true, o.JoinKey(wire.JoinKey{})
	if c, needed := o.Confirm(); needed {
		r.up[1] = step(&a, atConfirm, wire.IDConfirm, c.AppendTo(nil)).Verdict == Confirmed
	}
	return r
}

// refuse lets the acceptor say why.
func (r *rehearsal) refuse(o, a *Machine) {
	body := RejectFor(r.err[1]).AppendTo(nil)
	p := a.Answer(r.nonce, wire.JoinKey{}, wire.IDReject, body)
	if s := o.Frame(wire.IDPreface, p.AppendTo(nil)); s.Verdict == Refused {
		r.err[0] = s.Err
		return
	}
	r.err[0] = o.Frame(wire.IDReject, body).Err
}

var (
	firstHello = wire.Hello{Nonce: [16]byte{1, 2, 3}, Instance: wire.Instance{Opener: wire.Dialer, N: 1}, Incarnation: 5, Endpoint: 6,
		Mode: wire.ModeFailover, MaxFrame: MinFrame, MaxMessage: 1, Name: "opener"}
	endpointKey = wire.JoinKey{7, 8, 9}
)

func furtherHello() wire.Hello {
	h := firstHello
	h.Instance.N, h.PeerIncarnation, h.PeerEndpoint = 2, 9, 1
	return h
}

// good are handshakes that go well: a first lane, and a further one.
func good(t testing.TB) map[string]rehearsal {
	s := key(t, "a secret that both sides have")
	return map[string]rehearsal{
		"first":   {opener: Keys{Secret: s}, acceptor: Keys{Secret: s}, hello: firstHello, nonce: [16]byte{4, 5, 6}},
		"further": {opener: Keys{s, endpointKey}, acceptor: Keys{s, endpointKey}, hello: furtherHello(), nonce: [16]byte{4, 5, 6}},
	}
}

// BenchmarkHandshake is both sides of one, in memory: what a secret costs a lane.
func BenchmarkHandshake(b *testing.B) {
	for name, g := range good(b) {
		open := g
		open.opener.Secret, open.acceptor.Secret = secret.Secret{}, secret.Secret{}
		for kind, r := range map[string]rehearsal{"open": open, "secret": g} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				for b.Loop() {
					x := r
					if x.run(); x.up != [2]bool{true, true} {
						b.Fatal(x.err)
					}
				}
			})
		}
	}
}
