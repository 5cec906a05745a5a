package braid

import (
	"context"
	"fmt"

	"github.com/openbraid/braid/internal/address"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/worker"
)

// Address is where one worker is reached, on all of its rails: some bytes, or one word of text, that travel by any way. It names the worker and its process, so it leads to
// nobody else, and is out of date once they are gone.
//
// Without a secret who has the address gets in: hand it to those only that may, or set Options.Secret. It can't be changed or cut unnoticed.
//
// Source: ucp_address_t.
type Address struct{ a address.Address }

// everywhere is where a worker is bound to be reached by its address.
var everywhere = []string{"[::]:0", "0.0.0.0:0"}

// Address is where peers reach the worker by Connect, with no listener that the program would have to make: from the first call on, at a port that the system picks, on all
// rails, until the worker is closed. Only who has the address gets in, and with Options.Secret only who has that, too; who dials host and port does not. Two workers that have each
// other's address may both connect, each has an endpoint then. What peers have opened nobody accepts: handlers get their messages, receives their tags,
// and Message.Endpoint or TagInfo.From is who to answer; when the peer closes it, it is gone.
//
// For a host, port or secret of one's own, or to accept peers: Listener.Address.
//
// Errors: *OpError: ErrClosed, ErrRails, the system's.
// Source: ucp_worker_get_address.
func (w *Worker) Address() (Address, error) {
	w.lock()
	defer w.unlock()
	a, err := w.eng.Address(everywhere, worker.ListenOptions{Secret: w.n.opts.Secret.s})
	return Address{a}, public(err)
}

// Address leads to the listener's worker by this listener alone. Peers that come by it are accepted as those that dial.
//
// Errors: *OpError: ErrClosed.
func (l *Listener) Address() (Address, error) {
	l.w.lock()
	defer l.w.unlock()
	a, err := l.l.Address()
	return Address{a}, public(err)
}

// Connect makes an endpoint to the worker that has the address. Everything else is as for Dial; the lanes that a first one leads to, too.
//
// Errors: as Dial. ErrPeerRestarted: another process answers there; ErrPeerClosed: the same process, which has closed that worker; both within ErrDial, and then the address is
// out of date: get the peer's new one by the way by which this one came.
// Source: ucp_ep_create with a worker address.
func (w *Worker) Connect(ctx context.Context, a Address, options ...DialOption) (*Endpoint, error) {
	if err := w.desk.MayWait("dial", a.peer()); err != nil {
		return nil, err
	}
	if a.IsZero() {
		return nil, opError("dial", "", fmt.Errorf("%w: the zero Address is nobody's", ErrAddress))
	}
	return w.dial(ctx, a.peer(), options, func(o worker.DialOptions) (*worker.Endpoint, *request.Request, error) { return w.eng.Connect(a.a, o) })
}

// peer is the address for people.
func (a Address) peer() string {
	if len(a.a.Ways) > 0 {
		return a.a.Ways[0]
	}
	return ""
}

// ParseAddress reads what String has written. Space around it is ignored.
//
// Errors: ErrAddress, with what is wrong.
func ParseAddress(text string) (Address, error) { return parsed(address.Parse(text)) }

// AddressOf reads what Bytes has returned.
//
// Errors: ErrAddress, with what is wrong.
func AddressOf(b []byte) (Address, error) { return parsed(address.Decode(b)) }

func parsed(a address.Address, err error) (Address, error) {
	if err != nil {
		return Address{}, opError("address", "", err)
	}
	return Address{a}, nil
}

// Bytes is the address, packed: some 20 bytes, and 15 for each rail. It has a version and a checksum.
func (a Address) Bytes() []byte { return a.a.Append(nil) }

// String is the address as one word, for files, flags and variables; "" of the zero value.
func (a Address) String() string { return a.a.Text() }

// IsZero says that it is nobody's.
func (a Address) IsZero() bool { return a.a.IsZero() }

// Equal says whether two addresses are of the same worker by the same ways.
func (a Address) Equal(o Address) bool { return a.a.Equal(o.a) }

// MarshalText is String, for JSON and flags.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText is ParseAddress.
func (a *Address) UnmarshalText(text []byte) (err error) {
	*a, err = ParseAddress(string(text))
	return err
}
