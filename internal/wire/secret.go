package wire

import (
	"fmt"
	"io"
)

// JoinKey is what the two sides of an endpoint know and others don't: with it a further lane is proved to belong to the endpoint. It is
// never printed.
type JoinKey [16]byte

// JoinProof is what the opener of a further lane makes of the key and of what the lane is to be: internal/wireup says how.
type JoinProof [16]byte

// String says "set" or "unset".
func (p JoinProof) String() string { return shown(p != JoinProof{}) }

// Format says the same, whatever the verb.
func (p JoinProof) Format(f fmt.State, _ rune) { io.WriteString(f, p.String()) }

// MarshalText says the same to JSON and slog.
func (p JoinProof) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// IsZero says whether there is no key.
func (k JoinKey) IsZero() bool { return k == JoinKey{} }

// String says "set" or "unset".
func (k JoinKey) String() string { return shown(!k.IsZero()) }

// Format says the same, whatever the verb.
func (k JoinKey) Format(f fmt.State, _ rune) { io.WriteString(f, k.String()) }

// MarshalText says the same to JSON and slog.
func (k JoinKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Secret is the unguessable part of a remote key. It is never printed.
type Secret uint64

// String says "set" or "unset".
func (s Secret) String() string { return shown(s != 0) }

// Format says the same, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText says the same to JSON and slog.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func shown(set bool) string {
	if set {
		return "set"
	}
	return "unset"
}
