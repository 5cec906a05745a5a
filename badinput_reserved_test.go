package braid_test

import (
	"errors"
	"testing"

	"github.com/openbraid/braid"
)

// TestReservedIDs: the library's own ids are neither sent to nor handled by a program; the last that is a program's works.
func TestReservedIDs(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	got := make(chan uint16, 1)
	p.bw.HandleAM(65279, func(m *braid.Message) { got <- m.ID() })
	for _, id := range []uint16{65280, 65281, 65296, 65535} {
		var op *braid.OpError
		err := p.a.SendAM(ctx, id, nil, nil)
		if !errors.Is(err, braid.ErrLimit) || !errors.As(err, &op) || op.Fate != braid.NotExecuted || op.Temporary() {
			t.Errorf("a message to id %d: %v, want %v, for good", id, err, braid.ErrLimit)
		}
		if err := p.a.PostAM(id, nil, nil).Wait(ctx); !errors.Is(err, braid.ErrLimit) {
			t.Errorf("posted to id %d: %v", id, err)
		}
		for _, fn := range []func(*braid.Message){func(*braid.Message) {}, nil} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("id %d takes a handler", id)
					}
				}()
				p.bw.HandleAM(id, fn)
			}()
		}
	}
	if err := p.a.SendAM(ctx, 65279, nil, nil); err != nil {
		t.Fatal(err)
	}
	if id := <-got; id != 65279 {
		t.Errorf("id %d came", id)
	}
	if err := p.a.Flush(ctx); err != nil {
		t.Error(err)
	}
}
