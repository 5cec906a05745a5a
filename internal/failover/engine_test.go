package failover

import (
	"errors"
	"fmt"

	"github.com/openbraid/braid/internal/wire"
)

// The engine around a machine, as small as it can be: it carries actions out, and checks each of them.

func (r *runner) step(s int, e Event) {
	for _, a := range r.m[s].Step(e) {
		r.do(s, e, a)
	}
	r.store(s)
	r.checkCarriers(s)
}

func (r *runner) do(s int, e Event, a Action) {
	if r.log != nil {
		r.tracef("   %s", show(a))
	}
	i := uint8(0)
	if a.ID != none {
		i = r.index(a.ID)
	}
	t := &r.tep[s][i]
	switch a.Do {
	case SendAck:
		t.exists = true
		r.pipe[s][i].push(frame{kind: fHelloAck})
	case SendBusy:
		r.pipe[s][i].push(frame{kind: fBusy})
		r.close(s, i)
	case SendClosed:
		r.endpointClosed(s, i)
	case SendLost:
		if r.cfg.without == rule4 && e.What == Broke {
			return
		}
		if !t.held && r.cfg.without != rule3 {
			r.violated("%s: position of %s stated before quiesce (R3)", wire.Side(s), a.ID)
		}
		if r.cfg.without != rule3 && (t.stated && t.said != uint8(a.Position) || uint8(a.Position) != t.accepted) {
			r.violated("%s: position of %s: stated %d, accepted %d, stated before: %v %d",
				wire.Side(s), a.ID, a.Position, t.accepted, t.stated, t.said)
		}
		t.stated, t.said = true, uint8(a.Position)
		r.send(s, a, frame{kind: fLost, id: i, pos: uint8(a.Position), have: a.Have})
	case SendGone:
		if a.On != e.On {
			r.violated("%s: GONE{%s} on %s, asked on %s (R5)", wire.Side(s), a.ID, a.On, e.On)
		}
		r.send(s, a, frame{kind: fGone, id: i})
	case Purge:
		r.purge(s, i, a.Position)
	case Release:
		if r.m[s].over {
			return
		}
		if t.acked != t.posted && !r.lax() {
			r.violated("%s: record of %s ended, but operations are outstanding on it", wire.Side(s), a.ID)
		}
		r.close(s, i)
	case Fail:
		r.failed(s, a.Err)
	case Redial, verbs:
	}
}

// failed: an endpoint may fail only because the peer's process is another one, or its endpoint.
func (r *runner) failed(s int, err error) {
	want := ErrPeerRestarted
	if r.cfg.reopens {
		want = ErrPeerEnded
	}
	if !errors.Is(err, want) || r.node[1-s].restarts == 0 {
		r.violated("%s: %v", wire.Side(s), err)
	}
	r.node[s].queue = [queues]queue{}
	for i := range r.n {
		r.close(s, i)
	}
}

// restart: the acceptor's process dies, with all that it knew, and another one listens where it did.
func (r *runner) restart() {
	r.tracef("the acceptor's process dies, and another one listens")
	r.deaths--
	r.opens[1] = 0
	old := r.node[1]
	r.node[1] = node{restarts: old.restarts + 1, ran: old.ran}
	m := r.m[1]
	m.next, m.seen, m.over, m.recs = 0, watermark{}, false, m.recs[:0]
	for i := range r.n {
		r.tep[1][i] = tep{}
		r.pipe[0][i].broken, r.pipe[1][i].broken = true, true
		r.pipe[0][i].lose()
	}
}

// endpointClosed answers that the endpoint is not here: it has ended, or was of a process of before.
func (r *runner) endpointClosed(s int, i uint8) {
	r.tracef("   answered EP_CLOSED")
	r.pipe[s][i].push(frame{kind: fClosed, from: r.node[s].restarts + 1})
	r.close(s, i)
}

func (r *runner) send(s int, a Action, f frame) {
	if r.m[s].State(a.On) != Up {
		r.violated("%s: %s about %s goes on %s, which isn't up", wire.Side(s), a.Do, a.ID, a.On)
	}
	r.pipe[s][r.index(a.On)].push(f)
}

