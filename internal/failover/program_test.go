package failover

import "github.com/openbraid/braid/internal/wire"

// A side's program is what it posts, one letter an operation:
//
//	P  a put                      F  a fetch: what it brings back is an operation of the other side, a reply
//	M  a message, in order        f  a fragment of the next c
//	c  the ordered part of a message of several frames; it carries no payload of its own
//	|  a fence: what is behind it is executed after all before it
//
// There are three queues, as in the engine: one of those with an order, one of the others, and one of replies, which wait for nothing.
const (
	inOrder = iota
	inAny
	inReplies
	queues
)

type op struct {
	kind  byte
	epoch uint8
}

const reply = 'R'

// parse gives the operations of a program; replies are numbered behind them, each with its fetch's number and theirs.
func parse(program string) (ops []op) {
	epoch := uint8(0)
	for _, c := range []byte(program) {
		if c == '|' {
			epoch++
			continue
		}
		ops = append(ops, op{c, epoch})
	}
	return ops
}

// opOf is operation k of a side: of its program, or a reply to one of the other side's.
func (r *runner) opOf(s int, k uint8) op {
	if int(k) < len(r.ops[s]) {
		return r.ops[s][k]
	}
	return op{kind: reply}
}

func (r *runner) queueOf(s int, k uint8) int {
	switch r.opOf(s, k).kind {
	case 'M', 'c':
		return inOrder
	case reply:
		if r.cfg.without == executedIsAnswered {
			return inAny
		}
		return inReplies
	}
	return inAny
}

// queue is a row of operations, replays in front.
type queue struct {
	n   uint8
	ops [maxOps]uint8
}

func (q *queue) push(k uint8) {
	q.ops[q.n] = k
	q.n++
}

func (q *queue) pop() uint8 {
	k := q.ops[0]
	copy(q.ops[:], q.ops[1:q.n])
	q.n--
	q.ops[q.n] = 0
	return k
}

// prepend is R13.
func (q *queue) prepend(k uint8) {
	copy(q.ops[1:], q.ops[:q.n])
	q.ops[0] = k
	q.n++
}

func (n *node) waiting() (ops uint8) {
	for i := range n.queue {
		ops += n.queue[i].n
	}
	return ops
}

// on says whether operation k of side s is unacknowledged on instance i, which is up.
func (r *runner) on(s int, k, i uint8) bool {
	t := &r.tep[s][i]
	return !t.held && t.set()>>k&1 == 1
}

// set is what is posted and not acknowledged.
func (t *tep) set() (ops uint16) {
	for _, k := range t.ops[t.acked:t.posted] {
		ops |= 1 << k
	}
	return ops
}

// somewhere is what is unacknowledged on any instance: what is queued, or handed out, is on none.
func (r *runner) somewhere(s int) (ops uint16) {
	for i := range r.n {
		ops |= r.tep[s][i].set()
	}
	return ops
}

// mayPost says whether operation k of side s may go on instance i: R10, R11, R12, R14.
func (r *runner) mayPost(s int, k, i uint8) bool {
	t, o := &r.tep[s][i], r.opOf(s, k)
	if r.cfg.ring > 0 && t.posted-t.acked >= r.cfg.ring || int(t.posted) == len(t.ops) {
		return false
	}
	if o.kind == reply {
		return true
	}
	open := r.node[s].issued &^ r.node[s].done
	asked := 0
	for b := range uint8(len(r.ops[s])) {
		before := r.ops[s][b]
		if before.kind == 'F' && b != k && r.node[s].posted&^r.node[s].answered>>b&1 == 1 {
			asked++
		}
		if b == k || open>>b&1 == 0 || r.on(s, b, i) {
			continue
		}
		switch {
		case before.epoch < o.epoch && !(r.cfg.without == rule12 && r.somewhere(s)>>b&1 == 0):
			return false // R12
		case b < k && r.queueOf(s, b) == inOrder && r.queueOf(s, k) == inOrder && r.cfg.without != rule10:
			return false // R10
		case b < k && o.kind == 'c' && r.closes(s, b) == k && r.cfg.without != rule11:
			return false // R11
		}
	}
	return o.kind != 'F' || r.cfg.credits == 0 || asked < r.cfg.credits || r.cfg.without == rule14 // R14
}

// closes is the ordered part of which a fragment's message is closed.
func (r *runner) closes(s int, k uint8) uint8 {
	for c := k; int(c) < len(r.ops[s]); c++ {
		switch r.ops[s][c].kind {
		case 'c':
			return c
		case 'f':
			continue
		}
		break
	}
	return none8
}

const none8 = 255

// blocked says that what comes next to side s on instance i waits at the head of the lane: without R14 a fetch does, as long
// as there is no room for its reply on its own lane.
func (r *runner) blocked(s int, i uint8) bool {
	in, t := &r.pipe[1-s][i], &r.tep[s][i]
	return r.cfg.without == rule14 && in.n > 0 && in.f[0].kind == fData && r.opOf(1-s, in.f[0].id).kind == 'F' &&
		t.posted-t.acked+r.node[s].queue[inReplies].n >= r.cfg.ring
}

// executed is what a side sees of the other's operation k: in the promised order, and only while it is to be.
func (r *runner) executed(s int, k uint8) {
	from, o := 1-s, r.opOf(1-s, k)
	if r.node[s].restarts > 0 {
		r.violated("operation %d of the %s is executed by another incarnation (R9)", k, wire.Side(from))
	}
	if o.kind == reply {
		r.answered(s, k)
		return
	}
	for b := range k {
		if o.epoch > r.ops[from][b].epoch && r.node[s].ran[b] == 0 {
			r.violated("%s executes operation %d before %d, which is before its fence (R12)", wire.Side(s), k, b)
		}
	}
	for m := range uint8(len(r.ops[from])) {
		if !r.whole(s, m) || r.queueOf(from, m) != inOrder {
			continue
		}
		for b := range m {
			if r.queueOf(from, b) == inOrder && !r.whole(s, b) {
				r.violated("%s has message %d before message %d (R10, R11)", wire.Side(s), m, b)
			}
		}
	}
	if o.kind != 'F' {
		return
	}
	r.issue(s, uint8(len(r.ops[s]))+k)
	if n := r.node[s].queue[inReplies].n; r.cfg.credits > 0 && int(n) > r.cfg.credits {
		r.violated("%s has %d replies to keep, and has promised room for %d (R14)", wire.Side(s), n, r.cfg.credits)
	}
}

// whole says whether side s has executed all of the other's message m.
func (r *runner) whole(s int, m uint8) bool {
	if r.node[s].ran[m] == 0 {
		return false
	}
	for b := range m {
		if r.ops[1-s][b].kind == 'f' && r.closes(1-s, b) == m && r.node[s].ran[b] == 0 {
			return false
		}
	}
	return true
}

// answered takes the reply to one of the side's own fetches.
func (r *runner) answered(s int, k uint8) {
	nd := &r.node[s]
	f := k - uint8(len(r.ops[1-s]))
	for _, waits := range nd.queue[inAny].ops[:nd.queue[inAny].n] {
		if waits == f {
			r.violated("%s has the reply to operation %d, which it is to replay (R3)", wire.Side(s), f)
		}
	}
	nd.answered |= 1 << f
	if r.cfg.without == executedIsAnswered {
		nd.done |= 1 << f
	}
}

// isFetch says whether operation k of side s is done only with its reply: where that is how "executed" is misread (R14).
func (r *runner) isFetch(s int, k uint8) bool {
	return r.cfg.without == executedIsAnswered && r.opOf(s, k).kind == 'F'
}
