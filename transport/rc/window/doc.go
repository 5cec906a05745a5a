// Package window opens parts of registered memory to peers, for reading, under keys that can be revoked.
//
//	Open ──> bind, on a queue pair that is connected to itself ──> Opened: Key.RKey, Key.Addr can be told
//	  └── while that queue pair is not proven: a plain key, of a region of its own ──> Opened at once
//	Key.Shut: no peer reads any more, at once          Key.Close: and the memory may be used for something else
//
// transport/rc imports it. The queue pair is made with the addressing of data connections. It proves itself by a bind and a READ
// through the window, over the network to itself; what fails or takes too long is repaired: reset, resolved afresh, proven again, later
// each time. Why windows: a plain key costs a registration each time, which is dear on hardware.
//
// Invariants:
//
//  1. A key that was shut or closed opens nothing. Memory is free for something else when Close has said true, not before.
//  2. Each Open is answered once: Key.State is Open or Refused, and the owner is told, unless he has shut it.
//  3. No bind is waited for beyond its deadline; no trouble of the queue pair reaches a connection: its keys become plain ones.
//  4. What is repaired is tried a bounded number of times in a row, then keys are plain for ever.
package window
