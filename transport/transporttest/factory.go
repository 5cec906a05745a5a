package transporttest

import (
	"io"
	"testing"
	"time"

	"github.com/openbraid/braid/transport"
)

// Pair is two workers' interfaces over one transport, and the world around them. A transport that stays inside
// one worker gives the same interface twice; cases then don't expect one side to stand still.
type Pair struct {
	Server, Client transport.Iface
	Addr           string // where Server listens; port 0 is fine
	Local          string // local address of Client's dials; "" is fine
	Nobody         string // an address at which nobody listens

	// Now is the clock that both interfaces were opened with.
	Now func() time.Duration
	// Advance lets the world go on when no Progress had anything to do: the next event of a
	// simulation, a short sleep for sockets. Each call must move Now a little in the end.
	Advance func()
	// Slack is how late a thing may be that the contract wants "at once" or after 1 ms: latency and scheduling.
	Slack time.Duration
	// Patience bounds every wait (of Now); 0 is 10 s.
	Patience time.Duration

	// Cut breaks the connection of ep below the transport, both directions. Nil: cases that need it are skipped.
	Cut func(ep transport.Endpoint, how Cut)
	// Raw opens a connection to a listener's address that is not this transport's, to send garbage. Nil: skipped.
	Raw func(addr string) (io.WriteCloser, error)
}

// Cut is how a connection breaks.
type Cut uint8

const (
	Reset   Cut = iota // both sides are told in the end
	Silence            // nobody is told: bytes just stop
)

// Factory makes a fresh pair for one case; what must be closed goes to t.Cleanup (the
// suite closes both interfaces itself, before).
type Factory func(t testing.TB) *Pair

// Run runs the whole suite, one subtest per promise.
func Run(t *testing.T, f Factory) {
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) { c.run(newWorld(t, f(t))) })
	}
}

type testCase struct {
	name string
	run  func(w *world)
}

// cases is the table of contents. The order is from simple to nasty: read the first failure first.
func cases() []testCase {
	var all []testCase
	for _, group := range [][]testCase{frameCases, handshakeCases, ackCases, windowCases, handoverCases, endCases, strangerCases, costCases} {
		all = append(all, group...)
	}
	return all
}
