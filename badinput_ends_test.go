package braid_test

import (
	"context"
	"errors"
	"io"
	"net"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// relay stands between a dialer and whoever it leads to, and can hang up on both.
type relay struct {
	ln net.Listener
	mu sync.Mutex
	to string // nobody: who dials is hung up on
	up []net.Conn
	wg sync.WaitGroup
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{ln: ln, to: to}
	r.wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			r.join(c)
		}
	})
	t.Cleanup(func() { ln.Close(); r.lead(""); r.wg.Wait() })
	return r
}

func (r *relay) join(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, err := net.Dial("tcp", r.to)
	if err != nil {
		c.Close()
		return
	}
	r.up = append(r.up, c, d)
	r.wg.Go(func() { io.Copy(c, d); c.Close() })
	r.wg.Go(func() { io.Copy(d, c); d.Close() })
}

// lead hangs up, and leads who dials then to another address.
func (r *relay) lead(to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.up {
		c.Close()
	}
	r.to, r.up = to, nil
}

// say says something to the dialer in the peer's name.
func (r *relay) say(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.up[0].Write(b)
}

// related is a pair whose only lane runs through a relay. Nothing else leads to the peer: it listens by its address, and is dialed by the relay's.
func related(t *testing.T, o braid.Options) (*pair, *relay) {
	t.Helper()
	o.Lanes, o.Rails = 1, []string{"127.0.0.1"}
	p := &pair{aw: worker(t, o), bw: worker(t, braid.Options{Lanes: 1, Rails: []string{"127.0.0.1"}})}
	p.an, p.bn = p.aw.Node(), p.bw.Node()
	var err error
	if p.ln, err = p.bw.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	r := newRelay(t, p.ln.Addr())
	if p.a, err = p.aw.Dial(testContext(t), r.ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if p.b, err = p.ln.Accept(testContext(t)); err != nil {
		t.Fatal(err)
	}
	return p, r
}

// wordMethods are those of the words of a peer's memory.
func wordMethods[T uint32 | uint64](name string, w braid.Word[T]) []method {
	fetched := func(fn func(context.Context) (T, error)) func(context.Context) error {
		return func(ctx context.Context) error { _, err := fn(ctx); return err }
	}
	with := func(fn func(context.Context, T) (T, error)) func(context.Context) error {
		return fetched(func(ctx context.Context) (T, error) { return fn(ctx, 1) })
	}
	posted := func(fn func(T) braid.Fetch[T]) func(context.Context) error {
		return fetched(func(ctx context.Context) (T, error) { return fn(1).Wait(ctx) })
	}
	list := []method{
		{"Add", func(ctx context.Context) error { return w.Add(ctx, 1) }},
		{"And", func(ctx context.Context) error { return w.And(ctx, 1) }},
		{"Or", func(ctx context.Context) error { return w.Or(ctx, 1) }},
		{"Xor", func(ctx context.Context) error { return w.Xor(ctx, 1) }},
		{"FetchAdd", with(w.FetchAdd)}, {"FetchAnd", with(w.FetchAnd)}, {"FetchOr", with(w.FetchOr)}, {"FetchXor", with(w.FetchXor)}, {"Swap", with(w.Swap)},
		{"CompareSwap", fetched(func(ctx context.Context) (T, error) { return w.CompareSwap(ctx, 0, 1) })},
		{"PostAdd", func(ctx context.Context) error { return w.PostAdd(1).Wait(ctx) }},
		{"PostAnd", func(ctx context.Context) error { return w.PostAnd(1).Wait(ctx) }},
		{"PostOr", func(ctx context.Context) error { return w.PostOr(1).Wait(ctx) }},
		{"PostXor", func(ctx context.Context) error { return w.PostXor(1).Wait(ctx) }},
		{"PostFetchAdd", posted(w.PostFetchAdd)}, {"PostFetchAnd", posted(w.PostFetchAnd)}, {"PostFetchOr", posted(w.PostFetchOr)}, {"PostFetchXor", posted(w.PostFetchXor)}, {"PostSwap", posted(w.PostSwap)},
		{"PostCompareSwap", fetched(func(ctx context.Context) (T, error) { return w.PostCompareSwap(0, 1).Wait(ctx) })},
	}
	for i := range list {
		list[i].name = name + "." + list[i].name
	}
	return list
}

// TestEveryCallIsListed: the table below has each call of an endpoint and of a word that may say why not.
func TestEveryCallIsListed(t *testing.T) {
	p := connect(t, braid.Options{}, braid.Options{})
	have := map[string]bool{}
	for _, m := range every(p.a, braid.RKey{}) {
		have[m.name] = true
	}
	for _, silent := range []string{"Abort", "Addr", "Err", "Fence", "Format", "Lanes", "Mode", "OnEnd", "Owns", "Peer", "ProbeTag", "Stats", "TakeTag", "Word32", "Word64", "Worker"} {
		have[silent] = true // "rest" calls them
	}
	for prefix, of := range map[string]reflect.Type{"": reflect.TypeFor[*braid.Endpoint](), "Word32.": reflect.TypeFor[braid.Word[uint32]](), "Word64.": reflect.TypeFor[braid.Word[uint64]]()} {
		for m := range of.Methods() {
			if !have[prefix+m.Name] {
				t.Errorf("%s%s is called by no test of ends", prefix, m.Name)
			}
		}
	}
}

// every is all calls.
func every(ep *braid.Endpoint, key braid.RKey) []method {
	words := append(wordMethods("Word64", ep.Word64(key, 0)), wordMethods("Word32", ep.Word32(key, 0))...)
	return append(words, withTags(ep, endpointMethods(ep, key))...)
}

// end is one way in which an endpoint ends.
type end struct {
	name string
	o    braid.Options
	end  func(*testing.T, *pair, *relay)
	want []error // what errors.Is finds, besides the one that says whether it was closed or failed
}

func waysToEnd() []end {
	short := braid.Times{Suspended: 100 * time.Millisecond, RedialMin: time.Millisecond, RedialMax: 10 * time.Millisecond}
	list := []end{
		{"closed", braid.Options{}, func(t *testing.T, p *pair, _ *relay) { p.a.Close(testContext(t)) }, []error{net.ErrClosed, braid.ErrClosed}},
		{"aborted", braid.Options{}, func(_ *testing.T, p *pair, _ *relay) { p.a.Abort() }, []error{net.ErrClosed, braid.ErrClosed}},
		{"its worker is closed", braid.Options{}, func(_ *testing.T, p *pair, _ *relay) { p.aw.Close() }, []error{net.ErrClosed, braid.ErrClosed}},
		{"its node is closed", braid.Options{}, func(_ *testing.T, p *pair, _ *relay) { p.an.Close() }, []error{net.ErrClosed, braid.ErrClosed}},
		{"closed by the peer", braid.Options{}, func(t *testing.T, p *pair, _ *relay) { p.b.Close(testContext(t)) }, []error{net.ErrClosed, braid.ErrPeerClosed}},
		{"the peer's node is closed", braid.Options{}, func(_ *testing.T, p *pair, _ *relay) { p.bn.Close() }, []error{braid.ErrPeerFailed}},
		{"aborted by the peer", braid.Options{}, func(_ *testing.T, p *pair, _ *relay) { p.b.Abort() }, []error{braid.ErrPeerFailed}},
		{"suspended for too long", braid.Options{Times: short}, func(_ *testing.T, _ *pair, r *relay) { r.lead("") }, []error{braid.ErrPeerFailed}},
		{"what can't be came", braid.Options{}, func(_ *testing.T, _ *pair, r *relay) { r.say(raw(9, control, noise(1, 20), nil)) }, []error{braid.ErrPeerFailed, braid.ErrProtocol}},
		{"another process is there", braid.Options{Times: braid.Times{RedialMin: time.Millisecond, RedialMax: 10 * time.Millisecond}}, func(t *testing.T, _ *pair, r *relay) {
			ln, err := worker(t, braid.Options{Lanes: 1, Rails: []string{"127.0.0.1"}}).Listen("127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			r.lead(ln.Addr())
		}, []error{braid.ErrPeerFailed, braid.ErrPeerRestarted}},
	}
	for _, mode := range []braid.ErrorMode{braid.Peer, braid.None} {
		list = append(list, end{"a lane is lost in mode " + mode.String(), braid.Options{ErrorMode: mode}, func(_ *testing.T, _ *pair, r *relay) { r.lead("") }, []error{braid.ErrPeerFailed, braid.ErrLaneFailed}})
	}
	return list
}

// TestEveryCallAfterEveryEnd: whatever an endpoint ended by, each call on it says so at once: by net.ErrClosed, if it was closed, else by ErrPeerFailed, never by both, and by what it was in particular.
func TestEveryCallAfterEveryEnd(t *testing.T) {
	for _, e := range waysToEnd() {
		t.Run(e.name, func(t *testing.T) {
			tidy(t)
			p, r := related(t, e.o)
			mem, err := p.bn.Alloc(100)
			if err != nil {
				t.Fatal(err)
			}
			why := make(chan error, 1)
			p.a.OnEnd(func(err error) { why <- err })
			posted := p.a.PostRecvTag(make([]byte, 8), 1, braid.ExactTag)
			e.end(t, p, r)
			select {
			case err := <-why:
				e.check(t, "OnEnd", err)
			case <-time.After(patience):
				t.Fatal("it has not ended")
			}
			_, err = posted.Wait(testContext(t))
			e.check(t, "a receive from before", err)
			if err := p.a.Err(); err != nil { // none after its own Close: it has not failed
				e.check(t, "Err", err)
			}
			for _, m := range every(p.a, mem.Key(braid.Read|braid.Write|braid.Atomic)) {
				err := m.call(testContext(t))
				switch {
				case m.name == "Close" && err == nil && errors.Is(p.a.Err(), braid.ErrPeerClosed): // both have agreed
				case m.name != "rest":
					e.check(t, m.name, err)
				case !errors.Is(err, net.ErrClosed):
					t.Error(err)
				}
			}
		})
	}
}

// check checks what a call says.
func (e *end) check(t *testing.T, name string, err error) {
	t.Helper()
	if errors.Is(err, io.EOF) {
		t.Errorf("%s: %v: io.EOF says that all has come", name, err)
	}
	if errors.Is(err, net.ErrClosed) == errors.Is(err, braid.ErrPeerFailed) {
		t.Errorf("%s: %v: net.ErrClosed or ErrPeerFailed, and one of them", name, err)
	}
	for _, want := range e.want {
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}
