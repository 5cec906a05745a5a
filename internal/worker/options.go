package worker

import (
	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// Options make a worker.
type Options struct {
	config.Config
	Transports  []transport.Transport
	Env         transport.Env
	Memory      *memory.Table
	Incarnation uint64    // of this process, not 0
	Rails       topo.View // of this host, and what the user chose of them
}

// DialOptions are an endpoint's own.
type DialOptions struct {
	Mode   wire.Mode
	Secret secret.Secret // that both sides are to have; not set: none
}

// ListenOptions are a listener's own.
type ListenOptions struct {
	Secret secret.Secret // that both sides are to have; not set: none
}
