package tcp

import (
	"github.com/openbraid/braid/internal/mpool"
	"github.com/openbraid/braid/transport"
)

const (
	maxHead  = 4096
	maxFrame = 1<<20 + maxHead // a control frame never waits for more than one frame
	zeroCopy = 16 << 10        // below it a copy is cheaper than a piece of its own and two completions

	defaultWindow  = 4 << 20
	defaultBacklog = 1024
)

// Options of the transport. The zero value is fine.
type Options struct {
	// Wrapper stands in front of each new socket; nil costs nothing.
	Wrapper transport.Wrapper
	// Backlog of listeners; 0 is 1024. The system may cut it down (net.core.somaxconn).
	Backlog int
	// SendBuffer and ReceiveBuffer fix the system's buffers of each socket; 0 lets it choose.
	SendBuffer, ReceiveBuffer int
	// Congestion is the congestion control of each connection, by the system's name for it; Linux only. "": the system's
	// default, and "reno" within one host, where there is no congestion: a default that spaces packets by timers halves what
	// two processes can pass each other. Open fails if there is none of that name.
	Congestion string
}

type tcp struct{ o Options }

// New makes the transport.
//
// Source: uct_tcp component; its settings are UCX_TCP_*.
func New(o Options) transport.Transport {
	if o.Backlog <= 0 {
		o.Backlog = defaultBacklog
	}
	return &tcp{o: o}
}

// Name implements transport.Transport.
func (*tcp) Name() string { return "tcp" }

// Open implements transport.Transport.
func (t *tcp) Open(env transport.Env) (transport.Iface, error) {
	if err := t.o.checkCongestion(); err != nil {
		return nil, newError(Error{Op: "open", Err: err})
	}
	f := &iface{env: env, o: t.o, pool: mpool.New(chunkLen, 2<<20, 16<<20), scratch: scratch{vec: &vector{}}}
	if err := f.poll.Open(); err != nil {
		return nil, newError(Error{Op: "open", Err: err})
	}
	return f, nil
}
