package litmus

import "github.com/openbraid/braid/transport/sim"

// few take a second of a processor, all together: every go test runs them.
var few = []program{
	{"P | P", 1, 0, sim.Reset},
	{"P | P", 1, 1, sim.Reset},
	{"P | P", 2, 0, sim.Reset},
	{"P P | P", 2, 0, sim.Reset},
	{"Q | P", 2, 0, sim.Reset},
	{"S", 2, 0, sim.Reset},
	{"S", 2, 1, sim.Reset},
	{"G1 | P", 2, 0, sim.Reset},
	{"P @1 P || P", 1, 0, sim.Reset},
	{"M >1 M", 2, 0, sim.Reset},
	{"M P >1 | M", 2, 0, sim.Reset},
	{"P V0 P | P", 2, 0, sim.Reset},
	{"M V0 P | M M", 2, 0, sim.Reset},
	{"R | P", 2, 0, sim.Reset},
	{"P | R", 2, 0, sim.Reset},
}

// many take ten seconds of a processor: make litmus runs them too.
var many = []program{
	{"M | P | M F", 1, 0, sim.Reset},
	{"Q | M F", 1, 1, sim.Reset},
	{"M M | P", 1, 1, sim.Reset},
	{"L | P", 1, 1, sim.Reset},
	{"P | G0", 1, 1, sim.Reset},
	{"G1 | P", 1, 1, sim.Reset},
	{"s | M F", 1, 1, sim.Reset},
	{"P | P", 1, 1, sim.Silence},

	{"Q | P F", 2, 0, sim.Reset},
	{"P P | M F", 2, 0, sim.Reset},
	{"S P | M", 2, 0, sim.Reset},
	{"M || Q F", 2, 0, sim.Reset},
	{"P | G0 | P", 2, 0, sim.Reset},
	{"L P | s", 2, 0, sim.Reset},
	{"P @1 P || P @0 P", 2, 0, sim.Reset},

	{"P | P", 2, 1, sim.Reset},
	{"P P | P", 2, 1, sim.Reset},
	{"P M | s", 2, 1, sim.Reset},
	{"Q | P", 2, 1, sim.Reset},
	{"P | G0", 2, 1, sim.Reset},
	{"G1 | P", 2, 1, sim.Reset},
	{"M | M", 2, 1, sim.Reset},
	{"P F", 2, 1, sim.Reset},
	{"P | P", 2, 1, sim.Silence},

	// Messages in parts: these have no order, and no fence stops them.
	{"R M | R", 2, 0, sim.Reset},
	{"R >1 R | M", 2, 0, sim.Reset},
	{"R C0 | P", 2, 0, sim.Reset},
	{"Q | R", 2, 1, sim.Reset},
	{"M R", 2, 1, sim.Reset},
	{"R M", 2, 1, sim.Reset},
	{"R | P", 2, 1, sim.Reset},

	// Atomics: one that fetches is executed before it is answered.
	{"A | A", 2, 0, sim.Reset},
	{"Q | A | P", 2, 0, sim.Reset},
	{"A | A", 1, 1, sim.Reset},
	{"A | P F", 2, 1, sim.Reset},
	{"a | A", 2, 1, sim.Reset},
	{"A C0 | a F", 1, 1, sim.Reset},
	{"A @1 A || A @0 a W", 1, 0, sim.Reset},
	{"A @c A | A @0 | a", 1, 1, sim.Reset},

	// The order lane moves, and lanes become slower.
	{"M >1 | M", 2, 0, sim.Reset},
	{"Q >1 M | P", 2, 0, sim.Reset},
	{"M | >1 P | M F", 2, 0, sim.Reset},
	{"L >1 M >0 | M", 2, 0, sim.Reset},
	{"Q | V0 P | M", 2, 0, sim.Reset},
	{"M V0 A | M >1 F", 2, 0, sim.Reset},
	{"P >1 M | P", 3, 0, sim.Reset},
	{"M >1 | M", 2, 1, sim.Reset},
	{"M >1 M | P", 2, 1, sim.Reset},
	{"P V0 P | P", 2, 1, sim.Reset},
	{"M V0 | >1 M", 2, 1, sim.Reset},
	{"M V0 P | M M", 2, 1, sim.Reset},

	// Flushes of a part, of a worker, and what is canceled.
	{"Q P Fs", 2, 0, sim.Reset},
	{"Q M Fm", 2, 0, sim.Reset},
	{"Q P Fl", 2, 0, sim.Reset},
	{"Q Fm", 2, 1, sim.Reset},
	{"Q Fl", 2, 1, sim.Reset},
	{"Q | P X", 2, 0, sim.Reset},
	{"Q | P C1", 2, 0, sim.Reset},
	{"Q | L C1 | P", 2, 0, sim.Reset},
	{"Q | P X", 1, 1, sim.Reset},
	{"Q C0 | P", 1, 1, sim.Reset},
	{"S C0 | P", 2, 0, sim.Reset},
	{"P @1 Q || P W", 1, 1, sim.Reset},

	// Three endpoints, and two workers.
	{"P @1 P @2 P || P", 1, 0, sim.Reset},
	{"P @1 M @2 P || M @1 M", 1, 0, sim.Reset},
	{"Q @1 P || P @0 P W", 2, 0, sim.Reset},
	{"P @c P || P @0 | P", 1, 0, sim.Reset},
	{"P @c Q | P @0 | P", 1, 1, sim.Reset},

	// Two cuts, of which the second one takes what the first one had replayed: the case of a reply that is lost twice. And two lanes of which each may be
	// dead in one direction.
	{"A", 2, 2, sim.Reset},
	{"P", 2, 2, oneWay},
	{"A", 2, 2, oneWay},

	// What has most states.
	{"Q | P F", 2, 1, sim.Reset},
	{"Q | M", 2, 1, sim.Reset},
	{"S P | M", 2, 1, sim.Reset},
	{"P | P | P", 2, 1, sim.Reset},
	{"P P | P", 2, 1, sim.Silence},
	{"P | P", 1, 2, sim.Reset},
	{"P | P", 3, 1, sim.Reset},
}
