package files

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/files/dialogue"
)

// TestQuiet: how long the other side may say nothing follows from what holds, whoever said it: it may be without a lane for so long.
func TestQuiet(t *testing.T) {
	var s braid.Settings
	if err := s.Set("suspended", "5m", "a test"); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[time.Duration]braid.Options{
		30 * time.Second: {}, 5 * time.Minute: {Settings: &s}, 7 * time.Second: {Settings: &s, Times: braid.Times{Suspended: 7 * time.Second}},
	} {
		n, err := braid.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if got := newPeer(n).quiet; got != want+moreQuiet {
			t.Errorf("%v, want %v", got, want+moreQuiet)
		}
		n.Close()
	}
}

// TestSilence: who says nothing for too long is given up, though his endpoint is there.
func TestSilence(t *testing.T) {
	tidy(t)
	r := receive(t, ReceiveOptions{Node: braid.Options{Rails: []string{"127.0.0.1"}}})
	x := dial(t, r)
	p := &peer{ep: x.ep, quiet: time.Millisecond}
	p.hears()
	ctx, end := context.WithCancelCause(x.ctx)
	defer end(nil)
	p.keep(ctx, end)
	var silent *SilentError
	if err := context.Cause(ctx); !errors.As(err, &silent) {
		t.Error(err)
	}
	x.ep.Abort()
}

// TestAlive: who has nothing to say says that now and then.
func TestAlive(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as that is")
	}
	t.Parallel()
	r := receive(t, ReceiveOptions{Node: braid.Options{Rails: []string{"127.0.0.1"}}})
	x := dial(t, r)
	x.file(5, "mine")
	for {
		if _, ok := x.hear().(dialogue.Alive); ok {
			break
		}
	}
	x.ep.Abort()
}
