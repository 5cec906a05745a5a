// Package fabric is a network in memory for software RDMA devices: virtual time, a link layer with neighbours, no goroutine.
//
//	Port a ── Send ──> in flight, by time ── Step ──> inbox ── Recv ── Port b
//	  │ Resolve                                          ^
//	  └──> neighbour table: address ──> MAC ─────────────┘ only if the MAC still has the address
//
// Who may import it: tests, simulations and programs; it imports the contract of carriers.
//
// Invariants:
//
//  1. Same calls, same deliveries: there is no luck here (carrier.Faults brings it).
//  2. Time never goes back, and moves in Step only.
//  3. A datagram for a MAC that no longer has the address is lost, as a switch does with it.
//  4. An inbox holds no more than its port's Inbox bytes: what comes then is lost, as in a socket's buffer.
package fabric
