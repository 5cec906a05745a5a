// Package sim is a network in memory with a virtual clock: any number of hosts in one process, a seed
// that decides all luck, and faults on demand. It starts no goroutine and reads no clock; time passes in Step only.
//
//	host a                         Net: now, seed, events                        host b
//	iface ── endpoint ── Flush ──> pipe: in flight, FIFO ── Step ── visible ──> Progress ── sink
//	             ^                     Break: a prefix may still arrive             │
//	             └─────────── acknowledgements, late and in lumps ─────────────────┘
//
// It is as nasty as the contract allows: several frames in one Progress or one at a time, control before
// queued data, large payloads in pieces, acknowledgements coalesced and delayed, Connected before or
// after the other side accepted, posts refused for no reason (Config.Stingy), breaks that each side notices at another time or
// never, zero-copy payloads read at any time until they are acknowledged.
//
// Who may import it: tests, simulations and commands; never the engine.
//
// Invariants:
//
//  1. Same seed, same configuration, same calls: same events, same Hash.
//  2. Time never goes back, and moves in Step only.
//  3. A direction that broke takes nothing in any more; what arrives of it is a prefix of what was in flight.
//  4. A quiesced endpoint's peer is told in bounded time, unless the way to it is silent.
//  5. Nothing is called back but from Progress, Purge, Cancel and Close.
//  6. With all endpoints and listeners closed and all buffers released, Open reports zeros.
package sim
