package braid

import (
	"fmt"
	"io"

	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/worker"
)

// Secret proves the two ends of an endpoint to each other: both sides are given the same one, in Options, or in a call of Listen or Dial
// for that alone. Who can't prove that he has it doesn't get in, and is not let in. The zero value is no secret.
//
// What is proven are the ends, not the bytes: nothing is encrypted, and nothing is authenticated after the handshake. All who have the
// secret are equal. See docs/security.md.
//
// It is never printed: fmt, slog and JSON say "set" or "unset". Text shows it.
type Secret struct{ s secret.Secret }

// NewSecret makes a secret of 32 random bytes.
func NewSecret() Secret { return Secret{secret.New()} }

// SecretOf makes a secret of random bytes that somebody else has made, at least 16. They are copied.
//
// Errors: ErrSecret: too few, or all the same.
func SecretOf(random []byte) (Secret, error) {
	s, err := secret.From(random)
	return Secret{s}, secretError(err)
}

// ParseSecret reads what Text and `braid secret` write, or at least 32 hexadecimal digits. Space around it is ignored, as a line end.
//
// Errors: ErrSecret. What is wrong is said, and nothing of the text.
func ParseSecret(text string) (Secret, error) {
	s, err := secret.Parse(text)
	return Secret{s}, secretError(err)
}

func secretError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("braid: %w", err)
}

// Text is the secret itself, one word of letters, digits, - and _; "" if there is none. Keep it where only those can read it who may have it.
func (s Secret) Text() string { return s.s.Text() }

// IsSet says whether there is a secret.
func (s Secret) IsSet() bool { return s.s.IsSet() }

// Equal says whether two secrets are the same, or both not set.
func (s Secret) Equal(o Secret) bool { return s.s.Equal(o.s) }

// String says "set" or "unset".
func (s Secret) String() string { return s.s.String() }

// Format says the same, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText says the same to JSON, slog and others.
func (s Secret) MarshalText() ([]byte, error) { return s.s.MarshalText() }

// UnmarshalText is ParseSecret, for settings and flags. The zero value can't be read this way: leave it out.
func (s *Secret) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSecret(string(text))
	return err
}

// ListenOption changes what one Listen does. A Secret is one: it counts instead of that of Options.
type ListenOption interface{ listen(*worker.ListenOptions) }

// DialOption changes what one Dial does. A Secret is one: it counts instead of that of Options.
type DialOption interface{ dial(*worker.DialOptions) }

func (s Secret) listen(o *worker.ListenOptions) { o.Secret = s.s }
func (s Secret) dial(o *worker.DialOptions)     { o.Secret = s.s }
