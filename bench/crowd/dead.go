package crowd

import (
	"context"
	"fmt"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
)

// Dead measures n messages to a healthy peer, beside another endpoint of the same worker; and again when that one's peer has fallen silent with messages under way, and is probed, given
// up and dialed anew; so many times in turns, each with another peer that dies.
func Dead(ctx context.Context, rounds, n int) (alive, dead []time.Duration, err error) {
	p, err := open(braid.Options{}, braid.Options{})
	if err != nil {
		return nil, nil, err
	}
	defer p.close()
	p.w[1].HandleAM(1, func(*braid.Message) {})
	ep, err := p.w[0].Dial(ctx, p.ln.Addr())
	if err != nil {
		return nil, nil, err
	}
	for range rounds {
		before, after, err := p.besideDead(ctx, ep, n)
		if err != nil {
			return nil, nil, err
		}
		alive, dead = append(alive, before), append(dead, after)
	}
	return alive, dead, ep.Close(ctx)
}

// besideDead is one round: how long the messages take beside one who lives, and beside the same one when he is silent.
func (p *two) besideDead(ctx context.Context, ep *braid.Endpoint, n int) (before, after time.Duration, err error) {
	begun := time.Now()
	inj := fault.New(func() time.Duration { return time.Since(begun) + 1 })
	other, err := braid.Open(braid.Options{Lanes: 1, Faults: inj})
	if err != nil {
		return 0, 0, err
	}
	defer other.Close()
	w, err := other.NewWorker()
	if err != nil {
		return 0, 0, err
	}
	w.HandleAM(1, func(*braid.Message) {})
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		return 0, 0, err
	}
	doomed, err := p.w[0].Dial(ctx, ln.Addr())
	if err != nil {
		return 0, 0, err
	}
	defer doomed.Abort()
	if before, err = messages(ctx, ep, n); err != nil {
		return 0, 0, err
	}
	silence := fault.Rule{Kind: fault.Silence}
	inj.Apply(silence)
	for range 64 {
		doomed.PostAM(1, nil, make([]byte, 1000)).Release()
	}
	if after, err = messages(ctx, ep, n); err != nil {
		return 0, 0, err
	}
	if inj.Report()[0].Hits == 0 {
		return 0, 0, fmt.Errorf("%v hit nothing: nobody was dead", silence)
	}
	return before, after, nil
}

// messages is how long n messages of 8 bytes take, until they are executed.
func messages(ctx context.Context, ep *braid.Endpoint, n int) (time.Duration, error) {
	begun, b := time.Now(), make([]byte, 8)
	for range n {
		if err := ep.SendAM(ctx, 1, nil, b); err != nil {
			return 0, err
		}
	}
	err := ep.Flush(ctx)
	return time.Since(begun), err
}
