// Package failover is the dialogue by which the two sides of an endpoint agree on what became
// of a lane that was lost: which of the frames posted on it the peer has accepted, and which are to be
// replayed elsewhere. It is pure: events in, actions out; no clock, no I/O, no goroutine.
//
//	A                                                    B
//	Broke{X, a}                                          LostArrived{X, a, have=0}
//	  -> SendLost{X, a, have=0}  -- any live lane -->      -> Purge{X, a}
//	                                                       -> SendLost{X, b, have=1}
//	LostArrived{X, b, have=1}    <-- any live lane --
//	  -> Purge{X, b}
//	  -> SendGone{X}          -- the lane it came on -->  GoneArrived{X}
//	  -> Release{X}                                        -> Release{X}
//
// The life of one instance, on one side (the table is in life.go, printed in testdata/matrix.txt):
//
//	          Opened                 HelloAcked
//	absent ----------> opening --------------------+
//	  |                   ^                        v
//	  +--- HelloArrived --+--------------------->  up
//	        unconfirmed   |
//	                      |                        |
//	                Broke | LostArrived      Broke | LostArrived
//	                      v                        v
//	                   asking ---- LostArrived --> telling ---- GoneArrived, LostArrived have=1 --> absent
//	  (peer's position unknown)      (known and purged; does the peer have mine?)
//
// Who may import it: internal/worker and its tests. It imports internal/wire for the names of instances, and internal/outcome for what users are told.
//
// Rules are cited in the code as R1 to R9 and R16; docs/failover.md lists them with the place of each.
//
// Invariants:
//
//  1. An instance id is used once. A record is found by its id alone, never by a lane's index.
//  2. The position of this side is fixed when the record leaves opening or up, and each LOST about it says that position.
//  3. Purge is asked for at most once per instance, with the first position that the peer stated.
//     A second, different one fails the endpoint.
//  4. Each record in asking or telling has either a carrier, which is an instance that is up here, or is marked.
//     It is marked only while no lane is up or a window of others has carriers; LOSTs that nobody asked for never
//     exceed the window, and answers never wait.
//  5. A record ends only by the peer's word (BUSY, GONE, LOST with have=1), or with the endpoint.
//  6. After Fail or Ended there is no record, and nothing but SendClosed ever comes out.
//  7. The same events give the same actions. No byte from the peer makes Step panic.
package failover
