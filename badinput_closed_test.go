package braid_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// method is one way to use something, and what it returns.
type method struct {
	name string
	call func(context.Context) error
}

// endpointMethods are all of an endpoint that return an error, and then one that calls the rest.
func endpointMethods(ep *braid.Endpoint, key braid.RKey) []method {
	src := make([]byte, 100)
	return []method{
		{"Put", func(ctx context.Context) error { return ep.Put(ctx, src, key, 0) }},
		{"PostPut", func(ctx context.Context) error { return ep.PostPut(src, key, 0).Wait(ctx) }},
		{"Get", func(ctx context.Context) error { return ep.Get(ctx, src, key, 0) }},
		{"PostGet", func(ctx context.Context) error { return ep.PostGet(src, key, 0).Wait(ctx) }},
		{"SendAM", func(ctx context.Context) error { return ep.SendAM(ctx, 1, src, src) }},
		{"PostAM", func(ctx context.Context) error { return ep.PostAM(1, src, src).Wait(ctx) }},
		{"OfferAM", func(ctx context.Context) error { return ep.OfferAM(ctx, 1, src, make([]byte, 1<<20)) }},
		{"PostOfferAM", func(ctx context.Context) error { return ep.PostOfferAM(1, src, src).Wait(ctx) }},
		{"PutSignal", func(ctx context.Context) error { return ep.PutSignal(ctx, src, key, 0, braid.Signal{Key: key}) }},
		{"PostPutSignal", func(ctx context.Context) error {
			return ep.PostPutSignal(src, key, 0, braid.Signal{Key: key}).Wait(ctx)
		}},
		{"Flush", func(ctx context.Context) error { return ep.Flush(ctx) }},
		{"PostFlush", func(ctx context.Context) error { return ep.PostFlush().Wait(ctx) }},
		{"FlushWith", func(ctx context.Context) error {
			return ep.FlushWith(ctx, braid.FlushOptions{Sent: true, Cancel: true})
		}},
		{"PostFlushWith", func(ctx context.Context) error {
			return ep.PostFlushWith(braid.FlushOptions{Memory: key, Lanes: []string{"d1"}}).Wait(ctx)
		}},
		{"Close", func(ctx context.Context) error { return ep.Close(ctx) }},
		{"rest", func(context.Context) error {
			ep.Lanes()
			ep.Mode()
			ep.Stats()
			ep.Owns(key)
			ep.Word32(key, 0)
			ep.Word64(key, 0)
			ep.ProbeTag(0, braid.AnyTag)
			ep.TakeTag(0, braid.AnyTag)
			ep.Fence()
			ep.Worker().Node()
			if ep.Addr() == "" {
				return errors.New("the address is gone")
			}
			ep.Peer()
			ep.Err()
			ep.Abort()
			return net.ErrClosed
		}},
	}
}

// withTags are those before the others that wait for the peer to send or receive.
func withTags(ep *braid.Endpoint, others []method) []method {
	src := make([]byte, 100)
	return append([]method{
		{"SendTag", func(ctx context.Context) error { return ep.SendTag(ctx, 1, src) }},
		{"PostTag", func(ctx context.Context) error { return ep.PostTag(1, make([]byte, 1<<20)).Wait(ctx) }},
		{"SendTagSync", func(ctx context.Context) error { return ep.SendTagSync(ctx, 1, src) }},
		{"PostTagSync", func(ctx context.Context) error { return ep.PostTagSync(1, src).Wait(ctx) }},
		{"RecvTag", func(ctx context.Context) error {
			_, err := ep.RecvTag(ctx, src, 1, braid.ExactTag)
			return err
		}},
		{"PostRecvTag", func(ctx context.Context) error {
			_, err := ep.PostRecvTag(src, 0, braid.AnyTag).Wait(ctx)
			return err
		}},
		{"WaitTag", func(ctx context.Context) error { _, err := ep.WaitTag(ctx, 0, braid.AnyTag); return err }},
		{"PostWaitTag", func(ctx context.Context) error { _, err := ep.PostWaitTag(0, braid.AnyTag).Wait(ctx); return err }},
		{"NextTag", func(ctx context.Context) error { _, err := ep.NextTag(ctx, 0, braid.AnyTag); return err }},
	}, others...)
}

