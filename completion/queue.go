package completion

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/openbraid/braid"
)

// End is how a request ended.
type End struct {
	Token uint64        // that it was added with
	Err   error         // nil: well, as Request.Wait has it
	Tag   braid.TagInfo // of a tag receive
	Old   uint64        // of a fetch: what the word was
	Info  *braid.Info   // of AddInfo: how it went, as Request.WaitInfo has it
}

// Queue is the ends of requests of one worker that nobody has taken yet. It is safe for concurrent use as far as the worker is: that of an Owned
// worker is its goroutine's.
//
// Source: an RDMA completion queue (ibv_poll_cq); UCX has none above its verbs.
type Queue struct {
	w     *braid.Worker
	owned bool
	news  chan struct{} // an end has come, or the last one has gone

	mu      sync.Mutex
	ring    []End // a power of two
	head, n int
	pending int // added, and not taken
	free    *slot
}

// slot is a request that hasn't ended.
type slot struct {
	q        *Queue
	token    uint64
	done     func(error) // made once
	received func(braid.TagInfo, error)
	next     *slot
}

// New makes a queue for requests of the worker's endpoints, and of the worker.
func New(w *braid.Worker) *Queue {
	_, err := w.EventFD()
	return &Queue{w: w, owned: !errors.Is(err, braid.ErrShared), news: make(chan struct{}, 1)}
}

// Add has the queue take the end of a request, which is given back with it. The token says which it was; it need not be unique. A request that was given back
// before, or that somebody waits for, ends in the queue with ErrRequest.
//
// Owns: the request's buffers are the library's until its end is taken out of the queue.
func (q *Queue) Add(token uint64, r braid.Request) {
	r.Then(q.slot(token).done) // may call at once, if the worker is closed
}

// AddRecv is Add of a tag receive, whose end has the message's TagInfo.
func (q *Queue) AddRecv(token uint64, r braid.TagRecv) { r.Then(q.slot(token).received) }

// AddFetch is Queue.Add of an atomic operation that returns what the word was: Old.
func AddFetch[T uint32 | uint64](q *Queue, token uint64, f braid.Fetch[T]) {
	s := q.slot(token)
	f.Then(func(old T, err error) { s.ended(End{Err: err, Old: uint64(old)}) })
}

// AddInfo is Add of a request whose end says how it went: info is filled in, and is what End.Info points to.
//
// Owns: info is the queue's until the end is taken out of it.
func (q *Queue) AddInfo(token uint64, r braid.Request, info *braid.Info) {
	s := q.slot(token)
	r.ThenInfo(func(i braid.Info, err error) {
		*info = i
		s.ended(End{Err: err, Info: info})
	})
}

func (q *Queue) slot(token uint64) *slot {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.free
	if s == nil {
		s = &slot{q: q}
		s.done = func(err error) { s.ended(End{Err: err}) }
		s.received = func(tag braid.TagInfo, err error) { s.ended(End{Err: err, Tag: tag}) }
	} else {
		q.free, s.next = s.next, nil
	}
	s.token = token
	q.pending++
	return s
}

// ended puts an end into the queue.
func (s *slot) ended(e End) {
	q := s.q
	e.Token = s.token
	q.mu.Lock()
	if q.n == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = e
	q.n++
	s.next, q.free = q.free, s
	q.mu.Unlock()
	q.tell()
}

func (q *Queue) grow() {
	ring := make([]End, max(64, 2*len(q.ring)))
	for i := range q.n {
		ring[i] = q.ring[(q.head+i)&(len(q.ring)-1)]
	}
	q.ring, q.head = ring, 0
}

func (q *Queue) tell() {
	select {
	case q.news <- struct{}{}:
	default:
	}
}

// Poll makes progress once, takes up to len(ends) ends, oldest first, and says how many. It does not wait.
func (q *Queue) Poll(ends []End) int {
	if n := q.take(ends); n > 0 {
		return n
	}
	q.w.Progress()
	return q.take(ends)
}

func (q *Queue) take(ends []End) (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for n < len(ends) && q.n > 0 {
		at := &q.ring[q.head]
		ends[n], *at = *at, End{}
		q.head, q.n = (q.head+1)&(len(q.ring)-1), q.n-1
		n++
	}
	if q.pending -= n; n > 0 && (q.n > 0 || q.pending == 0) {
		q.tell() // others that wait
	}
	return n
}

// Pending is how many requests were added whose ends were not taken.
func (q *Queue) Pending() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pending
}

// Wait is Poll that waits until there is at least one end. 0 without an error: no request is pending, or there is no room for an end.
//
// Errors: *braid.OpError: ErrInCallback on an Owned worker. The context's.
func (q *Queue) Wait(ctx context.Context, ends []End) (int, error) {
	for {
		n := q.Poll(ends)
		if n > 0 || len(ends) == 0 {
			return n, nil
		}
		if q.Pending() == 0 {
			q.tell() // others that wait
			return 0, nil
		}
		if err := q.sleep(ctx); err != nil {
			return 0, err
		}
	}
}

// sleep returns when something may have ended.
func (q *Queue) sleep(ctx context.Context) error {
	if q.owned {
		if err := q.w.Sleep(ctx); err != nil {
			return err
		}
		return ctx.Err()
	}
	select {
	case <-q.news:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// All are the ends as they come, until no request is pending or the context is over.
func (q *Queue) All(ctx context.Context) iter.Seq[End] {
	return func(yield func(End) bool) {
		var one [1]End
		for {
			if n, err := q.Wait(ctx, one[:]); n == 0 || err != nil || !yield(one[0]) {
				return
			}
		}
	}
}
