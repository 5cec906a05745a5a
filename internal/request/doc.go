// Package request is one operation in flight, and the pool that operations come from.
//
//	          posted whole        payload free        peer has it all
//	queued ----------------> on lanes --------> sent ----------------> executed
//	   \________________________________________ended with an error___/
//
// The engine and internal/protocol import it.
//
// Invariants:
//
//  1. The user's end (Reported) and the target's end (Retired) are each noted once, in this order.
//  2. A request goes back to its pool when both ends are reported and the user has let go of it.
//     From then on its number no longer names it.
//  3. A request holds the user's buffers until its user's end, or until the engine has copied them, and no longer.
package request
