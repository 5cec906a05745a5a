// Package health decides whether a lane is alive, when to ask, and when to give it up. It is pure: the time,
// the lanes' books and the answers to its probes are handed in, decisions come out.
//
//	          since: oldest unacknowledged work, or oldest unanswered probe, or last proof of life
//	            |
//	silence     0 ....... ProbeAfter ....... a while later ....... LostAfter ............. PeerTimeout
//	                          |                    |                   |                        |
//	                      suspect: probe      if another one      Condemn this lane,   all lanes are silent:
//	                      it and all others   answered: again     if it did again          CondemnAll
//
// Proof of life is a round trip: acknowledgements that move, or the answer to a probe. That something comes in
// proves nothing, since a lane may be dead in one direction. A peer whose program doesn't progress answers on no lane;
// so a lane is given up only if the peer answers elsewhere and not here.
//
// Who may import it: internal/worker and its tests. It imports the standard library only.
//
// Invariants:
//
//  1. A lane whose round trip takes less than grace, (LostAfter-ProbeAfter)/2, is never condemned, however often the peer, or this side, is stopped. For
//     a verdict another lane must answer twice: a probe of when the suspicion began, and one of grace/2 or more later. When the peer answers that one
//     he has long had the first one on this lane, and answers it in the same turn; and this lane has grace more since that answer came. (With
//     one question a peer that is stopped between the two answers loses a lane.)
//  2. Each acknowledgement that moves and each answer ends the suspicion: a slow, loaded lane isn't given up.
//     So does more that reached the peer's system, where the transport can tell: then the path is alive, and whatever of the lane's
//     is behind a gap or a long queue comes. PeerTimeout counts on: the system of a program that is stopped takes our probes, too, and so
//     does a proxy that hangs: a lane of which the peer answers nothing for PeerTimeout has no such excuse any more.
//  3. Time in which this side didn't run (a call that comes more than ProbeAfter late) isn't anybody's silence.
//  4. A lane whose round trip takes long even when idle gets longer limits: 2 and 4 of its shortest round trips.
//  5. If no lane is up for judgement, nothing is sent but one probe per idle lane and Keepalive.
package health
