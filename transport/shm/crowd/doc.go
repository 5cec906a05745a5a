// Package crowd says which of many connections through shared memory are polled, and how large their rings are.
//
//	polled ──Drowse: nothing for Quiet turns──> dozes ──Stir: its bell rang──> polled
//
// Who polls looks at each connection's next slot, which is a line of memory each, and beyond some hundred of them those lines are in no cache. One that dozes has told its peer, as
// before sleeping (Iface.Watch): he rings the socket when there is something, and the system says whose bell it was. transport/shm imports it.
//
// Invariants:
//
//  1. Each member is polled or dozes.
//  2. Up to Most members, none dozes.
package crowd
