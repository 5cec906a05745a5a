// Package health decides whether a lane is alive, when to ask, and when to give it up. It is pure: the time,
// the lanes' books and the answers to its probes are handed in, decisions come out.
//
//	          since: oldest unacknowledged work, or oldest unanswered probe, or last proof of life
//	            |
//	silence     0 ........... ProbeAfter ................ LostAfter ................. PeerTimeout
//	                              |                           |                            |
//	                          suspect: probe             Condemn this lane,       all lanes are silent:
//	                          it and all others          if another one answered       CondemnAll
//	                                                     a probe of that moment or later
//
// Proof of life is a round trip: acknowledgements that move, or the answer to a probe. That something comes in
// proves nothing, since a lane may be dead in one direction. A peer whose program doesn't progress answers on no lane;
// so a lane is given up only if the peer answers elsewhere and not here.
//
// Who may import it: internal/worker and its tests. It imports the standard library only.
//
// Invariants:
//
//  1. A lane is condemned only if another lane of its endpoint answered a probe that was sent when, or after, the
//     suspicion began, and this one had (LostAfter-ProbeAfter)/2 more since then: after a pause of the
//     peer the answers come one after the other. (A pause that begins between the two answers, and lasts, is taken for
//     a dead lane. That costs a hand-over, nothing else.)
//  2. Each acknowledgement that moves and each answer ends the suspicion: a slow, loaded lane isn't given up.
//     So does more that reached the peer's system, where the transport can tell: then the path is alive, and whatever of the lane's
//     is behind a gap or a long queue comes. PeerTimeout counts on: the system of a program that is stopped takes our probes, too.
//  3. Time in which this side didn't run (a call that comes more than ProbeAfter late) isn't anybody's silence.
//  4. A lane whose round trip takes long even when idle gets longer limits: 2 and 4 of its shortest round trips.
//  5. If no lane is up for judgement, nothing is sent but one probe per idle lane and Keepalive.
package health
