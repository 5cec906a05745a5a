package failover

import "github.com/openbraid/braid/internal/wire"

// open is R2: an attempt has a record from HELLO on.
func (m *Machine) open(_ *record, e *Event) {
	if e.ID.Opener != m.side || e.ID.N > m.next {
		m.misused(e)
		return
	}
	m.recs = append(m.recs, record{id: e.ID, state: Opening})
}

// hello is R2 and R8: what was seen before is refused, so that a late HELLO of an attempt whose loss was
// answered already doesn't make a lane that is up on one side only. Crossing HELLOs are both accepted.
func (m *Machine) hello(_ *record, e *Event) {
	if e.ID.Opener == m.side {
		m.violated(e, "a HELLO in my own name")
		return
	}
	if !m.seen.take(e.ID.N) { // R8
		m.act(Action{Do: SendBusy, ID: e.ID})
		return
	}
	r := record{id: e.ID, state: Up, wasUp: true}
	if e.Unconfirmed { // R2, for both sides: nothing is posted on what may be nobody's
		r.state, r.wasUp = Opening, false
	}
	m.recs = append(m.recs, r)
	m.act(Action{Do: SendAck, ID: e.ID})
}

// helloAgain is R8 for a HELLO that comes while another with its name waits to be confirmed.
func (m *Machine) helloAgain(_ *record, e *Event) {
	if e.ID.Opener == m.side {
		m.violated(e, "a HELLO in my own name")
	}
}

// refuseStranger is R9: a HELLO of another incarnation proves nothing, as it may be a late one. BUSY and nothing
// else; but the answer to an own HELLO will prove it.
func (m *Machine) refuseStranger(_ *record, e *Event) {
	m.act(Action{Do: SendBusy, ID: e.ID})
	m.act(Action{Do: Redial})
}

// proved is R9: only the echo of the own nonce shows that the peer answered this HELLO and not one of long ago.
func (m *Machine) proved(_ *record, e *Event) {
	switch {
	case !e.Echo:
	case e.Restarted:
		m.finish(ErrPeerRestarted)
	default:
		m.finish(ErrPeerEnded)
	}
}

func (m *Machine) acked(r *record, _ *Event) { r.state, r.wasUp = Up, true }

// lose is R3: no post and no acceptance after this; the position is fixed for ever. R2: an attempt
// that never came up has accepted nothing.
func (m *Machine) lose(r *record, position uint64) {
	if r.state == Opening {
		position = 0
	}
	r.state, r.mine = Asking, position
}

// broke is R3, R4, R6: own detection.
func (m *Machine) broke(r *record, e *Event) {
	m.lose(r, e.Position)
	m.wentDown(e)
	if m.underWay() < m.most {
		m.tell(r, none) // R4; without room or lane it is marked
	}
}

// peerLost is R3, R5, R6: the peer found it first.
func (m *Machine) peerLost(r *record, e *Event) {
	m.lose(r, e.Own)
	m.asked(r, e)
	m.wentDown(e)
}

// asked is R5: LOST with have=0 is answered with have=1, also when it was answered before. An answer doesn't wait for
// room: the peer's window bounds how many there are, and if answers waited, both sides could wait for each other.
func (m *Machine) asked(r *record, e *Event) {
	if m.learn(r, e) {
		m.tell(r, e.On)
	}
}

// confirmed is R5: LOST with have=1: both sides have both positions, and this one knows it.
func (m *Machine) confirmed(r *record, e *Event) {
	if m.learn(r, e) {
		m.sayGone(e)
		m.end(r, e)
	}
}

// learn is R5, R7, R16: the peer's first position is purged with at once, and stays.
func (m *Machine) learn(r *record, e *Event) bool {
	switch {
	case r.state == Telling && r.theirs != e.Position:
		m.violated(e, "a second, different position") // R16
		return false
	case r.state == Telling:
		return true
	case !r.wasUp && e.Position != 0:
		m.violated(e, "a position on an attempt on which nothing was posted") // R16
		return false
	}
	r.state, r.theirs = Telling, e.Position
	m.act(Action{Do: Purge, ID: r.id, Position: e.Position, Bytes: e.Bytes, Refusals: e.Refusals}) // R7
	return true
}

// unknown is R5, R8: LOST about an instance without a record. It has ended here, or its HELLO never
// came; then the opener was never up and needs nothing, and the id is burnt, should the HELLO still come.
func (m *Machine) unknown(_ *record, e *Event) {
	if e.ID.Opener != m.side {
		m.seen.take(e.ID.N) // R8
	} else if e.ID.N > m.next {
		m.violated(e, "an instance that I never named") // R1
		return
	}
	m.sayGone(e)
}

