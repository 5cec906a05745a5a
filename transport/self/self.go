package self

import "github.com/openbraid/braid/transport"

const (
	maxHead  = 4096
	maxFrame = 1<<20 + maxHead
	speed    = 100_000 // Mbit/s: what one processor copies
	zeroCopy = 4 << 10 // from here a copy costs more than asking for a place and saying Sent

	defaultWindow = 4 << 20
	// maxOutstanding frames, however small they are: each costs an entry in the books.
	maxOutstanding = 16 << 10

	host = "self" // of every address
)

// Options of the transport. There is nothing to set.
type Options struct{}

type self struct{}

// New makes the transport.
//
// Source: uct_self component.
func New(Options) transport.Transport { return self{} }

// Name implements transport.Transport.
func (self) Name() string { return "self" }

// Open implements transport.Transport. Interfaces don't know each other: what one listens on, another can't dial.
func (self) Open(env transport.Env) (transport.Iface, error) {
	f := &iface{env: env, lastPort: firstPort, pool: newPool()}
	if err := f.bell.open(); err != nil {
		return nil, &Error{Op: opOpen, Err: err}
	}
	return f, nil
}
