package sleep

import (
	"context"
	"testing"
)

// TestNap: a context is looked at a few times; who sleeps longer is woken when it is over, and not after End.
func TestNap(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	woken := make(chan struct{})
	wake := func() { close(woken) }
	var n Nap
	for i := range looks {
		if d := n.Next(ctx, wake); d != look {
			t.Fatalf("sleep %d: %v", i, d)
		}
	}
	for range 2 {
		if d := n.Next(ctx, wake); d >= 0 {
			t.Fatal(d)
		}
	}
	cancel()
	<-woken
	n.End()

	ctx, cancel = context.WithCancel(context.Background())
	n = Nap{}
	for range looks + 1 {
		n.Next(ctx, func() { t.Error("woken after the end") })
	}
	n.End()
	cancel()
	var never Nap
	if d := never.Next(context.Background(), nil); d >= 0 {
		t.Fatal(d)
	}
	never.End()
}
