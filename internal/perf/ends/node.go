package ends

import (
	"errors"
	"strings"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/medium"
	"github.com/openbraid/braid/internal/perf/trial"
	"github.com/openbraid/braid/transport"
)

// transports are those to measure; nil: what braid takes by itself.
func (s *Setup) transports(t *trial.Trial, set *braid.Settings) ([]transport.Transport, error) {
	m := medium.Medium(s.Transport)
	if m == "" || m == medium.TCP {
		return nil, nil
	}
	o := medium.Options{Settings: set, TrustNetwork: s.TrustNetwork}
	if m.Mixed() {
		o.Rails = set.Options().Rails
	}
	if t != nil {
		o.Injector = t.Injector()
	}
	made, err := m.New(o)
	if err != nil {
		return nil, err
	}
	return []transport.Transport{made}, nil
}

// Open opens a node for measuring: its limits are no part of the question, unless somebody sets them.
func Open(s Setup, onEvent func(braid.Event), t *trial.Trial) (*braid.Node, *braid.Worker, error) {
	set := s.Settings.Clone()
	for _, d := range [][2]string{{"name", "perftest"}, {"lanes", "1"}, {"message", limit}, {"backlog", limit}, {"pending-bytes", "1TiB"}, {"suspended", s.patience()}} {
		if err := set.Default(d[0], d[1]); err != nil {
			return nil, nil, err
		}
	}
	// What else could carry lanes is not asked for: a figure is of the transport that stands beside it.
	if err := errors.Join(set.Set("error-mode", s.ErrorMode.String(), "--error-mode"), set.Set("transports", "tcp", "--transport")); err != nil {
		return nil, nil, err
	}
	if s.Sleep {
		if err := set.Set("wait", "sleep", "-E"); err != nil { // of the calls that block
			return nil, nil, err
		}
	}
	if s.Spin {
		if err := set.Set("wait", "poll", "-E"); err != nil {
			return nil, nil, err
		}
	}
	if m := medium.Medium(s.Transport); m.Mixed() || m.Has("verbs") {
		if err := m.Ready(); err != nil {
			return nil, nil, err
		}
		if err := set.Default("rails", strings.Join(m.Rails(), ",")); err != nil {
			return nil, nil, err
		}
	}
	carriers, err := s.transports(t, set)
	if err != nil {
		return nil, nil, err
	}
	o := braid.Options{Transports: carriers, Settings: set, Owned: !s.Shared, Lanes: s.Lanes, OnEvent: onEvent}
	if t != nil && carriers == nil {
		o.Faults = t.Injector()
	}
	n, err := braid.Open(o)
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

const (
	limit = "1GiB" // the largest operation
	// giveUpAfter is how long an endpoint without lanes is kept: who measures wants to know that the peer is gone, not to wait for it.
	giveUpAfter = "2s"
	// mournFor is the same where the peer is killed: until then lanes may be cut, and the peer, as long as it lives, may have no processor.
	mournFor = "10s"
	// BearUpFor is the same where lanes are cut on purpose, and come back.
	BearUpFor = "30s"
)

func (s *Setup) patience() string {
	switch {
	case s.Faults == nil:
		return giveUpAfter
	case s.Faults.Kills():
		return mournFor
	}
	return BearUpFor
}
