package sim

import (
	"testing"

	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport/sim"
)

// stingyShape has lanes that have no room now and then, for nobody knows what reason, and are often cut: what is to be replayed waits where
// what was issued later would find room.
func stingyShape(seed uint64) shape {
	w := &world{luck: seed ^ 0x8badf00d5eed}
	return shape{
		lanes: 2 + w.n(2), ops: 150, faults: 16, mode: wire.ModeFailover, regions: 40, slot: 9000, kinds: []sim.Kind{sim.Reset, sim.Some},
		net:    sim.Config{MaxHead: 2048, MaxFrame: 4096, Window: 16 << 10, Stingy: 2},
		config: config.Config{Bounds: config.Bounds{Window: 16 << 10, Pending: 100, PendingBytes: 1 << 20, Stripe: 64 << 10, Backlog: 1 << 20, Replies: 4}},
	}
}

// TestStingy: replays go first, however often they find no room (R13).
func TestStingy(t *testing.T) {
	eachSeed(t, 50, 20, func(seed uint64) *world {
		w := newWorld(seed, stingyShape(seed))
		w.run()
		return w
	})
}
