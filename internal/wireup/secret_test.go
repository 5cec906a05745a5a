package wireup

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/wire"
)

func key(t testing.TB, text string) secret.Secret {
	t.Helper()
	s, err := secret.From([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSecretMatrix: with the same secret on both sides, or none, there is a lane. Otherwise there is none, and both sides say why.
func TestSecretMatrix(t *testing.T) {
	none, a, b := secret.Secret{}, key(t, "a secret that both sides have"), key(t, "a secret that one side has")
	for _, c := range []struct {
		name             string
		opener, acceptor secret.Secret
		want             error
	}{
		{"none", none, none, nil},
		{"the same", a, a, nil},
		{"opener only", a, none, errListenerHasNone},
		{"acceptor only", none, a, errDialerHasNone},
		{"different", a, b, errDiffer},
	} {
		r := (&rehearsal{opener: Keys{Secret: c.opener}, acceptor: Keys{Secret: c.acceptor}, hello: firstHello}).run()
		if c.want == nil {
			if r.up != [2]bool{true, true} || r.key[0] != r.key[1] || r.key[0].IsZero() == c.opener.IsSet() {
				t.Errorf("%s: up %v, %v, keys %v, same %v", c.name, r.up, r.err, r.key, r.key[0] == r.key[1])
			}
			continue
		}
		if r.up != [2]bool{} || r.err[1] != c.want || !errors.Is(r.err[0], secret.ErrSecret) || !errors.Is(r.err[1], secret.ErrSecret) {
			t.Errorf("%s: up %v, %v", c.name, r.up, r.err)
		}
		if !strings.Contains(fmt.Sprint(r.err[0]), c.want.Error()) {
			t.Errorf("%s: the opener is told %v", c.name, r.err[0])
		}
	}
}

// TestEachBit: whatever single bit of whatever message is changed on its way, whoever gets it does not take the lane for up.
func TestEachBit(t *testing.T) {
	for name, g := range good(t) {
		whole := g
		if whole.run(); whole.up != [2]bool{true, true} {
			t.Fatalf("%s: %v", name, whole.err)
		}
		for place := range places {
			for bit := range 8 * len(whole.all[place].body) {
				r := g
				r.between = func(at int, m said) said {
					if at == place {
						m.body[bit/8] ^= 1 << (bit % 8)
					}
					return m
				}
				getter := 1
				if place == atAnswerPreface || place == atAnswer {
					getter = 0
				}
				if r.run(); r.up[getter] || r.err[getter] == nil {
					t.Fatalf("%s: bit %d of %s is changed: up %v, %v", name, bit, wire.Name(whole.all[place].id), r.up, r.err)
				}
				if getter == 0 && r.up[1] {
					t.Fatalf("%s: up at the acceptor without a word of the opener", name)
				}
			}
		}
	}
}

// TestCutOrSwapped: messages that are cut, longer, of another kind, or missing.
func TestCutOrSwapped(t *testing.T) {
	for name, g := range good(t) {
		for place := range places {
			for what, change := range map[string]func(said) said{
				"empty":        func(m said) said { return said{m.id, nil} },
				"cut":          func(m said) said { return said{m.id, m.body[:len(m.body)-1]} },
				"half":         func(m said) said { return said{m.id, m.body[:len(m.body)/2]} },
				"longer":       func(m said) said { return said{m.id, append(m.body, 0)} },
				"another kind": func(m said) said { return said{m.id + 1, m.body} },
				"a Preface":    func(m said) said { return said{wire.IDPreface, m.body} },
				"a Confirm":    func(m said) said { return said{wire.IDConfirm, m.body} },
			} {
				r := g
				before := said{}
				r.between = func(at int, m said) said {
					if at == place {
						before = m
						m = change(m)
					}
					return m
				}
				r.run()
				if after := change(before); after.id == before.id && bytes.Equal(after.body, before.body) {
					continue
				}
				if r.up[1] || (place == atAnswerPreface || place == atAnswer) && r.up[0] {
					t.Errorf("%s, message %d %s: up %v", name, place, what, r.up)
				}
			}
		}
	}
}

// TestReplayed: what was said in another handshake, between the same two, with the same secret, is worth nothing in this one: not the
// whole of one side, and no single message.
func TestReplayed(t *testing.T) {
	for name, g := range good(t) {
		old := g
		old.hello.Nonce, old.nonce = [16]byte{0xaa}, [16]byte{0xbb}
		old.run()
		t.Run(name+", all of the opener", func(t *testing.T) {
			r := g
			r.between = func(at int, m said) said {
				if at == atPreface || at == atHello || at == atConfirm {
					return old.all[at]
				}
				return m
			}
			if r.run(); r.up[1] {
				t.Error("the acceptor takes it for the opener")
			}
		})
		t.Run(name+", with the Confirm", func(t *testing.T) { // a whole recording, without any opener
			a := Accept(g.acceptor.Secret)
			a.Frame(wire.IDPreface, old.all[atPreface].body)
			if s := a.Frame(wire.IDHello, old.all[atHello].body); s.Verdict != Hello {
				t.Fatalf("%v: the test is of no use", s.Err)
			}
			a.Answer(g.nonce, g.acceptor.Join, old.all[atAnswer].id, old.all[atAnswer].body)
			if s := a.Frame(wire.IDConfirm, old.all[atConfirm].body); s.Verdict != Refused || !errors.Is(s.Err, secret.ErrSecret) {
				t.Errorf("%v, %v", s.Verdict, s.Err)
			}
		})
		t.Run(name+", all of the acceptor", func(t *testing.T) {
			r := g
			r.between = func(at int, m said) said {
				if at == atAnswerPreface || at == atAnswer {
					return old.all[at]
				}
				return m
			}
			if r.run(); r.up[0] || !errors.Is(r.err[0], secret.ErrSecret) {
				t.Errorf("the opener takes it for the acceptor: %v", r.err[0])
			}
		})
		for place := range places {
			r := g
			r.between = func(at int, m said) said {
				if at == place {
					return old.all[at]
				}
				return m
			}
			if r.run(); r.up[0] && r.up[1] {
				t.Errorf("%s: message %d of another handshake is taken", name, place)
			}
		}
	}
}

// TestReflected: nobody is convinced by what he himself has said, whatever it is sent back as.
func TestReflected(t *testing.T) {
	for name, g := range good(t) {
		g.run()
		h := g.hello
		o, preface := Open(g.opener, &h)
		o.Frame(wire.IDPreface, preface.AppendTo(nil))
		for _, id := range []uint8{wire.IDHello, wire.IDHelloAck, wire.IDBusy, wire.IDEPClosed, wire.IDConfirm} {
			m := o
			if s := m.Frame(id, h.AppendTo(nil)); s.Verdict != Refused {
				t.Errorf("%s: its own Hello is taken as %s", name, wire.Name(id))
			}
		}
		// The answer's proof, sent back as Confirm; and the opener's first one.
		for _, proof := range [][]byte{g.all[atAnswerPreface].body[32:], g.all[atPreface].body[32:]} {
			r := g
			r.between = func(at int, m said) said {
				if at == atConfirm {
					m.body = proof
				}
				return m
			}
			if r.run(); r.up[1] {
				t.Errorf("%s: the acceptor takes a proof of another role", name)
			}
		}
	}
}

// TestDowngrade: who has a secret can't be talked out of it by somebody in between.
func TestDowngrade(t *testing.T) {
	plain := func(m said) said {
		p, err := wire.DecodePreface(m.body)
		if err != nil {
			t.Fatal(err)
		}
		p.Flags, p.Proof = 0, wire.Proof{}
		return said{m.id, p.AppendTo(nil)}
	}
	for name, g := range good(t) {
		for what, where := range map[string][]int{"opener": {atPreface}, "acceptor": {atAnswerPreface}, "both": {atPreface, atAnswerPreface}} {
			r := g
			r.between = func(at int, m said) said {
				for _, w := range where {
					if at == w {
						return plain(m)
					}
				}
				return m
			}
			if r.run(); r.up != [2]bool{} {
				t.Errorf("%s, %s: up %v", name, what, r.up)
			}
		}
		// An acceptor without a secret that says nothing of it, or says no in a way that could end more than this attempt.
		for _, id := range []uint8{wire.IDHelloAck, wire.IDBusy, wire.IDEPClosed} {
			h := g.hello
			o, _ := Open(g.opener, &h)
			o.Frame(wire.IDPreface, wire.Preface{}.AppendTo(nil))
			body := map[uint8][]byte{
				wire.IDHelloAck: g.all[atAnswer].body,
				wire.IDBusy:     wire.Busy{Nonce: h.Nonce, Instance: h.Instance}.AppendTo(nil),
				wire.IDEPClosed: wire.EPClosed{Nonce: h.Nonce, Incarnation: 4}.AppendTo(nil),
			}[id]
			if s := o.Frame(id, body); s.Verdict != Refused || !errors.Is(s.Err, secret.ErrSecret) {
				t.Errorf("%s: %s without a proof: %v, %v", name, wire.Name(id), s.Verdict, s.Err)
			}
		}
	}
}

// TestDeclinedWithProof: also who says no proves who he is: or anybody could tell an opener that its endpoint is gone.
func TestDeclinedWithProof(t *testing.T) {
	for name, g := range good(t) {
		g.decline = true
		if g.run(); g.verdict != Busy || g.up != [2]bool{} {
			t.Fatalf("%s: %v, %v", name, g.verdict, g.err)
		}
		r := g
		r.between = func(at int, m said) said {
			if at == atAnswer {
				return said{wire.IDEPClosed, wire.EPClosed{Nonce: firstHello.Nonce, Incarnation: 4}.AppendTo(nil)}
			}
			return m
		}
		if r.run(); !errors.Is(r.err[0], secret.ErrSecret) {
			t.Errorf("%s: another answer under the proof of the first: %v", name, r.err[0])
		}
	}
}

// TestJoinKeys: a further lane needs the key of its endpoint, with a secret and without.
func TestJoinKeys(t *testing.T) {
	s := key(t, "a secret that both sides have")
	old := wire.JoinKey{1}
	for _, with := range []secret.Secret{{}, s} {
		for _, c := range []struct {
			name             string
			opener, acceptor wire.JoinKey
			up               bool
		}{{"the same", endpointKey, endpointKey, true}, {"an old one", old, endpointKey, false}, {"none", wire.JoinKey{}, endpointKey, false}} {
			r := (&rehearsal{opener: Keys{with, c.opener}, acceptor: Keys{with, c.acceptor}, hello: furtherHello()}).run()
			if r.up[0] != c.up || r.up[1] != c.up {
				t.Errorf("%v, %s: up %v, %v", with, c.name, r.up, r.err)
			}
		}
	}
	// Who has the secret, but not the key, can't answer for the acceptor, nor confirm for the opener.
	h := furtherHello()
	o, p := Open(Keys{s, endpointKey}, &h)
	a := Accept(s)
	a.Frame(wire.IDPreface, p.AppendTo(nil))
	a.Frame(wire.IDHello, h.AppendTo(nil))
	ack := wire.HelloAck{Nonce: h.Nonce, Instance: h.Instance, Incarnation: 9, Endpoint: 1, Mode: wire.ModeFailover, MaxFrame: MinFrame, MaxMessage: 1}.AppendTo(nil)
	back := a.Answer([16]byte{1}, old, wire.IDHelloAck, ack)
	o.Frame(wire.IDPreface, back.AppendTo(nil))
	if s := o.Frame(wire.IDHelloAck, ack); s.Verdict != Refused || !errors.Is(s.Err, secret.ErrSecret) {
		t.Errorf("an acceptor without the endpoint's key: %v, %v", s.Verdict, s.Err)
	}
	thief := Machine{opener: true, keys: Keys{Secret: s}, said: a.said, peer: wire.Preface{Flags: wire.FlagSecret}}
	c, _ := thief.Confirm()
	if s := a.Frame(wire.IDConfirm, c.AppendTo(nil)); s.Verdict != Refused {
		t.Error("an opener without the endpoint's key is taken")
	}
}

// TestJoinProof: it is of one side, one lane, one attempt, and one pair of endpoints.
func TestJoinProof(t *testing.T) {
	h := furtherHello()
	h.Join = JoinProof(endpointKey, &h)
	if !Joins(endpointKey, &h) {
		t.Fatal("the right one is refused")
	}
	for what, change := range map[string]func(h *wire.Hello){
		"the other side's":   func(h *wire.Hello) { h.Instance.Opener = wire.Acceptor },
		"another lane's":     func(h *wire.Hello) { h.Instance.N++ },
		"another attempt's":  func(h *wire.Hello) { h.Nonce[15]++ },
		"another process's":  func(h *wire.Hello) { h.Incarnation++ },
		"another endpoint's": func(h *wire.Hello) { h.Endpoint++ },
		"for another one":    func(h *wire.Hello) { h.PeerEndpoint++ },
		"of another peer":    func(h *wire.Hello) { h.PeerIncarnation++ },
		"cut":                func(h *wire.Hello) { h.Join[15] = 0 },
		"none":               func(h *wire.Hello) { h.Join = wire.JoinProof{} },
	} {
		other := h
		if change(&other); Joins(endpointKey, &other) && other != h {
			t.Errorf("%s is taken", what)
		}
	}
	none := furtherHello()
	if Joins(wire.JoinKey{}, &none) {
		t.Error("without a key, nothing is a proof")
	}
}

// TestNoTwoMeanings: each proof has a purpose of its own, and no two conversations have one transcript.
func TestNoTwoMeanings(t *testing.T) {
	purposes := map[string]bool{}
	for _, p := range []string{opensWith, agreesWith, declinesWith, confirmsWith, laneKeyFor, joinKeyFor, dialerJoins, acceptorJoins, admitsWith} {
		if purposes[p] || strings.Contains(p, "\x00") {
			t.Errorf("%q has two meanings", p)
		}
		purposes[p] = true
	}
	seen := map[string]int{}
	for i, talk := range [][]said{
		{{2, []byte("abc")}}, {{2, []byte("ab")}, {'c', nil}}, {{2, []byte("a")}, {2, []byte("bc")}}, {{2, []byte("ab")}, {2, []byte("c")}}, {{3, []byte("abc")}},
		{{2, append([]byte("ab"), 2, 1, 0, 'c')}},
	} {
		var tr transcript
		for _, m := range talk {
			tr.add(m.id, m.body)
		}
		if before, twice := seen[string(tr)]; twice {
			t.Errorf("conversations %d and %d look the same", before, i)
		}
		seen[string(tr)] = i
	}
}

// FuzzHandshake: whatever comes, from whoever, in whatever order: no panic, an end after few messages, and never a lane for who has not the secret.
func FuzzHandshake(f *testing.F) {
	s := key(f, "what the fuzzer does not know")
	for _, g := range good(f) {
		g.run()
		for from := range places {
			var b []byte
			for _, m := range g.all[from:] {
				b = append(append(b, m.id, byte(len(m.body)), byte(len(m.body)>>8)), m.body...)
			}
			f.Add(b, true)
			f.Add(b, false)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, listens bool) {
		h := furtherHello()
		m, _ := Open(Keys{s, endpointKey}, &h)
		if listens {
			m = Accept(s)
		}
		plain, _ := Open(Keys{}, &h)
		if listens {
			plain = Accept(secret.Secret{})
		}
		for n := 0; len(b) >= 3; n++ {
			id, size := b[0], min(int(b[1])|int(b[2])<<8, len(b)-3)
			body := b[3 : 3+size : 3+size]
			b = b[3+size:]
			if v := m.Frame(id, body).Verdict; v != More && v != Refused {
				t.Fatalf("%d for who does not have the secret", v)
			}
			if v := plain.Frame(id, body).Verdict; v == Hello {
				plain.Answer([16]byte{1}, wire.JoinKey{}, wire.IDHelloAck, nil)
			} else if n > 2 && v != Refused {
				t.Fatalf("message %d is still taken: %d", n, v)
			}
		}
	})
}
