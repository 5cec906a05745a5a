package carriers

import (
	"slices"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/faulty"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/mix"
	"github.com/openbraid/braid/transport/rc"
	"github.com/openbraid/braid/transport/self"
	"github.com/openbraid/braid/transport/shm"
	shmfaulty "github.com/openbraid/braid/transport/shm/faulty"
	"github.com/openbraid/braid/transport/softrc"
	"github.com/openbraid/braid/transport/tcp"
	"github.com/openbraid/braid/transport/verbsrc"
)

// All are those that the settings choose. One that carries lanes over the network is always among them, the first.
func All(n config.Node, faults *fault.Injector) []transport.Transport {
	list := []transport.Transport{Network(n, faults)}
	if len(n.Transports) == 0 || slices.Contains(n.Transports, "self") {
		list = append(list, self.New(self.Options{}))
	}
	return append(list, Here(n, faults)...)
}

// Network is what the lanes of a node run over that leave its process. There is always one: without it there would be no first connection. Who names rc gets
// it, over devices in software, and who names verbs over adapters, instead of tcp; who names verbs and tcp gets adapters where both sides have them.
// Faults, if they aren't nil, stand in front of its connections, or of adapters.
func Network(n config.Node, faults *fault.Injector) transport.Transport {
	options := rc.Options{
		TrustNetwork: slices.Contains(n.RC.Trust, "network"), AllowSecret: slices.Contains(n.RC.Trust, "secret"), ReadFrom: n.RC.ReadFrom,
	}
	sockets := tcp.New(tcp.Options{
		SendBuffer: n.Sockets.SendBuffer, ReceiveBuffer: n.Sockets.ReceiveBuffer, Backlog: n.Sockets.Backlog, Wrapper: faults.Wrapper(),
	})
	if slices.Contains(n.Transports, "verbs") {
		adapters := verbsrc.New(verbsrc.Options{RC: options, Faults: faults})
		if slices.Contains(n.Transports, "tcp") {
			return mix.Prefer(adapters, sockets)
		}
		return adapters
	}
	if !RC(n.Transports) {
		return sockets
	}
	o := softrc.Options{RC: options, Port: uint16(n.RC.Port)}
	if faults != nil {
		o.Wrap = func(c carrier.Carrier, at rc.Place) carrier.Carrier { return faulty.New(c, faults, at.Now) }
	}
	return softrc.New(o)
}

// RC says whether rc is named, over devices of either kind.
func RC(transports []string) bool {
	return slices.Contains(transports, "rc") || slices.Contains(transports, "verbs")
}

// Shared is what shared memory is told.
func Shared(n config.Node) shm.Options {
	return shm.Options{Limit: n.Shm.Limit, PeerLimit: n.Shm.PeerLimit, Read: shm.When(n.Shm.Read)}
}

// Here is what they run over within this host, besides: faults stand in front of it, too.
func Here(n config.Node, faults *fault.Injector) []transport.Transport {
	named := len(n.Transports) == 0 || slices.Contains(n.Transports, shm.Host)
	if !named || shm.Prefix() == "" {
		return nil
	}
	o := Shared(n)
	if faults != nil {
		return []transport.Transport{shmfaulty.New(o, faults)}
	}
	return []transport.Transport{shm.New(o)}
}