func (r *runner) quiesce(s int, i uint8) {
	if r.cfg.without == rule3 {
		return
	}
	r.tep[s][i].held = true
	if r.cfg.without != visibleClose {
		r.pipe[s][i].broken = true // closed as far as it goes: the peer will notice
	}
}

func (r *runner) close(s int, i uint8) {
	r.quiesce(s, i)
	r.pipe[1-s][i].broken = true
	r.pipe[1-s][i].lose()
}

func (r *runner) purge(s int, i uint8, position uint64) {
	t, nd := &r.tep[s][i], &r.node[s]
	p := uint8(position)
	switch {
	case !t.held && r.cfg.without != rule3:
		r.violated("%s: purge of %s, which isn't held (R3)", wire.Side(s), r.ids[i])
		return
	case t.purged:
		r.violated("%s: second purge of %s", wire.Side(s), r.ids[i])
		return
	case p < t.acked || p > t.posted:
		r.violated("%s: position %d of %s isn't in [%d, %d] (R16)", wire.Side(s), p, r.ids[i], t.acked, t.posted)
		return
	}
	t.purged = true
	r.complete(s, i, p)
	suffix := t.ops[p:t.posted]
	for k := len(suffix) - 1; k >= 0 && r.cfg.without != rule13; k-- {
		nd.queue[r.queueOf(s, suffix[k])].prepend(suffix[k])
	}
	for k := 0; k < len(suffix) && r.cfg.without == rule13; k++ {
		nd.queue[r.queueOf(s, suffix[k])].push(suffix[k])
	}
	t.acked = t.posted
	for _, op := range suffix {
		if nd.done>>op&1 == 1 || r.node[1-s].ran[op] > 0 {
			r.violated("%s: replay of operation %d, which was executed", wire.Side(s), op)
		}
	}
}

// complete ends the operations before position p of instance i.
func (r *runner) complete(s int, i, p uint8) {
	t := &r.tep[s][i]
	for ; t.acked < p; t.acked++ {
		op := t.ops[t.acked]
		if r.node[1-s].ran[op] != 1 {
			r.violated("%s: operation %d is complete, and was executed %d times", wire.Side(s), op, r.node[1-s].ran[op])
		}
		if r.node[s].done>>op&1 == 1 && !r.isFetch(s, op) {
			r.violated("%s: operation %d is complete twice", wire.Side(s), op)
		}
		if !r.isFetch(s, op) {
			r.node[s].done |= 1 << op
		}
	}
}

func (r *runner) open(s int) uint8 {
	id := r.m[s].NextInstance()
	i := r.index(id)
	r.tracef("%s opens %s", wire.Side(s), id)
	r.tep[s][i].exists = true
	r.step(s, Event{What: Opened, ID: id})
	known := uint8(0)
	if len(r.m[s].recs) > 1 || r.m[s].next > 1 || s == 1 {
		known = 1 // the endpoint has been up, so the peer's first incarnation is known
	}
	r.pipe[s][i].push(frame{kind: fHello, from: r.node[s].restarts + 1, to: known})
	return i
}

func (r *runner) broke(s int, i uint8, what What) {
	id := r.ids[i]
	if r.log != nil {
		r.tracef("%s: %s %s", wire.Side(s), id, what)
	}
	r.step(s, Event{What: what, ID: id, Position: r.own(s, i)})
}

// own quiesces instance i if it is live, and returns the position; else the machine knows it, and gets nonsense.
func (r *runner) own(s int, i uint8) uint64 {
	if !r.m[s].Live(r.ids[i]) {
		return 77
	}
	r.quiesce(s, i)
	return uint64(r.tep[s][i].accepted)
}

func (r *runner) post(s int, i, q uint8) {
	t, nd := &r.tep[s][i], &r.node[s]
	op := nd.queue[q].pop()
	nd.posted |= 1 << op
	if r.log != nil {
		r.tracef("%s posts operation %d on %s", wire.Side(s), op, r.ids[i])
	}
	t.ops[t.posted] = op
	t.posted++
	r.pipe[s][i].push(frame{kind: fData, id: op})
}

