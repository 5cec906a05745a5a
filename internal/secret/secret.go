package secret

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MinSize is the least number of bytes, Size that of a new secret.
const (
	MinSize = 16
	Size    = 32
)

// ErrSecret is in every error about a secret.
var ErrSecret = errors.New("secret")

// Secret is set or, as the zero value, not. It is a value: copies are the same secret.
//
// The bytes are behind a function: fmt looks into fields that are not exported without asking their methods, and also behind pointers.
type Secret struct {
	key func() []byte // nil: not set
}

// of keeps the bytes.
func of(b []byte) Secret { return Secret{func() []byte { return b }} }

// New makes a secret of random bytes.
func New() Secret {
	b := make([]byte, Size)
	rand.Read(b)
	return of(b)
}

// From makes a secret of bytes, which it copies.
//
// Errors: ErrSecret, if they are too few, or can't be random.
func From(b []byte) (Secret, error) {
	switch {
	case len(b) < MinSize:
		return Secret{}, fmt.Errorf("%w: it has %d bytes, at least %d random ones are needed; `braid secret` makes one", ErrSecret, len(b), MinSize)
	case bytes.Count(b, b[:1]) == len(b):
		return Secret{}, fmt.Errorf("%w: all its bytes are the same: they were never filled with random ones; `braid secret` makes one", ErrSecret)
	}
	return of(bytes.Clone(b)), nil
}

// IsSet says whether there is a secret.
func (s Secret) IsSet() bool { return s.key != nil }

// Equal says whether two secrets are the same, or both not set, without telling by its time where they differ.
func (s Secret) Equal(o Secret) bool {
	if s.key == nil || o.key == nil {
		return !s.IsSet() && !o.IsSet()
	}
	return hmac.Equal(s.key(), o.key())
}

// MAC is HMAC-SHA256 of the purpose and the message under the secret. A purpose is a constant of the program, without a zero byte.
func (s Secret) MAC(purpose string, message []byte) (sum [sha256.Size]byte) {
	if s.key == nil {
		panic("secret: a proof without a secret")
	}
	h := hmac.New(sha256.New, s.key())
	io.WriteString(h, purpose)
	h.Write([]byte{0})
	h.Write(message)
	h.Sum(sum[:0])
	return sum
}

// Derive is a secret that only those have who have this one and the message.
func (s Secret) Derive(purpose string, message []byte) Secret {
	sum := s.MAC(purpose, message)
	return of(sum[:])
}

// String says "set" or "unset".
func (s Secret) String() string {
	if s.IsSet() {
		return "set"
	}
	return "unset"
}

// Format says the same, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText says the same to JSON and slog.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is Parse.
func (s *Secret) UnmarshalText(text []byte) (err error) {
	*s, err = Parse(strings.TrimSpace(string(text)))
	return err
}
