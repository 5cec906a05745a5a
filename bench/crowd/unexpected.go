package crowd

import (
	"context"
	"errors"
	"fmt"

	"github.com/openbraid/braid"
)

// Unexpected sends n tagged messages of 8 bytes that nobody receives, with room for all of them, and says how many bytes of heap each keeps at its receiver.
// Then it receives them, in order.
func Unexpected(ctx context.Context, n int) (bytes float64, err error) {
	p, err := open(braid.Options{Owned: true}, braid.Options{Owned: true, Limits: braid.Limits{Backlog: 1 << 40}})
	if err != nil {
		return 0, err
	}
	defer p.close()
	ep, err := p.dial(ctx)
	if err != nil {
		return 0, err
	}
	before, err := held()
	if err != nil {
		return 0, err
	}
	if sent, err := p.send(ctx, ep, n); err != nil || sent < n {
		return 0, fmt.Errorf("%d of %d messages were sent: %w", sent, n, err)
	}
	for _, ok := p.w[1].ProbeTag(uint64(n-1), braid.ExactTag); !ok; _, ok = p.w[1].ProbeTag(uint64(n-1), braid.ExactTag) {
		if err := p.turn(ctx); err != nil {
			return 0, err
		}
	}
	after, err := held()
	if err != nil {
		return 0, err
	}
	return float64(after.Heap-before.Heap) / float64(n), p.receive(n)
}

// Stopped sends such messages to a receiver with the limit that it has by default, until the sender is told that no more may wait, and says how many were taken, and how many bytes of
// memory the process has more, by the system's count.
func Stopped(ctx context.Context, n int) (sent int, resident int64, err error) {
	p, err := open(braid.Options{Owned: true}, braid.Options{Owned: true})
	if err != nil {
		return 0, 0, err
	}
	defer p.close()
	ep, err := p.dial(ctx)
	if err != nil {
		return 0, 0, err
	}
	before, err := held()
	if err != nil {
		return 0, 0, err
	}
	if sent, err = p.send(ctx, ep, n); err != nil {
		return sent, 0, err
	}
	after, err := held()
	return sent, after.Resident - before.Resident, err
}

// dial makes an endpoint between two owned workers.
func (p *two) dial(ctx context.Context) (ep *braid.Endpoint, err error) {
	addr, dialed := p.ln.Addr(), make(chan error, 1)
	go func() {
		var err error
		ep, err = p.w[0].Dial(ctx, addr)
		dialed <- err
	}()
	for {
		select {
		case err := <-dialed:
			return ep, err
		default:
			p.w[1].Progress()
		}
	}
}

func (p *two) turn(ctx context.Context) error {
	p.w[0].Progress()
	p.w[1].Progress()
	return ctx.Err()
}

// send sends up to n messages, and stops where a thousand turns make no room for another one.
func (p *two) send(ctx context.Context, ep *braid.Endpoint, n int) (sent int, err error) {
	payload := make([]byte, 8)
	for vain := 0; sent < n && vain < 1000; {
		r := ep.PostTag(uint64(sent), payload)
		done, err := r.Test()
		r.Release()
		switch {
		case done && errors.Is(err, braid.ErrLimit):
			vain++
		case done && err != nil:
			return sent, err
		default:
			vain = 0
			if sent++; sent%64 != 0 {
				continue
			}
		}
		if err := p.turn(ctx); err != nil {
			return sent, err
		}
	}
	return sent, nil
}

func (p *two) receive(n int) error {
	buf := make([]byte, 8)
	for i := range n {
		r := p.w[1].PostRecvTag(buf, 0, braid.AnyTag)
		if done, info, err := r.Test(); !done || err != nil || info.Tag != uint64(i) {
			return fmt.Errorf("message %d: %+v, %w", i, info, err)
		}
		r.Release()
	}
	return nil
}