// deliver takes the first frame that is on its way to s on instance i.
func (r *runner) deliver(s int, i uint8) {
	f := r.pipe[1-s][i].pop()
	t, on := &r.tep[s][i], r.ids[i]
	if r.log != nil {
		r.tracef("%s <- %s: %s", wire.Side(s), on, r.showFrame(f))
	}
	if !t.exists && f.kind != fHello {
		r.tracef("   dropped: no such connection")
		return
	}
	switch f.kind {
	case fHello:
		r.hello(s, i, f)
	case fClosed:
		r.step(s, Event{What: ClosedArrived, ID: on, Echo: true, Restarted: r.names(s).Restarted(r.identity(1-s, f.from).Incarnation)})
	case fHelloAck:
		if r.cfg.confirm && r.m[s].State(on) == Opening {
			r.pipe[s][i].push(frame{kind: fConfirm})
		}
		r.step(s, Event{What: HelloAcked, ID: on})
	case fConfirm:
		r.step(s, Event{What: HelloAcked, ID: on})
	case fBusy:
		r.step(s, Event{What: BusyArrived, ID: on})
	case fGone:
		if r.cfg.without == rule1 {
			f.id = r.latest(s)
		}
		r.step(s, Event{What: GoneArrived, ID: r.ids[f.id], On: on})
	case fLost:
		own := r.own(s, f.id)
		if r.cfg.without == rule1 { // the lane's index is on the wire, so that it is about whatever is there now
			f.id = r.latest(s)
			own = r.own(s, f.id)
		}
		r.step(s, Event{What: LostArrived, ID: r.ids[f.id], On: on, Position: uint64(f.pos), Have: f.have, Own: own})
	case fData, fDataAck:
		r.data(s, i, f)
	}
}

// lives are the incarnations of the two sides' processes, before the first.
var lives = [2]uint64{100, 200}

const longAgo = 99 // is a life that the dialer's process never had

// names are the ends of the endpoint as side s knows them.
func (r *runner) names(s int) Names {
	return Names{
		Mine:  r.identity(s, r.node[s].restarts+1),
		Yours: r.identity(1-s, 1),
	}
}

// identity is that of a side's end in the life of this number.
func (r *runner) identity(s int, life uint8) Identity {
	if r.cfg.reopens {
		return Identity{Incarnation: lives[s], Endpoint: uint64(life)}
	}
	return Identity{Incarnation: lives[s] + uint64(life), Endpoint: 1}
}

func (r *runner) hello(s int, i uint8, f frame) {
	what := HelloArrived
	if f.to != 0 && r.cfg.without != rule9 {
		if f.to != r.node[s].restarts+1 { // it is for an endpoint that is not here: no dialogue's business
			r.endpointClosed(s, i)
			return
		}
		what = r.names(s).Hello(r.identity(1-s, f.from))
	}
	if what == StrangerArrived && r.cfg.without == rule9Proof {
		r.violated("%s takes a late HELLO for a proof that its peer has restarted (R9)", wire.Side(s))
		return
	}
	r.step(s, Event{What: what, ID: r.ids[i], Unconfirmed: r.cfg.confirm})
}

// latest is the last instance that a side has, in a world where lanes are named by their index, and there is one.
func (r *runner) latest(s int) (last uint8) {
	for i := range r.n {
		if r.tep[s][i].exists {
			last = i
		}
	}
	return last
}

func (r *runner) data(s int, i uint8, f frame) {
	t := &r.tep[s][i]
	if r.cfg.without != rule3 && (t.held || r.m[s].State(r.ids[i]) != Up) {
		r.tracef("   dropped: quiesced")
		return
	}
	if f.kind == fDataAck {
		r.complete(s, i, f.pos)
		return
	}
	t.accepted++
	nd := &r.node[s]
	if nd.ran[f.id]++; nd.ran[f.id] > 1 {
		r.violated("%s executes operation %d twice", wire.Side(s), f.id)
	}
	if r.node[1-s].done>>f.id&1 == 1 {
		r.violated("%s executes operation %d, which is complete", wire.Side(s), f.id)
	}
	if r.cfg.acks {
		r.pipe[s][i].push(frame{kind: fDataAck, pos: t.accepted})
	}
	r.executed(s, f.id)
}