func listenerMethods(ln *braid.Listener) []method {
	return []method{
		{"Accept", func(ctx context.Context) error { _, err := ln.Accept(ctx); return err }},
		{"rest", func(context.Context) error {
			if ln.Addr() == "" || len(ln.Addrs()) == 0 {
				return errors.New("the address is gone")
			}
			if err := ln.Close(); err != nil {
				return err
			}
			return net.ErrClosed
		}},
	}
}

func workerMethods(w *braid.Worker, addr string) []method {
	return []method{
		{"Dial", func(ctx context.Context) error { _, err := w.Dial(ctx, addr); return err }},
		{"Listen", func(context.Context) error { _, err := w.Listen("127.0.0.1:0"); return err }},
		{"Flush", func(ctx context.Context) error { return w.Flush(ctx) }},
		{"RecvTag", func(ctx context.Context) error {
			_, err := w.RecvTag(ctx, make([]byte, 8), 1, braid.ExactTag)
			return err
		}},
		{"TakeTag", func(ctx context.Context) error {
			if _, ok := w.ProbeTag(0, braid.AnyTag); ok || w.TakeTag(0, braid.AnyTag) != nil {
				return errors.New("a message that nobody sent")
			}
			_, err := w.PostRecvTag(nil, 1, braid.ExactTag).Wait(ctx)
			return err
		}},
		{"rest", func(context.Context) error {
			w.Fence()
			w.HandleAM(1, func(*braid.Message) {})
			w.HandleOffer(1, func(*braid.Message) {})
			w.HandleAM(1, nil)
			w.Progress()
			if err := w.Close(); err != nil {
				return err
			}
			return net.ErrClosed
		}},
	}
}

func nodeMethods(n *braid.Node) []method {
	return []method{
		{"NewWorker", func(context.Context) error { _, err := n.NewWorker(); return err }},
		{"Alloc", func(context.Context) error { _, err := n.Alloc(8); return err }},
		{"Register", func(context.Context) error { _, err := n.Register(make([]byte, 8)); return err }},
		{"rest", func(context.Context) error {
			if err := n.Close(); err != nil {
				return err
			}
			return net.ErrClosed
		}},
	}
}

// TestA23_Closed: what is closed says so, to every call, for ever, by an error that matches net.ErrClosed.
func TestA23_Closed(t *testing.T) {
	for _, c := range []struct {
		what string
		end  func(*pair)
		test func(*pair, braid.RKey) []method
	}{
		{"endpoint closed", func(p *pair) { p.a.Close(context.Background()) }, func(p *pair, k braid.RKey) []method { return withTags(p.a, endpointMethods(p.a, k)) }},
		{"endpoint aborted", func(p *pair) { p.a.Abort() }, func(p *pair, k braid.RKey) []method { return withTags(p.a, endpointMethods(p.a, k)) }},
		{"endpoint, worker closed", func(p *pair) { p.aw.Close() }, func(p *pair, k braid.RKey) []method { return withTags(p.a, endpointMethods(p.a, k)) }},
		{"endpoint, node closed", func(p *pair) { p.an.Close() }, func(p *pair, k braid.RKey) []method { return withTags(p.a, endpointMethods(p.a, k)) }},
		{"listener", func(p *pair) { p.ln.Close() }, func(p *pair, k braid.RKey) []method { return listenerMethods(p.ln) }},
		{"listener, worker closed", func(p *pair) { p.bw.Close() }, func(p *pair, k braid.RKey) []method { return listenerMethods(p.ln) }},
		{"worker", func(p *pair) { p.aw.Close() }, func(p *pair, k braid.RKey) []method { return workerMethods(p.aw, p.ln.Addr()) }},
		{"worker, node closed", func(p *pair) { p.an.Close() }, func(p *pair, k braid.RKey) []method { return workerMethods(p.aw, p.ln.Addr()) }},
		{"node", func(p *pair) { p.an.Close() }, func(p *pair, k braid.RKey) []method { return nodeMethods(p.an) }},
	} {
		for _, owned := range []bool{false, true} {
			name := c.what
			if owned {
				name += ", owned"
			}
			t.Run(name, func(t *testing.T) {
				tidy(t)
				p, key := closable(t, owned)
				c.end(p)
				for range 2 {
					for _, m := range c.test(p, key) {
						err := m.call(testContext(t))
						var op *braid.OpError
						if !errors.Is(err, net.ErrClosed) || m.name != "rest" && (!errors.Is(err, braid.ErrClosed) || !errors.As(err, &op)) {
							t.Errorf("%s: %v, want an *OpError that is net.ErrClosed", m.name, err)
						}
					}
				}
			})
		}
	}
}

