package ledger_test

import (
	"testing"

	"github.com/openbraid/braid/internal/ledger"
)

// TestAcks: when an acknowledgement is due: at once if somebody asks, by frames, by bytes, or by time.
func TestAcks(t *testing.T) {
	var list ledger.Owing[int]
	var a ledger.Acks[int]
	if a.Owes(0) || a.Due(0, 0, 1) || a.Hurry(0) || a.Now {
		t.Error("nothing was accepted")
	}
	for _, c := range []struct {
		frames, bytes uint64
		due           bool
	}{{1, 10, false}, {ledger.AckFrames - 1, 10, false}, {ledger.AckFrames, 10, true}, {1, 99, false}, {1, 100, true}} {
		if got := a.Due(c.frames, c.bytes, 100); got != c.due || !a.Owes(c.frames) || a.Owed(c.bytes) != c.bytes {
			t.Errorf("%d frames of %d bytes: due %v", c.frames, c.bytes, got)
		}
	}
	a.Wait(&list, 7, 50)
	a.Wait(&list, 7, 60) // he waits since then
	if at, ok := list.Next(); !ok || at != 50 {
		t.Errorf("it may wait until %v, %v", at, ok)
	}
	if !a.Hurry(1) || !a.Due(1, 1, 100) {
		t.Error("somebody asks")
	}
	if a.Said(1, 1, &list); a.Owes(1) || a.Now || a.Owed(5) != 4 {
		t.Errorf("%+v: it was said", a)
	}
	if _, ok := list.Next(); ok {
		t.Error("who has said it owes nothing")
	}
	a.Hurry(2)
	if a.Wait(&list, 7, 80); a.Now {
		if _, ok := list.Next(); ok {
			t.Error("what goes out at once need not wait")
		}
	}
	a.Forgive(&list)
	a.Wait(&list, 7, 90)
	a.Forgive(&list)
	if _, ok := list.Next(); ok || a.Now {
		t.Error("forgiven")
	}
}
