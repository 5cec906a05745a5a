package perf

import (
	"fmt"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/tcp"
)

// transportsOf turns a name into what a node is opened with.
func transportsOf(name string) ([]transport.Transport, error) {
	if name == "tcp" {
		return []transport.Transport{tcp.New(tcp.Options{})}, nil
	}
	return nil, fmt.Errorf("--transport %s: there is tcp", name)
}

// ParseErrorMode reads a mode's name.
func ParseErrorMode(name string) (braid.ErrorMode, error) {
	for _, m := range []braid.ErrorMode{braid.Failover, braid.Peer, braid.None} {
		if m.String() == name {
			return m, nil
		}
	}
	return 0, fmt.Errorf("--error-mode %s: failover, peer or none", name)
}

// openNode opens a node for measuring: its limits are no part of the question.
func openNode(s Setup, onEvent func(braid.Event)) (*braid.Node, *braid.Worker, error) {
	ts, err := transportsOf(s.Transport)
	if err != nil {
		return nil, nil, err
	}
	n, err := braid.Open(braid.Options{
		Transports: ts, Name: "perftest", Owned: !s.Shared, ErrorMode: s.ErrorMode, Lanes: s.Lanes, Secret: s.Secret,
		Limits:  braid.Limits{Message: maxSize, Backlog: maxSize, PendingBytes: 1 << 40},
		OnEvent: onEvent,
	})
	if err != nil {
		return nil, nil, err
	}
	w, err := n.NewWorker()
	if err != nil {
		n.Close()
		return nil, nil, err
	}
	return n, w, nil
}
