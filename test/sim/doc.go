// Package sim runs whole workers over the simulated network: random operations, random faults, and
// checkers that look at every delivery. A seed gives everything.
//
//	seed --> shape (lanes, limits), traffic of both sides, faults, schedule
//	             |
//	             v          checked at each delivery and at the end
//	workers a, b over transport/sim --> exactly once, order, memory, flush, nothing left
//
// It holds tests only.
package sim
