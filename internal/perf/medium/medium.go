package medium

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/internal/carriers"
	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/verbs"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/mix"
	"github.com/openbraid/braid/transport/shm"
	shmfaulty "github.com/openbraid/braid/transport/shm/faulty"
)

// Medium is the name of what a test runs over: a transport, or several with "+" between them.
type Medium string

// TCP is what there is without a choice.
const TCP Medium = "tcp"

// verbsPart is rc over adapters, which have addresses of their own.
const verbsPart = "verbs"

var known = []string{"tcp", "rc", "shm", verbsPart}

// Parts are the transports of which it consists, the one that has the first address first.
func (m Medium) Parts() []string { return strings.Split(string(m), "+") }

// Has says whether a transport is one of the parts.
func (m Medium) Has(transport string) bool { return slices.Contains(m.Parts(), transport) }

// Mixed says whether there are several.
func (m Medium) Mixed() bool { return len(m.Parts()) > 1 }

// Rails are addresses of this host of which each part may have one, and of a single part two. Those of adapters are what the system says: there may be none.
func (m Medium) Rails() []string {
	var list []string
	adapters := m.adapters()
	if m == verbsPart {
		return adapters
	}
	for i := range max(2, len(m.Parts())) {
		list = append(list, fmt.Sprintf("127.0.0.%d", 1+i))
		if i < len(m.Parts()) && m.Parts()[i] == verbsPart && len(adapters) > 0 {
			list[i] = adapters[0]
		}
	}
	return list
}

// adapters are the addresses of ports that are up, an address for each.
func (m Medium) adapters() (list []string) {
	if !m.Has(verbsPart) {
		return nil
	}
	ports, _ := verbs.List() // New says what is wrong
	for _, p := range ports {
		if a := p.Main(); p.Reason == "" && p.State == rdma.PortActive && a.IsValid() {
			list = append(list, a.String())
		}
	}
	return list
}

// Check says what it can't be.
func (m Medium) Check() error {
	for i, p := range m.Parts() {
		switch {
		case p == "self":
			return fmt.Errorf("--transport %s: self carries frames within one worker, and a test has two processes with one each; there are tcp, shm, rc and verbs", m)
		case !slices.Contains(known, p):
			return fmt.Errorf("--transport %s: there are tcp, shm, rc and verbs, and several with + between them, as shm+tcp", m)
		case slices.Contains(m.Parts()[:i], p):
			return fmt.Errorf("--transport %s: %s is there twice; two lanes of one transport are --lanes 2", m, p)
		}
	}
	return nil
}

// Ready says why it can't be used here.
//
// Errors: those of verbs.List; verbs.ErrNoDevice.
func (m Medium) Ready() error {
	if !m.Has(verbsPart) {
		return nil
	}
	_, err := verbs.List()
	if err == nil && len(m.adapters()) == 0 {
		err = fmt.Errorf("%w: none has a port that is up and an IP address; braid info devices shows them", verbs.ErrNoDevice)
	}
	if err != nil {
		return fmt.Errorf("--transport %s: %w", m, err)
	}
	return nil
}

// Options say how it is made.
type Options struct {
	// Rails are the addresses of a mixed medium, one for each part in its order.
	Rails []string
	// Settings say how sockets and devices are (rc-trust, tcp-send-buffer); which transports they name is not asked. Nil: nothing is said.
	Settings *braid.Settings
	// TrustNetwork lets rc leave this machine, as the setting rc-trust does: its packets carry no proof of who sent them.
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
	if err := m.Ready(); err != nil {
		return nil, err
	}
	if len(parts) > 1 && len(o.Rails) != len(parts) {
		return nil, fmt.Errorf("--transport %s with rails %q: %w", m, strings.Join(o.Rails, ","), ErrRails)
	}
	node, err := o.node()
	if err != nil {
		return nil, err
	}
	var rest []mix.Part
	for i := range parts[1:] {
		rail := o.Rails[i+1]
		rest = append(rest, mix.Part{Transport: one(parts[i+1], node, o.Injector), Takes: func(host string) bool { return host == rail }})
	}
	first := one(parts[0], node, o.Injector)
	if len(rest) == 0 {
		return first, nil
	}
	return mix.New(first, rest...), nil
}

// node is what the settings say, for the transports that are made here: a figure of rc is one with the rc-read-from that stands beside it.
func (o *Options) node() (config.Node, error) {
	var all config.Set
	for _, v := range o.Settings.Clone().List() {
		if v.Origin == config.Default.String() || v.Name == "secret" { // of that only whether it is set
			continue
		}
		if err := all.Put(v.Name, v.Value, config.Origin{Layer: config.Given, Where: v.Where}); err != nil {
			return config.Node{}, err
		}
	}
	n := all.Node()
	if o.TrustNetwork {
		n.RC.Trust = append(n.RC.Trust, "network")
	}
	return n, nil
}

// one makes a part.
func one(name string, n config.Node, inj *fault.Injector) transport.Transport {
	if name == "shm" {
		if inj != nil {
			return shmfaulty.New(carriers.Shared(n), inj)
		}
		return shm.New(carriers.Shared(n))
	}
	n.Transports = []string{name}
	return carriers.Network(n, inj)
}