// sayGone is R5: GONE goes only on the lane on which the LOST came. Nobody here would send it again if that
// lane dies, but the peer, who finds that lane dead too, asks again.
func (m *Machine) sayGone(e *Event) {
	if m.State(e.On) == Up {
		m.act(Action{Do: SendGone, ID: e.ID, On: e.On})
	}
}

// goneWhileAsking is R5: GONE never stands for a position. Who was up and still lacks one must not go on.
func (m *Machine) goneWhileAsking(r *record, e *Event) {
	if r.wasUp {
		m.violated(e, "GONE, but the peer's position was never told")
		return
	}
	m.end(r, e)
}

// end drops a record.
func (m *Machine) end(r *record, _ *Event) {
	m.act(Action{Do: Release, ID: r.id})
	for i := range m.recs {
		if m.recs[i].id == r.id {
			m.recs = append(m.recs[:i], m.recs[i+1:]...)
			return
		}
	}
}

// tell is R4, R5, R6: send LOST on the preferred lane if that is up, else on the one that is up longest, else mark.
func (m *Machine) tell(r *record, prefer wire.Instance) {
	r.carrier = m.pick(prefer) // R6; none: marked
	if r.carrier != none {
		m.act(Action{Do: SendLost, ID: r.id, On: r.carrier, Position: r.mine, Have: r.state == Telling})
	}
}

func (m *Machine) pick(prefer wire.Instance) wire.Instance {
	first := none
	for i := range m.recs {
		switch r := &m.recs[i]; {
		case r.state != Up:
		case r.id == prefer:
			return prefer
		case first == none:
			first = r.id
		}
	}
	return first
}

// wentDown is R6: what went on the lane e.ID, which was just lost, may not have arrived.
func (m *Machine) wentDown(e *Event) {
	for i := range m.recs {
		if r := &m.recs[i]; r.state.lost() && r.carrier == e.ID {
			m.life[carrierLost][r.state].do(m, r, e)
		}
	}
}

// mark is R6: its last LOST may be lost. The end of this step sends it again, if it can go.
func (m *Machine) mark(r *record, _ *Event) { r.carrier = none }

// pace is R6, at the end of each step: while a lane is up and fewer LOSTs than the window are under way, marked ones go.
// Each that is under way is answered, since answers never wait, so that it ends or its carrier does: no record is marked
// for ever. Instances that were up go first: operations wait for them, and for an attempt nobody does.
func (m *Machine) pace() {
	room := m.most - m.underWay()
	if room <= 0 || m.pick(none) == none {
		return
	}
	for _, wasUp := range [...]bool{true, false} {
		for i := 0; i < len(m.recs) && room > 0; i++ {
			if r := &m.recs[i]; r.wasUp == wasUp && r.state.lost() && r.carrier == none {
				m.life[turnCame][r.state].do(m, r, &m.event)
				room--
			}
		}
	}
}

// underWay counts the records whose last LOST, asked for or not, may still be answered.
func (m *Machine) underWay() (n int) {
	for i := range m.recs {
		if r := &m.recs[i]; r.state.lost() && r.carrier != none {
			n++
		}
	}
	return n
}

// Carries says whether an answer to a LOST that this side sent on the lane is still to come: then its silence counts, as that of any other work.
func (m *Machine) Carries(lane wire.Instance) bool {
	for i := range m.recs {
		if r := &m.recs[i]; r.state.lost() && r.carrier == lane {
			return true
		}
	}
	return false
}

// resend is R6.
func (m *Machine) resend(r *record, _ *Event) { m.tell(r, none) }

// ended drops everything.
func (m *Machine) ended(*record, *Event) { m.finish(nil) }

func (m *Machine) violated(e *Event, why string) { m.fail(e, why, false) }

func (m *Machine) misused(e *Event) { m.fail(e, "the engine must not say this in this state", true) }

func (m *Machine) fail(e *Event, why string, local bool) {
	m.finish(&ProtocolError{Event: *e, State: m.came, Why: why, Local: local, Dump: m.Dump()})
}

// finish is R9's last part: everything is dropped in one step, so that no LOST ever leaves for another incarnation.
func (m *Machine) finish(err error) {
	clear(m.out)
	m.out = m.out[:0] // what this step had to say before isn't said
	if err != nil {
		m.act(Action{Do: Fail, Err: err})
	}
	for i := range m.recs {
		m.act(Action{Do: Release, ID: m.recs[i].id})
	}
	m.recs = m.recs[:0]
	m.over = true
}
