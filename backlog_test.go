package braid_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestSmallBacklog: messages of no bytes, or of one at a time, that nobody handles don't cost more than the limit allows for.
func TestSmallBacklog(t *testing.T) {
	for _, pause := range []time.Duration{0, 100 * time.Microsecond} {
		tidy(t)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		block := make(chan struct{})
		p := connect(t, braid.Options{Limits: braid.Limits{Backlog: 8 << 20}}, braid.Options{})
		p.aw.HandleAM(1, func(*braid.Message) { <-block })
		done := make(chan struct{})
		go func() { // or nobody would take anything while the handler blocks
			for ctx.Err() == nil {
				p.aw.Progress()
			}
			close(done)
		}()
		before, sent := heapInUse(), 0
		for ctx.Err() == nil {
			if p.b.SendAM(ctx, 1, nil, nil) == nil {
				sent++
			}
			time.Sleep(pause)
		}
		after := heapInUse()
		close(block)
		<-done
		cancel()
		if after > before+64<<20 {
			t.Errorf("pause %v: %d empty messages wait in %d MiB", pause, sent, (after-before)>>20)
		}
	}
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
