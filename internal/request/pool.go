package request

// Pool hands out requests and takes them back. One owner at a time. Requests are named by slot and generation.
type Pool struct {
	slots []*Request
	free  []uint32
	live  int
}

// Get returns an empty request, held by the user.
func (p *Pool) Get(k Kind, o Owner) *Request {
	var r *Request
	if n := len(p.free); n > 0 {
		r = p.slots[p.free[n-1]]
		p.free = p.free[:n-1]
	} else {
		r = &Request{slot: uint32(len(p.slots)), gen: 1}
		p.slots = append(p.slots, r)
	}
	p.live++
	r.Kind, r.Owner, r.Held = k, o, true
	return r
}

// Put takes r back if both ends are reported and the user has let go.
func (p *Pool) Put(r *Request) {
	if r.Held || !r.Reported || !r.Retired {
		return
	}
	wake := r.wake
	if wake != nil {
		select {
		case <-wake:
		default:
		}
	}
	*r = Request{slot: r.slot, gen: r.gen + 1, wake: wake}
	if r.gen == 0 {
		r.gen = 1 // number 0 names nothing
	}
	p.free = append(p.free, r.slot)
	p.live--
}

// Find returns the request of an owner with the given number, or nil.
func (p *Pool) Find(op uint64, o Owner) *Request {
	slot, gen := uint32(op), uint32(op>>32)
	if gen == 0 || uint64(slot) >= uint64(len(p.slots)) || p.slots[slot].gen != gen || p.slots[slot].Kind == None || p.slots[slot].Owner != o {
		return nil
	}
	return p.slots[slot]
}

// Live is the number of requests that are out.
func (p *Pool) Live() int { return p.live }

// Queue is a first-in first-out list of requests, each in one queue at the most: so one is taken out as fast from the middle. It must not be copied.
type Queue struct {
	head, tail *Request
	n          int
}

// Len is the number of requests in the queue.
func (q *Queue) Len() int { return q.n }

// Head is the first one, or nil.
func (q *Queue) Head() *Request { return q.head }

// Push appends r.
func (q *Queue) Push(r *Request) {
	if q.tail == nil {
		q.head = r
	} else {
		q.tail.Next = r
	}
	r.in, r.prev = q, q.tail
	q.tail = r
	q.n++
}

// Pop takes the first one out, or returns nil.
func (q *Queue) Pop() *Request {
	r := q.head
	if r != nil {
		q.Remove(r)
	}
	return r
}

// Remove takes r out from wherever it stands, and says whether it was there.
func (q *Queue) Remove(r *Request) bool {
	if r.in != q {
		return false
	}
	if r.prev == nil {
		q.head = r.Next
	} else {
		r.prev.Next = r.Next
	}
	if r.Next == nil {
		q.tail = r.prev
	} else {
		r.Next.prev = r.prev
	}
	r.in, r.prev, r.Next = nil, nil, nil
	q.n--
	return true
}

// Fail makes err the error of each request that has none.
func (q *Queue) Fail(err error) {
	for r := q.head; r != nil; r = r.Next {
		if r.Err == nil {
			r.Err = err
		}
	}
}
