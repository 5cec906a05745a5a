package medium

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/faulty"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/mix"
	"github.com/openbraid/braid/transport/rc"
	"github.com/openbraid/braid/transport/shm"
	shmfaulty "github.com/openbraid/braid/transport/shm/faulty"
	"github.com/openbraid/braid/transport/softrc"
	"github.com/openbraid/braid/transport/tcp"
)

// Medium is the name of what a test runs over: a transport, or several with "+" between them.
type Medium string

// TCP is what there is without a choice.
const TCP Medium = "tcp"

// Parts are the transports of which it consists, the one that has the first address first.
func (m Medium) Parts() []string { return strings.Split(string(m), "+") }

// Has says whether a transport is one of the parts.
func (m Medium) Has(transport string) bool { return slices.Contains(m.Parts(), transport) }

// Mixed says whether there are several.
func (m Medium) Mixed() bool { return len(m.Parts()) > 1 }

// Rails are addresses of this host of which each part may have one, and of a single part two.
func (m Medium) Rails() []string {
	var list []string
	for i := range max(2, len(m.Parts())) {
		list = append(list, fmt.Sprintf("127.0.0.%d", 1+i))
	}
	return list
}

// Check says what it can't be.
func (m Medium) Check() error {
	for i, p := range m.Parts() {
		switch {
		case p == "self":
			return fmt.Errorf("--transport %s: self carries frames within one worker, and a test has two processes with one each; there are tcp, shm and rc", m)
		case p != "tcp" && p != "rc" && p != "shm":
			return fmt.Errorf("--transport %s: there are tcp, shm and rc, and several with + between them, as shm+tcp", m)
		case slices.Contains(m.Parts()[:i], p):
			return fmt.Errorf("--transport %s: %s is there twice; two lanes of one transport are --lanes 2", m, p)
		}
	}
	return nil
}

// Options say how it is made.
type Options struct {
	// Rails are the addresses of a mixed medium, one for each part in its order.
	Rails []string
	// TrustNetwork lets rc leave this machine: its packets carry no proof of who sent them.
	TrustNetwork bool
	// Injector stands in front of each connection; nil: nothing does.
	Injector *fault.Injector
}

// ErrRails: a mixed medium has other addresses than parts.
var ErrRails = errors.New("want as many rails as transports, an address for each")

// New makes it: one transport.
func (m Medium) New(o Options) (transport.Transport, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	parts := m.Parts()
	if len(parts) > 1 && len(o.Rails) != len(parts) {
		return nil, fmt.Errorf("--transport %s with rails %q: %w", m, strings.Join(o.Rails, ","), ErrRails)
	}
	var rest []mix.Part
	for i := range parts[1:] {
		rail := o.Rails[i+1]
		rest = append(rest, mix.Part{Transport: one(parts[i+1], &o), Takes: func(host string) bool { return host == rail }})
	}
	first := one(parts[0], &o)
	if len(rest) == 0 {
		return first, nil
	}
	return mix.New(first, rest...), nil
}

// one makes a part.
func one(name string, o *Options) transport.Transport {
	switch name {
	case "rc":
		opt := softrc.Options{RC: rc.Options{TrustNetwork: o.TrustNetwork}}
		if o.Injector != nil {
			opt.Wrap = func(c carrier.Carrier, at rc.Place) carrier.Carrier { return faulty.New(c, o.Injector, at.Now) }
		}
		return softrc.New(opt)
	case "shm":
		if o.Injector != nil {
			return shmfaulty.New(shm.Options{}, o.Injector)
		}
		return shm.New(shm.Options{})
	}
	return tcp.New(tcp.Options{Wrapper: o.Injector.Wrapper()})
}
