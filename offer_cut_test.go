package braid_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
)

// TestOffersUnderCuts: messages of all sizes are handled once and in order, and received at once, in pieces, later or not at all, while both lanes are cut again and again.
func TestOffersUnderCuts(t *testing.T) { schemes(t, offersUnderCuts) }

func offersUnderCuts(t *testing.T, set *braid.Settings) {
	const each = 200
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	faults := injector(t)
	rails := []string{"127.0.0.1", "127.0.0.2"}
	times := braid.Times{RedialMin: time.Millisecond, RedialMax: 20 * time.Millisecond, Probe: 5 * time.Millisecond, Lost: 20 * time.Millisecond, Keepalive: 100 * time.Millisecond, Peer: 500 * time.Millisecond}
	p := connect(t, braid.Options{Settings: set, Rails: rails, Faults: faults, Times: times}, braid.Options{Rails: rails, Times: times})
	var handled, readers, senders sync.WaitGroup
	handled.Add(each)
	data := func(i uint32) []byte { return tagBytes([]int{8, 900, 30_000, 70_000, 300_000, 900_000}[i%6], byte(i)) }
	next := uint32(0)
	p.bw.HandleOffer(1, func(m *braid.Message) {
		defer handled.Done()
		i := binary.LittleEndian.Uint32(m.Header())
		if i != next {
			t.Errorf("message %d came instead of %d", i, next)
		}
		next = i + 1
		if i%7 == 6 {
			return // nobody wants it
		}
		read := func() {
			if b, err := whole(ctx, m, i%2 == 0); err != nil || !bytes.Equal(b, data(i)) {
				t.Errorf("message %d of %d bytes: %v", i, m.Size(), err)
			}
		}
		if i%3 > 0 {
			read()
			return
		}
		m.Retain()
		readers.Go(func() { read(); m.Release() })
	})
	for i := range uint32(each) {
		senders.Add(1)
		p.a.PostOfferAM(1, binary.LittleEndian.AppendUint32(nil, i), data(i)).Then(func(err error) {
			unwanted := i%7 == 6 // which who sent a small one doesn't hear
			if err != nil && !(unwanted && errors.Is(err, braid.ErrCanceled)) || err == nil && unwanted && len(data(i)) > 256<<10 {
				t.Errorf("message %d of %d bytes: %v", i, len(data(i)), err)
			}
			senders.Done()
		})
	}
	done := make(chan struct{})
	go func() { senders.Wait(); handled.Wait(); readers.Wait(); close(done) }()
	for i := 0; ; i++ {
		select {
		case <-done:
			if p.a.Stats().Handovers == 0 {
				t.Log("no lane was lost in time")
			}
			if err := p.a.Flush(ctx); err != nil || next != each {
				t.Error(next, err)
			}
			return
		case <-ctx.Done():
			t.Fatal("it does not end")
		case <-time.After(15 * time.Millisecond):
			if i < 30 { // a busy machine must come to an end, too
				faults.Cut(rails[i%2], fault.Kind(i/2%2), 2*time.Millisecond)
			}
			faults.Advance()
		}
	}
}
