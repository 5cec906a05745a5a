package demo

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/internal/demo/tally"
	"github.com/openbraid/braid/transport"
)

// redialMax: a lane that comes back shall be seen to do so within the show. By default the pauses grow up to 5 s.
const redialMax = 250 * time.Millisecond

// sender is one of the two processes.
type sender struct {
	spec  spec
	t     *teller
	inj   *fault.Injector
	fence *fence
	watch laneWatch
	node  *braid.Node
	ep    *braid.Endpoint
	keys  chan keys
	pump  atomic.Pointer[pump]
}

// send connects, moves the data, cuts lanes meanwhile, and says what it sent.
func send(ctx context.Context, s spec, o braid.Options, t *teller) error {
	src, err := openSource(s.File, s.Bytes)
	if err != nil {
		return err
	}
	defer src.close()
	x := &sender{spec: s, t: t, inj: fault.New(now), keys: make(chan keys, 1)}
	defer x.inj.Close()
	x.fence = newFence(s.Rails, x.inj)
	k, err := x.connect(ctx, o)
	if x.node != nil {
		defer x.node.Close()
	}
	if err != nil {
		return err
	}
	t.tell(line{Ready: true})
	p := newPump(x.ep, k, src, s)
	x.pump.Store(p)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go each(ctx, s.every(), func() { t.tell(line{Tick: &tick{Bytes: p.sent.Load(), Messages: p.out.count()}}) })
	return x.load(ctx, p)
}

func (x *sender) connect(ctx context.Context, o braid.Options) (k keys, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	o.Name, o.Rails, o.Lanes, o.OnEvent = "demo sender", x.spec.Rails.local(), lanes, x.event
	o.Transports = []transport.Transport{x.fence.transport(x.spec.Over)}
	o.Settings = o.Settings.Clone()
	if err := o.Settings.Default("redial-max", redialMax.String()); err != nil {
		return k, err
	}
	if x.node, err = braid.Open(o); err != nil {
		return k, err
	}
	w, err := x.node.NewWorker()
	if err != nil {
		return k, err
	}
	w.HandleAM(tally.IDKeys, x.takeKeys)
	w.HandleAM(tally.IDRelease, x.takeRelease)
	if x.ep, err = w.Dial(ctx, x.spec.Addr); err != nil {
		return k, err
	}
	select {
	case k = <-x.keys:
	case <-ctx.Done():
		return k, fmt.Errorf("the receiver did not send its keys: %w", ctx.Err())
	}
	for !x.watch.allUp() {
		if pause(ctx, look) != nil {
			return k, x.watch.missing(x.spec.Rails.Names)
		}
	}
	return k, nil
}

func (x *sender) event(e braid.Event) {
	rail := x.fence.railOf(e.Lane)
	tellEvent(x.t, e, rail)
	x.watch.note(e.Kind, rail)
}

func (x *sender) takeKeys(m *braid.Message) {
	b := m.Payload()
	if len(b)%2 != 0 {
		return
	}
	var k keys
	var err1, err2 error
	k.ring, err1 = braid.ParseRKey(b[:len(b)/2])
	k.words, err2 = braid.ParseRKey(b[len(b)/2:])
	if errors.Join(err1, err2) == nil {
		x.keys <- k
	}
}

func (x *sender) takeRelease(m *braid.Message) {
	if p := x.pump.Load(); p != nil {
		p.release(tally.ParseRelease(m.Payload()))
	}
}

// load runs pump and cutter side by side, then ends the stream.
func (x *sender) load(ctx context.Context, p *pump) error {
	c := &cutter{inj: x.inj, fence: x.fence, time: x.spec.Time, watch: &x.watch, progress: p.progress, tell: x.t.tell, waits: patience}
	var cutErr error
	cut := make(chan struct{})
	go func() {
		defer close(cut)
		cutErr = c.run(ctx)
	}()
	err := p.run(ctx, func() bool {
		select {
		case <-cut:
			return false
		default:
			return true
		}
	})
	if err != nil {
		return err
	}
	r := sentResult{Started: p.begun}
	if cutErr != nil {
		r.Problems = append(r.Problems, cutErr.Error())
	}
	if err := x.ep.Flush(ctx); err != nil { // the last announcements are posted by then
		return err
	}
	if r.Totals, err = p.out.end(tally.Ending{Totals: p.issued, Cuts: c.stamps}); err != nil {
		return err
	}
	if err := x.ep.Flush(ctx); err != nil {
		return err
	}
	r.Digest = fmt.Sprintf("%x", p.sum.Sum(nil))
	x.t.tell(line{Sent: &r})
	<-ctx.Done() // the receiver still looks for what comes late
	return nil
}
