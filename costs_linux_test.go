package braid_test

import (
	"testing"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm"
	"github.com/openbraid/braid/transport/tcp"
)

// TestCosts: what each operation puts on its lane, to the byte: its frame, and of what is done in lent memory nothing. Who makes a head larger, sends a
// frame more, or copies where nothing was copied, changes a number here.
func TestCosts(t *testing.T) {
	for _, over := range []struct {
		name  string
		alone func() transport.Transport
		lends bool
	}{
		{"tcp", func() transport.Transport { return tcp.New(tcp.Options{}) }, false},
		{"shm", func() transport.Transport { return shm.New(shm.Options{}) }, true},
	} {
		t.Run(over.name, func(t *testing.T) {
			opts := func() braid.Options { return braid.Options{Transports: []transport.Transport{over.alone()}} }
			p := connect(t, opts(), opts())
			p.bw.HandleAM(1, func(*braid.Message) {})
			mem, err := p.bn.Register(make([]byte, 1<<20))
			if err != nil {
				t.Fatal(err)
			}
			key := mem.Key(all)
			ctx, b := testContext(t), make([]byte, 64<<10)
			for _, c := range []cost{
				{"message of 8 bytes", func() error { return p.a.SendAM(ctx, 1, nil, b[:8]) }, 4 + 8, 0, 0},
				{"message of 64 KiB with a header of 16", func() error { return p.a.SendAM(ctx, 1, b[:16], b) }, 4 + 16 + 64<<10, 0, 0},
				{"put of 8 bytes", func() error { return p.a.Put(ctx, b[:8], key, 0) }, 32 + 8, 0, 0},
				{"put of 64 KiB", func() error { return p.a.Put(ctx, b, key, 0) }, 32 + 64<<10, 0, 0},
				{"get of 64 KiB", func() error { return p.a.Get(ctx, b, key, 0) }, 40, 24 + 64<<10, 0},
			} {
				c.expect(t, p)
			}
			if !over.lends {
				return
			}
			lent := borrowed(t, p, 1<<20, false).Key(all)
			for _, c := range []cost{
				{"put of 64 KiB into lent memory", func() error { return p.a.Put(ctx, b, lent, 0) }, 0, 0, 1},
				{"get of 64 KiB from it", func() error { return p.a.Get(ctx, b, lent, 0) }, 0, 0, 1},
				{"put of 8 bytes into it", func() error { return p.a.Put(ctx, b[:8], lent, 0) }, 0, 0, 1},
			} {
				c.expect(t, p)
			}
		})
	}
}

// cost is an operation and what it brings.
type cost struct {
	name   string
	run    func() error
	there  uint64 // bytes posted by who asks
	back   uint64 // by the other one
	direct uint64 // operations in lent memory
}

// expect runs it until it is executed, and looks.
func (c cost) expect(t *testing.T, p *pair) {
	t.Helper()
	for range 3 {
		a, b, d := p.a.Lanes()[0].PostedBytes, p.b.Lanes()[0].PostedBytes, p.a.Stats().Direct
		if err := c.run(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if err := p.a.Flush(testContext(t)); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		a, b, d = p.a.Lanes()[0].PostedBytes-a, p.b.Lanes()[0].PostedBytes-b, p.a.Stats().Direct-d
		if a != c.there || b != c.back || d != c.direct {
			t.Errorf("%s: %d bytes there, %d back, %d direct; want %d, %d, %d", c.name, a, b, d, c.there, c.back, c.direct)
		}
	}
}
