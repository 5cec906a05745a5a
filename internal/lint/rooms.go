package lint

import "strings"

// kind is what a room is for; the rules that are not about rank go by it.
type kind uint8

const (
	service        kind = iota // one job each, knows nothing of the module's purpose
	contract                   // what engine and implementations agree on
	engine                     // decides; never knows an implementation
	implementation             // carries frames; never knows the engine
	public                     // the root package: brings the two together
	program                    // commands, examples, benchmarks: flags, printing, files
	testOnly                   // imported by tests only
)

// room is one row of the table.
type room struct {
	dir  string // "x/..." stands for everything below x
	rank int
	kind kind
	// edge: must block or look at the real clock, so it may do what is banned inside.
	edge bool
}

// rooms is the table of the arrows, lowest first. A new package gets its row here in the
// change that creates it. Packages of one rank don't know each other.
var rooms = []room{
	{dir: "internal/address", rank: 0, kind: service},
	{dir: "internal/clock", rank: 0, kind: service, edge: true},
	{dir: "internal/flight", rank: 0, kind: service},
	{dir: "internal/fsm", rank: 0, kind: service},
	{dir: "internal/inspect", rank: 0, kind: service},
	{dir: "internal/invariants", rank: 0, kind: service},
	{dir: "internal/poll", rank: 0, kind: service},
	{dir: "internal/ring", rank: 0, kind: service},
	{dir: "internal/outcome", rank: 0, kind: service},
	{dir: "internal/secret", rank: 0, kind: service},
	{dir: "internal/sleep", rank: 0, kind: service, edge: true},
	{dir: "internal/textfile", rank: 0, kind: service, edge: true},
	{dir: "internal/timer", rank: 0, kind: service},
	{dir: "internal/topo", rank: 0, kind: service},
	{dir: "internal/wire", rank: 0, kind: service},
	{dir: "rdma/soft/packet", rank: 0, kind: service},

	{dir: "internal/config", rank: 1, kind: service},
	{dir: "internal/family", rank: 1, kind: service},
	{dir: "internal/rail", rank: 1, kind: service, edge: true},
	{dir: "rdma", rank: 1, kind: contract},
	{dir: "transport", rank: 1, kind: contract},

	{dir: "fault", rank: 2, kind: contract},
	{dir: "internal/ledger", rank: 2, kind: service},
	{dir: "internal/mpool", rank: 2, kind: service},
	{dir: "internal/rota", rank: 2, kind: service},
	{dir: "rdma/soft/carrier", rank: 2, kind: contract},
	{dir: "rdma/soft/pace", rank: 2, kind: service},
	{dir: "rdma/verbs/books", rank: 2, kind: service},
	{dir: "transport/rc/life", rank: 2, kind: service},
	{dir: "transport/rc/queue", rank: 2, kind: service},
	{dir: "transport/rc/wire", rank: 2, kind: service},
	{dir: "transport/shm/bulk", rank: 2, kind: service},
	{dir: "transport/shm/budget", rank: 2, kind: service},
	{dir: "transport/shm/cma", rank: 2, kind: service},
	{dir: "transport/shm/life", rank: 2, kind: service},
	{dir: "transport/shm/ring", rank: 2, kind: service},
	{dir: "transport/shm/segment", rank: 2, kind: service},

	{dir: "fault/drive", rank: 3, kind: service, edge: true},
	{dir: "internal/cost", rank: 3, kind: engine},
	{dir: "internal/delivery", rank: 3, kind: engine},
	{dir: "internal/failover", rank: 3, kind: engine},
	{dir: "internal/health", rank: 3, kind: engine},
	{dir: "internal/lane", rank: 3, kind: engine},
	{dir: "internal/life", rank: 3, kind: engine},
	{dir: "internal/match", rank: 3, kind: engine},
	{dir: "internal/memory", rank: 3, kind: engine},
	{dir: "internal/order", rank: 3, kind: engine},
	{dir: "internal/reassembly", rank: 3, kind: engine},
	{dir: "internal/weight", rank: 3, kind: engine},
	{dir: "internal/verdict", rank: 3, kind: program},
	{dir: "rdma/soft/faulty", rank: 3, kind: contract},
	{dir: "rdma/soft/fabric", rank: 3, kind: implementation},
	{dir: "rdma/soft/ring", rank: 3, kind: service},
	{dir: "rdma/soft/udp", rank: 3, kind: implementation},
	{dir: "rdma/verbs", rank: 3, kind: implementation},
	{dir: "transport/self", rank: 3, kind: implementation},
	{dir: "transport/shm/crowd", rank: 3, kind: service},
	{dir: "transport/shm/frames", rank: 3, kind: service},
	{dir: "transport/shm/greeting", rank: 3, kind: service},
	{dir: "transport/shm/loan", rank: 3, kind: service},
	{dir: "transport/mix", rank: 3, kind: implementation},
	{dir: "transport/rc/mail", rank: 3, kind: implementation},
	{dir: "transport/rc/window", rank: 3, kind: service},
	{dir: "transport/sim", rank: 3, kind: implementation},
	{dir: "transport/tcp", rank: 3, kind: implementation},

	{dir: "internal/owed", rank: 4, kind: engine},
	{dir: "internal/paths", rank: 4, kind: engine},
	{dir: "internal/request", rank: 4, kind: engine},
	{dir: "internal/direct", rank: 4, kind: engine},
	{dir: "transport/shm", rank: 4, kind: implementation},
	{dir: "rdma/soft", rank: 4, kind: implementation},

	{dir: "transport/rc/outbox", rank: 4, kind: service},

	{dir: "rdma/faulty", rank: 5, kind: contract},
	{dir: "transport/shm/faulty", rank: 5, kind: contract},
	{dir: "internal/arrivals", rank: 5, kind: engine},
	{dir: "internal/offer", rank: 5, kind: engine},
	{dir: "internal/protocol", rank: 5, kind: engine},
	{dir: "internal/replay", rank: 5, kind: engine},
	{dir: "rdma/soft/host", rank: 5, kind: implementation, edge: true},
	{dir: "transport/rc", rank: 5, kind: implementation},
	{dir: "internal/wireup", rank: 5, kind: engine},

	{dir: "internal/outbox", rank: 6, kind: engine},
	{dir: "internal/tags", rank: 6, kind: engine},
	{dir: "transport/softrc", rank: 6, kind: implementation, edge: true},
	{dir: "transport/verbsrc", rank: 6, kind: implementation, edge: true},

	{dir: "internal/carriers", rank: 7, kind: public},
	{dir: "internal/control", rank: 7, kind: engine, edge: true},
	{dir: "internal/crank", rank: 7, kind: engine, edge: true},
	{dir: "internal/intake", rank: 7, kind: engine},

	{dir: "internal/handle", rank: 8, kind: engine},
	{dir: "internal/worker", rank: 8, kind: engine},

	{dir: ".", rank: 9, kind: public, edge: true},

	{dir: "internal/stream/frame", rank: 0, kind: service},
	{dir: "internal/stream/flow", rank: 1, kind: service},
	{dir: "explain", rank: 10, kind: public, edge: true},
	{dir: "stream", rank: 10, kind: public, edge: true},
	{dir: "completion", rank: 10, kind: public, edge: true},
	{dir: "iov", rank: 10, kind: public, edge: true},

	{dir: "internal/files/dialogue", rank: 1, kind: service},
	{dir: "internal/files/tree", rank: 2, kind: service, edge: true},
	{dir: "internal/live", rank: 2, kind: program, edge: true},

	{dir: "internal/files", rank: 11, kind: program, edge: true},
	{dir: "internal/demo/...", rank: 11, kind: program, edge: true},
	{dir: "internal/info", rank: 11, kind: program, edge: true},
	{dir: "internal/perf/...", rank: 11, kind: program, edge: true},

	{dir: "bench/...", rank: 12, kind: program, edge: true},
	{dir: "cmd/...", rank: 12, kind: program, edge: true},
	{dir: "examples/...", rank: 12, kind: program, edge: true},

	{dir: "internal/golden", rank: 0, kind: testOnly},
	{dir: "internal/lint", rank: 2, kind: testOnly, edge: true},
	{dir: "rdma/rdmatest", rank: 3, kind: testOnly, edge: true},
	{dir: "transport/transporttest", rank: 3, kind: testOnly, edge: true},
	{dir: "test/...", rank: 13, kind: testOnly, edge: true},
}

// roomOf finds the row of a folder.
func roomOf(dir string) (room, bool) {
	for _, r := range rooms {
		if top, below := strings.CutSuffix(r.dir, "/..."); below {
			if dir == top || strings.HasPrefix(dir, top+"/") {
				return r, true
			}
		} else if dir == r.dir {
			return r, true
		}
	}
	// Nothing is known about it: it gets the strictest rules and reports of its own.
	return room{dir: dir, kind: service}, false
}
