// Package transport is the contract between braid's engine and whatever carries
// its frames: TCP sockets, shared memory, an RDMA queue pair, a simulated network.
//
//	engine   internal/worker        decides: which lane, which protocol, what to replay
//	           |  ^
//	    Post,  |  |  Place, Frame, Executed, OnError
//	  Quiesce, |  |
//	    Purge  v  |
//	endpoint  transport.Endpoint    one connection: an ordered, reliable channel of frames
//	           |
//	iface     transport.Iface       one transport of one worker: progress, listen, dial
//
// Everybody may import it; it imports only the standard library. It is experimental:
// it changes until several kinds of transport have stood on it for a while.
//
// Invariants:
//
//  1. Each direction of an endpoint is an ordered channel: the receiver accepts data frames
//     in the order in which they were posted, each at most once, with no gap.
//  2. The position of a direction is the count of data frames accepted, 64 bit, from 0.
//     A frame counts when what it asks for is done or stored, in one step with the count.
//  3. acknowledged <= position <= posted. Anything else is ErrProtocol and breaks the endpoint.
//  4. Nothing here blocks, and nothing here starts a goroutine. All calls on an Iface and its
//     endpoints come from one owner at a time; callbacks come only from inside Progress
//     (Purge, Cancel and Close also end the frames that they are asked to end).
//  5. OnError is called at most once per endpoint, before any completion of that failure.
//     An endpoint that the engine itself gave up with Quiesce never calls it.
//  6. After Quiesce no data frame is accepted and no acknowledgement is taken; Position never
//     changes again. Control frames may still be read until Close.
//  7. After Close nothing is called back, every descriptor and buffer has been given back.
package transport
