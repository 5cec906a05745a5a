package explain

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestLongLook: lanes may be looked at for longer than a dial may take.
func TestLongLook(t *testing.T) {
	n, err := braid.Open(braid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	w, err := n.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const patience = 5 * time.Second
	c := Command{Addr: ln.Addr(), Wait: patience + 100*time.Millisecond}
	if x, err := c.look(context.Background(), braid.Options{}, patience); err != nil || len(x.Lanes) == 0 {
		t.Errorf("%+v, %v", x.Lanes, err)
	}
}

// TestThresholds: lanes that always copy are not said never to.
func TestThresholds(t *testing.T) {
	for zero, want := range map[int]string{0: "always by a copy, ", 16384: "without a copy from 16384 bytes, "} {
		r := report{ZeroCopy: zero, Eager: 1, Stripe: 2, Busy: 3}
		if got := r.thresholds(); !strings.HasPrefix(got, want) {
			t.Errorf("%d: %s", zero, got)
		}
	}
}
