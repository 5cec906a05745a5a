package wireup

import (
	"crypto/subtle"
	"encoding/binary"

	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/wire"
)

// Keys are what a side proves itself with.
type Keys struct {
	Secret secret.Secret // not set: nothing is proved, and nothing asked for
	Join   wire.JoinKey  // of the endpoint; zero on its first lane
}

// What a proof is for. Each has the role of who makes it, so that nobody's proof can be sent back to him, or stand for another one.
const (
	opensWith     = "braid opener offers"
	agreesWith    = "braid acceptor agrees"
	declinesWith  = "braid acceptor declines"
	confirmsWith  = "braid opener confirms"
	laneKeyFor    = "braid further lane"
	joinKeyFor    = "braid join key"
	dialerJoins   = "braid dialer joins"
	acceptorJoins = "braid acceptor joins"
	admitsWith    = "braid further lane admitted"
)

const (
	proofOff       = wire.PrefaceSize - len(wire.Proof{}) // in a Preface
	transcriptRoom = 1024                                 // is enough for most
)

// transcript is the messages of a handshake in the order in which they were sent, each with id and length in front.
type transcript []byte

func (t *transcript) add(id uint8, body []byte) {
	if *t == nil {
		*t = make([]byte, 0, transcriptRoom)
	}
	*t = append(binary.LittleEndian.AppendUint16(append(*t, id), uint16(len(body))), body...)
}

// laneKey is the secret of one lane: a further one needs the join key too.
func (k *Keys) laneKey() secret.Secret {
	if k.Join.IsZero() {
		return k.Secret
	}
	return k.Secret.Derive(laneKeyFor, k.Join[:])
}

// answerKey is what the acceptor proves an answer with. Who declines need not know the endpoint.
func (k *Keys) answerKey(id uint8) (secret.Secret, string) {
	if id == wire.IDHelloAck {
		return k.laneKey(), agreesWith
	}
	return k.Secret, declinesWith
}

// addPreface adds a Preface without its proof.
func (t *transcript) addPreface(p wire.Preface) {
	p.Proof = wire.Proof{}
	t.add(wire.IDPreface, p.AppendTo(nil)[:proofOff])
}

func same(a, b wire.Proof) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }

// JoinProof is what a Hello for a further lane of the endpoint with this key must have in it.
func JoinProof(k wire.JoinKey, h *wire.Hello) (p wire.JoinProof) {
	key, err := secret.From(k[:])
	if err != nil {
		return p // no key, no proof
	}
	purpose := dialerJoins
	if h.Instance.Opener == wire.Acceptor {
		purpose = acceptorJoins
	}
	b := append(make([]byte, 0, 56), h.Nonce[:]...)
	for _, v := range [...]uint64{h.Instance.N, h.Incarnation, h.Endpoint, h.PeerIncarnation, h.PeerEndpoint} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	sum := key.MAC(purpose, b)
	copy(p[:], sum[:])
	return p
}

// Joins says whether a Hello proves that it is for the endpoint with this key.
func Joins(k wire.JoinKey, h *wire.Hello) bool {
	want := JoinProof(k, h)
	return !k.IsZero() && subtle.ConstantTimeCompare(want[:], h.Join[:]) == 1
}

// Admits is what a HelloAck for a further lane of the endpoint with this key must have in it: who agrees knows the key as well as who asked. What the Hello's join
// proof covers, its nonce above all, is covered here.
func (m *Machine) Admits(k wire.JoinKey) (p wire.JoinProof) {
	if key, err := secret.From(k[:]); err == nil {
		sum := key.MAC(admitsWith, m.join[:])
		copy(p[:], sum[:])
	}
	return p
}

func (m *Machine) admitted(p wire.JoinProof) bool {
	want := m.Admits(m.keys.Join)
	return subtle.ConstantTimeCompare(want[:], p[:]) == 1
}

// proofError is why somebody was not believed. It goes to both sides, so it is said as both can read it.
type proofError string

func (e proofError) Error() string { return string(e) }

// Unwrap makes it a secret.ErrSecret.
func (e proofError) Unwrap() error { return secret.ErrSecret }

const (
	errDialerHasNone   proofError = "the listening side asks for a secret, and the dialing side has none: give both the same"
	errListenerHasNone proofError = "the dialing side asks for a secret, and the listening side has none: give both the same"
	errDiffer          proofError = "the two sides have different secrets, or somebody in between changes what they say: give both the same"
	errNoProof         proofError = "who answers there does not prove that he has the secret"
	errWrongAnswer     proofError = "who answers there does not have the same secret, or not this endpoint's key"
	errNotThePeer      proofError = "who answers there does not have this endpoint's key: it is somebody else"
	errNotConfirmed    proofError = "the dialing side does not prove that it has the secret: its last proof is wrong"
)
