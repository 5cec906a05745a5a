package trial

import (
	"runtime/debug"
	"sync"
	"time"

	"github.com/openbraid/braid/internal/verdict"
)

// pulse notes when this process, or the host, stood still: a goroutine that wants to run each few milliseconds, the thread that polls, which may be bound
// to a processor that others have while the goroutine runs on another one, and the pauses of the garbage collector.
type pulse struct {
	mu    sync.Mutex
	host  []verdict.Span
	gc    []verdict.Span
	quit  chan struct{}
	done  chan struct{}
	begun time.Time
	zero  time.Duration
	seen  time.Time // the last pause of the collector that is noted
	line  line      // in which the thread stands that polls
	peer  *threads  // of the server's process; nil: it is not known
	peers []verdict.Span
}

const (
	beat = 2 * time.Millisecond
	// lateBeat is what is written down.
	lateBeat = time.Millisecond
	// visited is how often the peer's threads are looked at, in beats.
	visited = 10
	// collected is how often the collector's book is looked at: it has the last 256 pauses.
	collected = 100
)

func (p *pulse) begin(now func() time.Duration) {
	p.quit, p.done, p.begun, p.zero = make(chan struct{}), make(chan struct{}), time.Now(), now()
	p.seen = p.begun
	p.line.open()
	go p.run(now)
}

func (p *pulse) run(now func() time.Duration) {
	defer close(p.done)
	defer p.line.close()
	defer p.peer.close()
	t := time.NewTimer(beat)
	defer t.Stop()
	for n := 1; ; n++ {
		from := now()
		select {
		case <-t.C:
		case <-p.quit:
			p.collect()
			return
		}
		if late := now() - from - beat; late > lateBeat {
			p.late(from+beat, from+beat+late)
		}
		if stood := p.line.stood(); stood > lateBeat { // it has its turn again
			to := now()
			p.late(to-stood, to)
		}
		if n%visited == 0 && p.peer != nil {
			if stood := p.peer.stood(); stood > lateBeat {
				to := now()
				p.mu.Lock()
				p.peers = append(p.peers, verdict.Span{From: to - stood, To: to})
				p.mu.Unlock()
			}
		}
		if n%collected == 0 {
			p.collect()
		}
		t.Reset(beat)
	}
}

func (p *pulse) late(from, to time.Duration) {
	p.mu.Lock()
	p.host = append(p.host, verdict.Span{From: from, To: to})
	p.mu.Unlock()
}

// collect takes the pauses of the collector that are new.
func (p *pulse) collect() {
	var s debug.GCStats
	debug.ReadGCStats(&s)
	p.mu.Lock()
	defer p.mu.Unlock()
	newest := p.seen
	for i, end := range s.PauseEnd {
		if end.After(p.seen) {
			to := p.zero + end.Round(0).Sub(p.begun.Round(0))
			p.gc = append(p.gc, verdict.Span{From: to - s.Pause[i], To: to})
			if end.After(newest) {
				newest = end
			}
		}
	}
	p.seen = newest
}

// end stops it; twice is once.
func (p *pulse) end() {
	if p.quit == nil {
		return
	}
	select {
	case <-p.done:
	default:
		close(p.quit)
		<-p.done
	}
}

// longest are the longest pauses between two moments.
func (p *pulse) longest(from, to time.Duration) (gc, host time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return most(p.gc, from, to), most(p.host, from, to)
}

// starved is the longest time between two moments for which the peer's process had no processor.
func (p *pulse) starved(from, to time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return most(p.peers, from, to)
}

func most(list []verdict.Span, from, to time.Duration) (d time.Duration) {
	for _, s := range list {
		if s.From < to && s.To > from {
			d = max(d, s.To-s.From)
		}
	}
	return d
}
