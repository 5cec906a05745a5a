package health

import "time"

// Lane is what is known of one lane's life. It belongs to one Endpoint between Add and Remove or
// Condemn. Times in it are the endpoint's running time (see Endpoint.advance).
type Lane struct {
	Owner any // the caller's

	trips uint64 // acknowledgements that moved, when last seen
	busy  bool   // has unacknowledged work

	sent     uint64        // nonce of the last probe, 0: none
	answered uint64        // highest nonce answered
	probedAt time.Duration // of the last probe
	askedAt  time.Duration // of the oldest probe that isn't answered
	shortest time.Duration // shortest round trip of a probe, 0: unknown
	trials   int           // probes whose round trip was measured

	heard time.Duration // last proof of life
	since time.Duration // start of the silence, if the lane waits for something
	moved time.Duration // when more had reached the peer's system: the path lives, whatever the peer does

	reached uint64 // what the peer's system had, when last seen since the suspicion began
	known   bool   // that was seen

	doubt     doubt
	round     uint64        // nonce of the first probe with which the peer was asked last for the sake of this doubt
	doubted   time.Duration // when he was asked first
	witnessed time.Duration // when another lane last answered such a probe
}

// doubt is how far it has come with a silent lane.
type doubt uint8

const (
	trusted    doubt = iota
	asked            // silent for ProbeAfter: the peer is asked on all lanes
	answered         // it has answered on another one
	askedAgain       // still silent: it is asked a second time
	seconded         // it has answered on another one again. The verdict is due
)

// waits says whether the lane owes an answer.
func (l *Lane) waits() bool { return l.busy || l.sent > l.answered }

// alive takes a proof of life.
func (l *Lane) alive(now time.Duration) {
	l.heard, l.since = now, now
	l.carries(now)
}

// carries takes a proof that the path lives. Of the peer itself it says nothing: the system of one that is stopped acknowledges our probes.
func (l *Lane) carries(now time.Duration) {
	l.moved = now
	l.doubt, l.known = trusted, false
}

// silent is since when nothing came of what the lane was given.
func (l *Lane) silent() time.Duration { return max(l.since, l.moved) }

// Suspect says whether the lane is silent, and asked.
func (l *Lane) Suspect() bool { return l.doubt != trusted }

// RoundTrip is the shortest round trip of a probe so far, 0 if there was none.
func (l *Lane) RoundTrip() time.Duration { return l.shortest }

// enough measurements are unlikely to have all been taken while somebody waited for a processor.
const enough = 3

// Sure says that RoundTrip was measured often enough to be the lane's, and not what a busy host adds.
func (l *Lane) Sure() bool { return l.trials >= enough }

// maxSlow bounds what a round trip does to the limits: the first one may have been taken while the peer was stopped.
const maxSlow = 250 * time.Millisecond

// slow is the round trip by which the limits are stretched.
func (l *Lane) slow() time.Duration { return min(l.shortest, maxSlow) }
