package ends

import (
	"errors"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/cpu"
	"github.com/openbraid/braid/internal/perf/medium"
	"github.com/openbraid/braid/internal/perf/trial"
)

// Setup is how the two ends are connected.
type Setup struct {
	Transport string // a medium: tcp, the default; shm: shared memory; rc: over RDMA devices in software; or several, as shm+tcp
	// TrustNetwork lets rc leave this machine: its packets carry no proof of who sent them.
	TrustNetwork bool
	Lanes        int // 0: as the settings say, and one if they don't
	ErrorMode    braid.ErrorMode
	Settings     *braid.Settings // nil: none
	Shared       bool            // workers that are safe for many goroutines, instead of owned ones
	Sleep        bool            // both ends sleep when there is nothing to do, instead of polling; a server is told by its client
	Spin         bool            // calls that wait, as those on streams, poll to their end. A server without it burns no processor while it waits for clients
	Faults       *trial.Options  // what is broken meanwhile, and who is told; nil: nothing
	CPUs         string          // pin the polling thread to one of these; "": don't
}

// Validate fills the defaults in, and says what can't be.
func (s *Setup) Validate() error {
	if s.Transport == "" {
		s.Transport = string(medium.TCP)
	}
	if err := medium.Medium(s.Transport).Check(); err != nil {
		return err
	}
	if s.Sleep && s.Shared {
		return errors.New("-E sleep with --shared: shared workers sleep by themselves when nobody polls, and what a test polls is no sleep; measure it with --owned")
	}
	_, err := cpu.Of(s.CPUs)
	return err
}

// Mode is how workers are used, as results name it.
func (s *Setup) Mode() string {
	if s.Shared {
		return "shared"
	}
	return "owned"
}

// Differs is what a client is told whose workers are of the other kind.
func (s *Setup) Differs() error {
	if s.Shared {
		return errors.New("the server's workers are shared, the client's owned: start the client with --shared, or the server without")
	}
	return errors.New("the server's workers are owned, the client's shared: start the server with --shared, or the client without")
}