// checkCarriers is invariant 4, and R6: nothing stays marked while a lane is up and there is room under way.
func (r *runner) checkCarriers(s int) {
	if r.cfg.without == rule6 || r.cfg.without == carried {
		return // what comes of it is to be seen
	}
	up, carried, asking := len(r.m[s].Up()), 0, 0
	for i := range r.m[s].recs {
		if rec := &r.m[s].recs[i]; rec.state.lost() && rec.carrier != none {
			if carried++; rec.state == Asking {
				asking++
			}
		}
	}
	if asking > r.m[s].most {
		r.violated("%s: %d LOSTs that nobody asked for are under way", wire.Side(s), asking)
	}
	if carried >= r.m[s].most {
		up = 0 // the marked may wait
	}
	for i := range r.m[s].recs {
		rec := &r.m[s].recs[i]
		if !rec.state.lost() {
			continue
		}
		if rec.carrier == none && up > 0 {
			r.violated("%s: %s stays marked with %d lanes up and room", wire.Side(s), rec.id, up)
		}
		if rec.carrier != none && r.m[s].State(rec.carrier) != Up {
			r.violated("%s: carrier %s of %s isn't up", wire.Side(s), rec.carrier, rec.id)
		}
	}
}

// settled checks a world in which nothing more happens by itself.
func (r *runner) settled() {
	up := 0
	for i := range r.n {
		a, b := r.m[0].State(r.ids[i]) == Up, r.m[1].State(r.ids[i]) == Up
		if a != b {
			r.violated("%s is up on one side only", r.ids[i])
		}
		if a && b {
			up++
		}
	}
	if up == 0 {
		return // suspended
	}
	if r.node[1].restarts > 0 {
		r.violated("a lane of the dead process is up")
	}
	for s, m := range r.m {
		if !m.Idle() {
			r.violated("records are left:\n%s\n%s", r.m[0].Dump(), r.m[1].Dump())
		}
		nd := &r.node[s]
		if nd.waiting() > 0 || r.cfg.acks && nd.done != nd.issued {
			r.violated("%s: issued %b, done %b: somebody waits for ever", wire.Side(s), nd.issued, nd.done)
		}
		for op, n := range r.node[1-s].ran {
			if n == 0 && nd.issued>>op&1 == 1 {
				r.violated("%s: operation %d was never executed", wire.Side(s), op)
			}
		}
	}
}

func (r *runner) showFrame(f frame) string {
	switch f.kind {
	case fHello:
		return "HELLO"
	case fHelloAck:
		return "HELLO-ACK"
	case fConfirm:
		return "CONFIRM"
	case fBusy:
		return "BUSY"
	case fClosed:
		return "EP_CLOSED"
	case fGone:
		return fmt.Sprintf("GONE{%s}", r.ids[f.id])
	case fLost:
		return fmt.Sprintf("LOST{%s, %d, have=%d}", r.ids[f.id], f.pos, bit(f.have))
	case fData:
		return fmt.Sprintf("operation %d", f.id)
	case fDataAck:
	}
	return fmt.Sprintf("acknowledged %d", f.pos)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func show(a Action) string {
	switch a.Do {
	case SendLost:
		return fmt.Sprintf("send on %s: LOST{%s, %d, have=%d}", a.On, a.ID, a.Position, bit(a.Have))
	case SendGone:
		return fmt.Sprintf("send on %s: GONE{%s}", a.On, a.ID)
	case Purge:
		return fmt.Sprintf("purge %s with %d", a.ID, a.Position)
	case Fail:
		return fmt.Sprintf("fail: %v", a.Err)
	case Redial:
		return "redial"
	case SendAck, SendBusy, SendClosed, Release, verbs:
	}
	return fmt.Sprintf("%s %s", a.Do, a.ID)
}
