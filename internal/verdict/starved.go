package verdict

import (
	"fmt"
	"time"
)

// Without a processor a process answers nobody, and what its peer sees then is what a broken failover looks like. So some problems are doubtful if one of
// the two did not run in the time before; what is wrong with data never is.
const (
	silent  = 20 * time.Millisecond // half of the time after which a silent lane is given up
	stalled = time.Second
	recent  = 40 * time.Second // the peer's time-out, and as long as lanes may stay away
)

// starved is the longest time between two moments for which this process, or the peer's, wanted to run and had no processor.
func (j *judge) starved(from, to time.Duration) (most time.Duration) {
	if len(j.Events) == 0 {
		return 0
	}
	e := &j.Events[0]
	zero := e.At - time.Duration(e.T*1e9)
	if j.Pauses.At != nil {
		_, most = j.Pauses.At(from-zero, to-zero)
	}
	if j.Pauses.Peer != nil {
		most = max(most, j.Pauses.Peer(from-zero, to-zero))
	}
	return most
}

// doubt is a problem that proves something only if both processes ran: neither was without a processor for so long at a time between two moments.
func (j *judge) doubt(from, to, long time.Duration, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if d := j.starved(from, to); d >= long {
		text += fmt.Sprintf("; but a process had no processor for %v shortly before", d.Round(time.Millisecond))
		j.doubts++
	}
	j.problem("%s", text)
}
