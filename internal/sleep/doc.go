// Package sleep lets one goroutine sleep on descriptors until one of them is readable, a
// time is over, or somebody wakes it.
//
//	Wait(timeout) --+-- a descriptor is readable
//	                +-- Wake() from any goroutine
//	                +-- the time is over
//	FD(), Arm(time) all of that as one descriptor, where the system has such (Linux)
//
// Pace is for who polls before he sleeps: when others get the processor meanwhile, and when polling is over.
//
// Keeper is the goroutine that sleeps in the place of a worker's users, and makes progress while none of them does; Relief stands in for it.
//
// The root package imports it.
//
// Invariants:
//
//  1. A Wake that comes before Wait makes that Wait return at once: no wake-up is lost. So does one that
//     comes before Arm: it says false.
//  2. Wait and Arm are for one goroutine at a time, Wake for any.
//  3. The descriptor is readable as long as its reason lasts, and no longer: level-triggered. After Arm said true, an edge
//     comes with the next reason.
package sleep
