package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/openbraid/braid"
)

// connectTime is how long the two may take to find each other: long, since they may just be starting on a machine that is busy or emulated.
const connectTime = 30 * time.Second

// tickEvery is how often a child says how far it is, lookEvery if that is drawn.
const (
	tickEvery = 500 * time.Millisecond
	lookEvery = 100 * time.Millisecond
)

// every is how often a child shall say how far it is.
func (s *spec) every() time.Duration {
	if s.Live {
		return lookEvery
	}
	return tickEvery
}

// Child is what the command does when it is started as one of the two processes: it reads its task from in, and
// ends with it. The settings may be nil; what the demo itself needs goes before them.
func Child(role string, set *braid.Settings, in io.Reader, out io.Writer) error {
	dec := json.NewDecoder(in)
	var s spec
	if err := dec.Decode(&s); err != nil {
		return fmt.Errorf("--role is for `braid demo` itself, which writes the task to standard input: %w", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		_, _ = io.Copy(io.Discard, io.MultiReader(dec.Buffered(), in))
		cancel(errParent)
	}()
	t := newTeller(out)
	set, err := s.settings(set)
	if err != nil {
		return err
	}
	key, err := braid.ParseSecret(s.Secret)
	switch {
	case err != nil:
		err = fmt.Errorf("the task: %w", err)
	case role == "sender":
		err = send(ctx, s, braid.Options{Settings: set, Secret: key}, t)
	case role == "receiver":
		err = receive(ctx, s, braid.Options{Settings: set, Secret: key}, t)
	default:
		err = fmt.Errorf("--role=%s: sender or receiver", role)
	}
	if errors.Is(context.Cause(ctx), errParent) {
		return nil // whatever broke, it was told to end
	}
	if err != nil {
		t.tell(line{Failed: err.Error()})
	}
	return err
}

// settings are those of a child: what lanes run over is said by the task.
func (s *spec) settings(set *braid.Settings) (*braid.Settings, error) {
	set = set.Clone()
	if s.Over == "" || s.Over == "tcp" {
		return set, set.Set("transports", "tcp,self", "--transport")
	}
	var all []error
	for _, x := range rdmaSettings(s.Over) {
		all = append(all, set.Set(x[0], x[1], "--transport"))
	}
	return set, errors.Join(all...)
}

var errParent = errors.New("the parent process ended")

// tellEvent writes an event down, and stamps it now: after it came true, never before.
func tellEvent(t *teller, e braid.Event, rail int) {
	x := &laneEvent{
		Kind: e.Kind.String(), At: now(), Rail: rail, Lane: e.Lane, Instance: e.Instance,
		Posted: e.Posted, Accepted: e.Accepted, PeerAccepted: e.PeerAccepted, Replayed: e.Replayed,
	}
	if e.Err != nil {
		x.Err = e.Err.Error()
	}
	t.tell(line{Event: x})
}

// each calls fn every d until the context is over.
func each(ctx context.Context, d time.Duration, fn func()) {
	t := time.NewTicker(d)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			fn()
		case <-ctx.Done():
			return
		}
	}
}
