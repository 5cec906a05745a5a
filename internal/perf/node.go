package perf

import (
	"fmt"

	"github.com/openbraid/braid"
)

// checkTransport says what is no transport to measure.
func checkTransport(name string) error {
	if name == "tcp" {
		return nil
	}
	return fmt.Errorf("--transport %s: there is tcp", name)
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

// openNode opens a node for measuring: its limits are no part of the question, unless somebody sets them.
func openNode(s Setup, onEvent func(braid.Event)) (*braid.Node, *braid.Worker, error) {
	set := s.Settings.Clone()
	for _, d := range [][2]string{{"name", "perftest"}, {"lanes", "1"}, {"message", limit}, {"backlog", limit}, {"pending-bytes", "1TiB"}} {
		if err := set.Default(d[0], d[1]); err != nil {
			return nil, nil, err
		}
	}
	if err := set.Set("error-mode", s.ErrorMode.String(), "--error-mode"); err != nil {
		return nil, nil, err
	}
	n, err := braid.Open(braid.Options{Settings: set, Owned: !s.Shared, Lanes: s.Lanes, OnEvent: onEvent})
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

// limit is maxSize as a setting.
const limit = "1GiB"
