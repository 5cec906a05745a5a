package wire

import (
	"fmt"
	"io"
)

// JoinKey proves that a further lane belongs to an endpoint. It is never printed.
type JoinKey [16]byte

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
