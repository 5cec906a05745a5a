package iov_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/fault/drive"
	"github.com/openbraid/braid/iov"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair is two workers that are connected, and memory of the second.
type pair struct {
	a, b *braid.Worker
	ep   *braid.Endpoint
	mem  *braid.Memory
	key  braid.RKey
	got  chan []byte // messages
}

func connect(ctx context.Context, t testing.TB, ao, bo braid.Options) *pair {
	t.Helper()
	var nodes [2]*braid.Node
	for i, o := range []braid.Options{ao, bo} {
		n, err := braid.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close() })
		nodes[i] = n
	}
	p := &pair{a: newWorker(t, nodes[0]), b: newWorker(t, nodes[1]), got: make(chan []byte, 16)}
	p.b.HandleAM(1, func(m *braid.Message) { p.got <- append(bytes.Clone(m.Header()), m.Payload()...) })
	to, err := p.b.Address()
	if err != nil {
		t.Fatal(err)
	}
	if p.ep, err = p.a.Connect(ctx, to); err != nil {
		t.Fatal(err)
	}
	if p.mem, err = nodes[1].Alloc(4 << 20); err != nil {
		t.Fatal(err)
	}
	p.key = p.mem.Key(braid.Write | braid.Read)
	return p
}

func patience(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// pieces is a list of these sizes, its bytes counted up from seed.
func pieces(seed byte, sizes ...int) (l iov.List) {
	for _, n := range sizes {
		b := make([]byte, n)
		for i := range b {
			b[i] = seed
			seed = seed*5 + 1
		}
		l = append(l, b)
	}
	return l
}

func joined(l iov.List) []byte { return bytes.Join(l, nil) }

// shapes are lists as sender and receiver have them: cut alike or not, with nothing in them, with one piece, small pieces and large ones.
var shapes = [][]int{nil, {0}, {1}, {0, 7, 0}, {8, 8}, {1, 2, 3, 4, 5, 0, 900}, {4096, 4095}, {70_000, 1}, {100_000, 0, 200_000}, {1 << 17, 1 << 17, 1 << 17}}

// xored packs as something else than it is: a packer and unpacker of a caller's own.
type xored struct {
	b      []byte
	packs  int
	failed error
}

func (x *xored) Len() int { return len(x.b) }
func (x *xored) Pack(dst []byte) {
	x.packs++
	for i := range dst {
		dst[i] = x.b[i] ^ 0x5a
	}
}
func (x *xored) Unpack(src []byte) error {
	x.packs++
	for i := range src {
		x.b[i] = src[i] ^ 0x5a
	}
	return x.failed
}

// run has each family carry a list of shape from to one of shape to.
func (p *pair) run(ctx context.Context, t *testing.T, from, to []int, seed byte) {
	src := pieces(seed, from...)
	want := joined(src)
	dst := pieces(0, to...)
	room := min(dst.Len(), len(want))
	check := func(what string, got []byte) {
		t.Helper()
		if !bytes.Equal(got, want[:len(got)]) {
			t.Errorf("%s: %v to %v: other bytes", what, from, to)
		}
	}
	if err := errors.Join(iov.Put(ctx, p.ep, src, p.key, 16), p.ep.Flush(ctx)); err != nil {
		t.Fatal("put:", err)
	}
	p.b.Progress() // the race detector does not see what the flush learned through a socket
	check("put", p.mem.Bytes()[16:16+len(want)])
	if err := iov.Get(ctx, p.ep, dst, p.key, 16); err != nil {
		t.Fatal("get:", err)
	}
	check("get", joined(dst)[:room])
	if err := iov.SendAM(ctx, p.ep, 1, []byte("h"), src); err != nil {
		t.Fatal("message:", err)
	}
	if got := <-p.got; len(got) != 1+len(want) {
		t.Errorf("message: %v: %d bytes", from, len(got))
	} else {
		check("message", got[1:])
	}
	dst = pieces(0, to...)
	short, received := len(want) > dst.Len(), make(chan error, 1)
	p.b.HandleOffer(2, func(m *braid.Message) { received <- iov.RecvAM(ctx, m, dst) })
	if err := iov.OfferAM(ctx, p.ep, 2, nil, src); err != nil {
		t.Error("offer:", err)
	}
	if err := <-received; errors.Is(err, braid.ErrTruncated) != short || err != nil && !short {
		t.Errorf("offer: %v to %v: %v", from, to, err)
	}
	check("offer", joined(dst)[:room])
	for _, send := range []func(context.Context, *braid.Endpoint, uint64, iov.List) error{iov.SendTag[iov.List], iov.SendTagSync[iov.List]} {
		dst = pieces(0, to...)
		var both sync.WaitGroup
		both.Go(func() {
			if err := send(ctx, p.ep, 3, src); err != nil {
				t.Error("tag:", err)
			}
		})
		info, err := iov.RecvTag(ctx, p.b, dst, 3, braid.ExactTag)
		if wantErr := len(want) > dst.Len(); info.Len != len(want) || errors.Is(err, braid.ErrTruncated) != wantErr || err != nil && !wantErr {
			t.Errorf("tag: %v to %v: %+v, %v", from, to, info, err)
		}
		both.Wait()
		check("tag", joined(dst)[:room])
	}
}

func TestShapes(t *testing.T) {
	ctx := patience(t)
	p := connect(ctx, t, braid.Options{}, braid.Options{})
	for i, from := range shapes {
		for j, to := range shapes {
			p.run(ctx, t, from, to, byte(16*i+j))
		}
	}
}

// TestUnderCuts: the same while both lanes are cut in turns.
func TestUnderCuts(t *testing.T) {
	ctx, start := patience(t), time.Now()
	now := func() time.Duration { return time.Since(start) }
	faults := fault.New(now)
	driver := drive.Start(faults, now) // so that what was cut heals when its time is over, whatever the test waits for
	t.Cleanup(driver.Stop)
	rails := []string{"127.0.0.1", "127.0.0.2"}
	times := braid.Times{RedialMin: time.Millisecond, RedialMax: 20 * time.Millisecond, Probe: 5 * time.Millisecond, Lost: 20 * time.Millisecond, Keepalive: 100 * time.Millisecond, Peer: 500 * time.Millisecond}
	p := connect(ctx, t, braid.Options{Rails: rails, Faults: faults, Times: times}, braid.Options{Rails: rails, Times: times})
	for i := range 40 {
		driver.Apply(fault.Rule{Rail: rails[i%2], Kind: fault.Kind(i / 2 % 2), For: 2 * time.Millisecond})
		p.run(ctx, t, shapes[i%len(shapes)], shapes[(i*7+3)%len(shapes)], byte(i))
	}
}

// TestOwn: what packs and unpacks itself does it once, for each family, and gets what came and no more.
func TestOwn(t *testing.T) {
	ctx := patience(t)
	p := connect(ctx, t, braid.Options{}, braid.Options{})
	for _, n := range []int{0, 9, 100_000} {
		src, dst := &xored{b: joined(pieces(3, n))}, &xored{b: make([]byte, n+5)}
		sent := make(chan error, 1)
		go func() { sent <- iov.SendTagSync(ctx, p.ep, 1, src) }()
		m, err := p.b.NextTag(ctx, 1, braid.ExactTag)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := iov.RecvTaken(ctx, m, dst); err != nil || info.Len != n || !bytes.Equal(dst.b[:n], src.b) {
			t.Errorf("%+v, %v", info, err)
		}
		if err := <-sent; err != nil || src.packs != 1 || dst.packs != 1 || !bytes.Equal(dst.b[n:], make([]byte, 5)) {
			t.Error(err, src.packs, dst.packs)
		}
		if err := errors.Join(iov.Put(ctx, p.ep, src, p.key, 0), p.ep.Flush(ctx)); err != nil {
			t.Error(err)
		}
		dst = &xored{b: make([]byte, n), failed: errors.New("not this")}
		if err := iov.Get(ctx, p.ep, dst, p.key, 0); !errors.Is(err, dst.failed) || !bytes.Equal(dst.b, src.b) {
			t.Error(err)
		}
	}
}

// TestEnds: with an error the pieces are the caller's again, and an Unpacker was not called.
func TestEnds(t *testing.T) {
	ctx := patience(t)
	p := connect(ctx, t, braid.Options{Limits: braid.Limits{Pending: 4}}, braid.Options{})
	large := pieces(1, 300_000, 300_000, 300_000, 300_000, 300_000, 300_000, 300_000, 300_000)
	if err := errors.Join(iov.Put(ctx, p.ep, large, p.key, 0), p.ep.Flush(ctx)); err != nil {
		t.Error("more pieces than may wait:", err)
	}
	p.b.Progress()
	if !bytes.Equal(p.mem.Bytes()[:large.Len()], joined(large)) {
		t.Error("other bytes")
	}
	if err := iov.Put(ctx, p.ep, large, p.key, 3<<20); !errors.Is(err, braid.ErrAccess) {
		t.Error("beyond the memory:", err)
	}
	p.ep.Flush(ctx)
	p.b.Progress()
	if at := slices.IndexFunc(p.mem.Bytes()[3<<20:], func(b byte) bool { return b != 0 }); at >= 0 {
		t.Errorf("a list that does not fit is there in part, from byte %d on", at)
	}
	own := &xored{b: make([]byte, 8)}
	if err := iov.Get(ctx, p.ep, own, p.key, 4<<20); !errors.Is(err, braid.ErrAccess) || own.packs != 0 {
		t.Error(err, own.packs)
	}
	for _, dst := range []iov.List{pieces(1, 8, 8), pieces(1, 300_000, 8)} {
		was := joined(dst)
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		if _, err := iov.RecvTagFrom(short, p.ep, dst, 1, braid.ExactTag); !errors.Is(err, context.DeadlineExceeded) || !bytes.Equal(joined(dst), was) {
			t.Error(err)
		}
		cancel()
	}
	p.ep.Abort()
	if err := iov.SendTag(ctx, p.ep, 1, large); !errors.Is(err, braid.ErrClosed) {
		t.Error(err)
	}
}

// unsized says that it has as many bytes as it likes.
type unsized int

func (n unsized) Len() int            { return int(n) }
func (n unsized) Pack([]byte)         { panic("there is nothing to pack") }
func (n unsized) Unpack([]byte) error { panic("nothing came") }

// TestUnsized: a number of bytes that can't be is an error, before anything is packed, sent or received.
func TestUnsized(t *testing.T) {
	ctx := patience(t)
	p := connect(ctx, t, braid.Options{}, braid.Options{})
	for _, n := range []unsized{-1, math.MinInt, math.MaxInt} {
		for name, call := range map[string]func() error{
			"tag":         func() error { return iov.SendTag(ctx, p.ep, 1, n) },
			"sync":        func() error { return iov.SendTagSync(ctx, p.ep, 1, n) },
			"message":     func() error { return iov.SendAM(ctx, p.ep, 1, nil, n) },
			"put":         func() error { return iov.Put(ctx, p.ep, n, p.key, 0) },
			"get":         func() error { return iov.Get(ctx, p.ep, n, p.key, 0) },
			"receive":     func() error { _, err := iov.RecvTag(ctx, p.a, n, 1, braid.ExactTag); return err },
			"from a peer": func() error { _, err := iov.RecvTagFrom(ctx, p.ep, n, 1, braid.ExactTag); return err },
		} {
			var op *braid.OpError
			if err := call(); !errors.Is(err, braid.ErrLimit) || !errors.As(err, &op) || op.Fate != braid.NotExecuted || op.Temporary() {
				t.Errorf("%s of %d bytes: %v", name, n, err)
			}
		}
	}
}

// TestNoAllocations: a list costs no memory beyond what one slice does, once there was one like it.
func TestNoAllocations(t *testing.T) {
	ctx := patience(t)
	p := connect(ctx, t, braid.Options{Owned: true, Lanes: 1}, braid.Options{})
	p.b.HandleAM(2, func(*braid.Message) {})
	costs := func(call func() error) float64 {
		round := func() {
			if err := call(); err != nil {
				t.Fatal(err)
			}
		}
		for range 200 {
			round()
		}
		return testing.AllocsPerRun(200, round)
	}
	for _, src := range []iov.List{pieces(1, 8, 50), pieces(1, 5000, 5000)} {
		one := joined(src)
		for name, calls := range map[string][2]func() error{
			"put":     {func() error { return iov.Put(ctx, p.ep, src, p.key, 0) }, func() error { return p.ep.Put(ctx, one, p.key, 0) }},
			"get":     {func() error { return iov.Get(ctx, p.ep, src, p.key, 0) }, func() error { return p.ep.Get(ctx, one, p.key, 0) }},
			"message": {func() error { return iov.SendAM(ctx, p.ep, 2, nil, src) }, func() error { return p.ep.SendAM(ctx, 2, nil, one) }},
		} {
			list, plain := 1.0, 0.0
			for try := 0; try < 5 && list > plain; try++ { // the peer is counted, too, and may be growing something
				list, plain = costs(calls[0]), costs(calls[1])
			}
			if list > plain && !raceEnabled {
				t.Errorf("%s of %d bytes in %d pieces: %v allocations, %v of one slice", name, len(one), len(src), list, plain)
			}
		}
	}
}

// Example sends a header and a body as one message, and has them apart again.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	n, err := braid.Open(braid.Options{})
	check(err)
	defer n.Close()
	w, err := n.NewWorker()
	check(err)
	address, err := w.Address()
	check(err)
	ep, err := w.Connect(ctx, address) // to itself
	check(err)

	check(iov.SendTag(ctx, ep, 7, iov.List{[]byte("head"), []byte("body")}))
	head, body := make([]byte, 4), make([]byte, 100)
	info, err := iov.RecvTag(ctx, w, iov.List{head, body}, 7, braid.ExactTag)
	check(err)
	fmt.Printf("%d bytes: %s, %s\n", info.Len, head, body[:info.Len-len(head)])
	check(ep.Close(ctx))
	// Output: 8 bytes: head, body
}

// newWorker is a worker of n.
func newWorker(t testing.TB, n *braid.Node) *braid.Worker {
	t.Helper()
	w, err := n.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	return w
}