// TestA23_PeerClosed: what the peer has closed is closed for who goes by net.ErrClosed, and a closed node takes no memory; what one had before is still his.
func TestA23_PeerClosed(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p, key := closable(t, false)
	mem, err := p.an.Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	p.a.OnEnd(func(err error) { over <- err })
	if err := p.b.Close(ctx); err != nil {
		t.Fatal(err)
	}
	ends := map[string]error{"OnEnd": <-over, "Err": p.a.Err()}
	for _, m := range withTags(p.a, endpointMethods(p.a, key)) {
		if m.name == "Close" { // there is nothing left to be agreed
			break
		}
		ends[m.name] = m.call(ctx)
	}
	for name, err := range ends {
		if !errors.Is(err, net.ErrClosed) || !errors.Is(err, braid.ErrPeerClosed) || errors.Is(err, braid.ErrClosed) || errors.Is(err, braid.ErrPeerFailed) {
			t.Errorf("%s: %v, want ErrPeerClosed, which is net.ErrClosed, and not this side's", name, err)
		}
	}
	if err := p.an.Close(); err != nil {
		t.Fatal(err)
	}
	if mem.Store64(0, 1); mem.Load64(0) != 1 || mem.Deregister() != nil {
		t.Error("memory of a closed node is gone")
	}
}

func closable(t *testing.T, owned bool) (*pair, braid.RKey) {
	t.Helper()
	p := connect(t, braid.Options{Owned: owned}, braid.Options{})
	mem, err := p.bn.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	return p, mem.Key(braid.Write)
}

// TestCloseUnderUse: closing something that many goroutines use ends all they do: nothing panics, nothing hangs, and every
// error says what happened.
func TestCloseUnderUse(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*pair) error
	}{
		{"endpoint", func(p *pair) error { return p.a.Close(context.Background()) }},
		{"endpoint aborted", func(p *pair) error { p.a.Abort(); return nil }},
		{"peer", func(p *pair) error { return p.b.Close(context.Background()) }},
		{"peer aborted", func(p *pair) error { p.b.Abort(); return nil }},
		{"listener", func(p *pair) error { return p.ln.Close() }},
		{"worker", func(p *pair) error { return p.aw.Close() }},
		{"peer's worker", func(p *pair) error { return p.bw.Close() }},
		{"node", func(p *pair) error { return p.an.Close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			tidy(t)
			p, key := closable(t, false)
			p.bw.HandleOffer(1, func(*braid.Message) {})
			stop := make(chan struct{})
			var users sync.WaitGroup
			all := endpointMethods(p.a, key)
			all = append(all[:len(all)-2], listenerMethods(p.ln)[0]) // without those that close
			all = append(all, workerMethods(p.aw, p.ln.Addr())[:2]...)
			for _, m := range all {
				users.Go(func() { use(t, stop, m) })
			}
			users.Go(func() {
				for !over(stop) {
					p.a.Lanes()
					p.a.Err()
					p.a.Peer()
					p.ln.Addrs()
					p.aw.Progress()
				}
			})
			time.Sleep(20 * time.Millisecond)
			if err := c.end(p); err != nil && !errors.Is(err, braid.ErrPeerClosed) {
				t.Errorf("the end: %v", err)
			}
			time.Sleep(20 * time.Millisecond)
			close(stop)
			users.Wait()
		})
	}
}

func over(stop chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// use calls a method again and again. Each call has its own deadline, which must not be what ends it, but for a call
// that waits for others.
func use(t *testing.T, stop chan struct{}, m method) {
	patient := patience
	if m.name == "Accept" || m.name == "Dial" {
		patient = 50 * time.Millisecond
	}
	for !over(stop) {
		ctx, cancel := context.WithTimeout(context.Background(), patient)
		err := m.call(ctx)
		cancel()
		var op *braid.OpError
		switch {
		case err == nil:
		case !errors.As(err, &op):
			t.Errorf("%s: %v: no *OpError", m.name, err)
			return
		case errors.Is(err, context.DeadlineExceeded) && patient == patience:
			t.Errorf("%s hung: %v", m.name, err)
			return
		}
	}
}
