package mutants

// mutants are the mistakes that somebody could make in the parts that keep the promises.
var mutants = []mutant{
	// Replay.
	{"R13: what waits goes before replays", "internal/outbox/pending.go",
		"if ordered && b.replayOrdered.Len() > 0 || !ordered && b.replayAny.Len() > 0 {", "if false {", "./test/sim -run TestStingy"},
	{"replays in reverse order", "internal/order/list.go", "l.items = append(l.items, v)", "l.items = append([]T{v}, l.items...)", seeds},
	{"a replay keeps its payload in the lost lane's memory", "internal/outbox/replay.go",
		"r.frame.Payload = append([]byte(nil), f.Payload...)", "r.frame.Payload = f.Payload", seeds},

	// Quiesce before position.
	{"R3: the lane is not quiesced", "internal/worker/handover.go", "	l.Tep.Quiesce()\n", "", seeds},
	{"R3: a quiesced connection goes on accepting", "transport/tcp/receive.go",
		"if ep.state == quiesced && !h.control() {", "if false {", carrier},

	// Closing of the exchange.
	{"R5: the record ends with the peer's position", "internal/failover/rules.go",
		"	if m.learn(r, e) {\n		m.tell(r, e.On)\n	}", "	if m.learn(r, e) {\n		m.tell(r, e.On)\n		m.end(r, e)\n	}", hand},
	{"R5: GONE is not sent", "internal/failover/rules.go",
		"		m.act(Action{Do: SendGone, ID: e.ID, On: e.On})", "", hand},

	// Re-send.
	{"R6: a lost carrier is not noticed", "internal/failover/rules.go",
		"r.state.lost() && r.carrier == e.ID {", "false {", hand},
	{"R6: nothing is sent when a lane comes up", "internal/failover/rules.go",
		"r.state.lost() && r.carrier == none {", "false {", hand},

	{"a silent lane is lost when the peer has answered once elsewhere", "internal/health/endpoint.go",
		"		l.doubt = answered\n		e.wake(max(t, e.again(l)))", "		l.doubt, l.witnessed = seconded, t\n		e.wake(e.verdict(l))", "./internal/health -run TestStutter"},
	{"the peer is asked again at once", "internal/health/endpoint.go", "l.doubted + max(e.grace()/2, l.slow())", "l.doubted", "./internal/health -run TestStutter"},
	{"a lane that flaps is forgiven when it comes up", "internal/health/backoff.go", "	b.wait -= b.wait / 2 / 1024", "	b.wait = 0 * b.wait / 1024", "./internal/health"},
	{"R2: a dial that never got anywhere leaves a record", "internal/worker/handover.go", "l.path != nil && !l.stood {", "false {", litmus},

	// Purge boundary.
	{"one frame too few is replayed", "internal/ledger/ledger.go",
		"	r.Delivered = l.endTo(position, nil)", "	r.Delivered = l.endTo(min(position+1, l.posted), nil)", seeds},
	{"one frame too many is replayed", "internal/ledger/ledger.go",
		"	r.Delivered = l.endTo(position, nil)", "	r.Delivered = l.endTo(max(position, l.acked+1)-1, nil)", seeds},

	// What a run with faults proves.
	{"perftest --fault does not see that a replay doubles", "internal/ledger/ledger.go",
		"	r.Delivered = l.endTo(position, nil)", "	r.Delivered = l.endTo(max(position, l.acked+1)-1, nil)", verdicts},
	{"perftest --fault does not see that a lane never comes back", "internal/paths/paths.go",
		"	g.Turns.Set(p.redial, g.Now()+p.Wait)\n	if s", "	if s", "./internal/perf -run TestTrialComesBack"},

	// Instance identity.
	{"R1: an instance is known by its number alone", "internal/failover/machine.go",
		"if m.recs[i].id == id {", "if m.recs[i].id.N == id.N {", hand},
	{"R8: an old HELLO is let in", "internal/failover/rules.go",
		"	if !m.seen.take(e.ID.N) { // R8", "	if m.seen.take(e.ID.N); false { // R8", hand},
	{"R9: any incarnation is let in", "internal/worker/listen.go",
		"ep == nil || yours.Incarnation != w.incarnation || ep.over()", "ep == nil", restarts},

	// Order lane.
	{"R10: messages pass by those on a lost lane", "internal/outbox/weigh.go",
		"	if o.unacked > 0 {\n		return nil\n	}", "", seeds},
	{"R10: each message takes the lane with the least to do", "internal/outbox/weigh.go",
		"	if o.seat != nil && o.next == nil && o.seat.State() == lane.Up {\n		return o.seat\n	}\n	if o.unacked > 0 {", "	if false {", seeds},
	{"R10: messages move to another lane while some are under way", "internal/outbox/weigh.go",
		"	if o.unacked > 0 {\n		return nil\n	}", "	if o.unacked > 0 && o.next == nil {\n		return nil\n	}", explored},
	{"a message that follows what is before its fence leaves the order lane", "internal/outbox/seat.go",
		"b.ordered.unacked == 0:\n			b.ordered.seat = s\n", "b.ordered.unacked == 0:\n", explored},
	{"an interface that becomes slower is not heard", "internal/worker/rails.go", "	ep.box.Declared(ep.w.now, ep.w.ground.Runs)\n", "", "./test/sim -run TestSpeedChanges"},
	{"the end of the last message does not end the wait of a move", "internal/outbox/weigh.go",
		"o.unacked == 0 && o.next != nil {", "false {", "./test/sim -run TestMove"},
	{"lanes are chosen by what is under way, whatever they bring", "internal/outbox/weigh.go",
		"s.meter.Cost(s.Backlog(), size)", "float64(s.Backlog())", "./test/sim -run TestUnequalLanes"},
	{"what waits for the room of a lane that stands still is not looked at again", "internal/outbox/weigh.go",
		"	b.host.Wake() // another", "	// another", "./test/sim -run TestStandsStill"},

	{"R11: a message is closed before its parts are acknowledged", "internal/outbox/stripe.go",
		"	if len(r.Payload) > 0 || r.Frames > 0 {", "	if len(r.Payload) > 0 {", seeds},

	// Gets.
	{"R14: an answer that finds no room is dropped", "internal/owed/answer.go",
		"		if !d.post(l) {\n			break\n		}\n		if q.head = p.next",
		"		d.post(l)\n		if q.head = p.next", seeds},
	{"R14: gets are asked for without credits", "internal/outbox/get.go",
		"if g.asked >= b.Credits {", "if false {", seeds},
	{"an answer to a get that was given up is written", "internal/outbox/get.go",
		"	r.Dst, r.Payload = nil, nil\n	if !b.gets", "	r.Payload = nil\n	if !b.gets", seeds},
	{"a payload that is arriving stays where its owner took it back", "internal/worker/wait.go",
		"				l.Tep.Unplace()\n", "", seeds},

	// Tagged messages.
	{"a message that nobody wants yet is not counted", "internal/tags/tags.go", "		t.wait(from, h, m, buf, cost)\n", "		t.wait(from, h, m, buf, 0)\n		from.Handled(cost)\n", tagged},
	{"a note goes with its lane", "internal/outbox/replay.go", "	b.replayOther.Prepend(&other)\n", "", tagged},
	{"what was withdrawn is received all the same", "internal/tags/tags.go", "			t.letGo(t.table.Take(n))\n			from.Tell", "			from.Tell", tagged},
	{"a receive that was canceled is still posted", "internal/tags/receive.go", "	t.table.Cancel(r.Node)\n", "", tagged},
	{"memory is given back while a lane needs it", "internal/outbox/tag.go", "			if r.Lent.Busy() {", "			if false {", tagged},
	{"a wildcard gets what came last", "internal/match/match.go", "	k, n := byOrder, t.order.head\n", "	k, n := byOrder, t.order.tail\n", "./internal/match"},

	// Atomic operations.
	{"a replayed change is done twice", "internal/ledger/ledger.go",
		"	r.Delivered = l.endTo(position, nil)", "	r.Delivered = l.endTo(max(position, l.acked+1)-1, nil)", atomics},
	{"the results of a lost lane are not looked for", "internal/outbox/replay.go", "	b.replayOther.Prepend(&other)\n", "", atomics},
	{"a result that waits is overwritten by the next", "internal/owed/answer.go",
		"	binary.LittleEndian.PutUint64(p.word[:], old)\n", "	binary.LittleEndian.PutUint64(p.word[:], old)\n	if d.answers.tail != nil {\n		d.answers.tail.word = p.word\n	}\n", atomics},
	{"a fetch that was canceled keeps its credit", "internal/outbox/atomic.go", "		g.asked--\n", "", atomics},
	{"a flush does not wait for results", "internal/outbox/flush.go", "b.book.Done(epoch) && b.unsent.First() > epoch }", "b.book.Done(epoch) }", atomics},
	{"a flush of memory forgets replayed changes", "internal/wire/changes.go", "	case IDAtomicOp:\n", "	case 0:\n", "./internal/worker -run TestFlush"},
	{"a fetch waits for its answer behind a fence", "internal/outbox/get.go", "		if r.Kind == request.Atomic {\n", "		if false {\n", litmus},
	{"a compare and swap is two steps", "internal/memory/execute.go", "!w.CompareAndSwap(old, v)", "w.Swap(v) == v+1", "./internal/memory"},
	{"a word of four bytes is changed as one of eight", "internal/memory/execute.go", "	if h.Size == 4 {\n		w := r.Word32", "	if h.Size == 4 && h.Offset > 1<<40 {\n		w := r.Word32", "./internal/memory"},

	// Rails.
	{"an address that this host has too is dialed", "internal/topo/judge.go", "	case v.owns(to):", "	case false:", "./internal/topo"},
	{"a lane may leave by another interface", "internal/topo/judge.go", "	case hop.Index == c.Index:", "	default:", "./internal/topo"},
	{"a slow rail is used beside a fast one", "internal/topo/plan.go", "slow*x.c.Speed < fastest", "false", "./internal/topo"},
	{"a path is dialed again though its rail is gone", "internal/paths/paths.go", "		case some:", "		case false:", "./internal/paths"},
	{"a path is dialed again without a look at the present table", "internal/paths/paths.go", "	if p.view != s.g.Views {", "	if false {", "./internal/paths"},
	{"without a lane only what was told last is dialed", "internal/paths/paths.go", "		q.Told = s.ever\n", "", "./internal/paths"},
	{"who answers at a told address is the peer", "internal/worker/open.go", "if !l.path.Proven()", "if false", ". -run TestStrangerAtToldAddress"},
	{"who answers at a told address may join without the endpoint's key", "internal/wireup/wireup.go", "!m.admitted(s.Ack.Join)", "false", "./internal/wireup"},
	{"a lane may be of another endpoint", "internal/worker/open.go", "} else if theirs != ep.names.Yours {", "} else if false {", ". -run TestStrangerAtToldAddress"},
	{"a listener without a secret lets lanes of an endpoint with one in", "internal/worker/listen.go", " || !l.ln.secret.Equal(ep.secret)", "", "./internal/worker"},
	{"an endpoint takes as many lanes as the peer likes", "internal/worker/listen.go", "case len(ep.up)+len(ep.opening) >= w.cfg.MaxLanes && !ep.makeRoom():", "case false:", "./internal/worker"},
	{"lanes on which nothing ever came keep others out", "internal/worker/listen.go", "MaxLanes && !ep.makeRoom():", "MaxLanes:", "./internal/worker -run TestHalfOpenLanes"},
	{"addresses that a peer tells are remembered without bound", "internal/paths/paths.go", "} else if len(s.ever) == mostEver {", "} else if false {", "./internal/paths"},
	{"whatever a peer tells is dialed", "internal/paths/paths.go", "	s.take(topo.Dialable(s.dialed, told))", "	s.take(told)", "./internal/paths"},

	// Fences.
	{"R12: a fence is ignored", "internal/outbox/seat.go", "	if barrier != 0 {", "	if false {", explored},
	{"R12: no wait across lanes", "internal/order/order.go",
		"		if at != nil {\n			return nil, false\n		}\n", "		if at != nil {\n			return at, false\n		}\n", explored},
	{"R12: what is on no lane does not count (H8)", "internal/order/order.go", "	if b.Off.First() < barrier {", "	if false {", seeds},
	{"a lane without order is followed", "internal/order/order.go", "at == p && p.InOrder &&", "at == p &&", book},
	{"replays pass by fences", "internal/outbox/replay.go", "			barrier = b.book.BarrierOf(r.epoch)", "			barrier = 0", seeds},
	{"a replay gets a new epoch", "internal/outbox/replay.go",
		"			barrier = b.book.BarrierOf(r.epoch)", "			barrier = b.book.BarrierOf(b.book.Current())", seeds},
	{"a flush takes the fence away", "internal/order/order.go",
		"	b.next()\n	return b.cur - 1, b.low()", "	b.next()\n	b.fence = 0\n	return b.cur - 1, b.low()", seeds},
	{"the record is reset by a flush", "internal/order/order.go",
		"	b.next()\n	return b.cur - 1, b.low()", "	b.next()\n	b.fences, b.first = b.fences[:0], 0\n	return b.cur - 1, b.low()", book},
	{"an instance is known by its slot", "internal/outbox/seat.go", "	b.lastID++\n", "	b.lastID = uint64(len(b.up)) + 1\n", seeds},
	{"a flush forgets what moved off its lane", "internal/order/order.go", "	e := b.Off.First()\n", "	e := uint64(none)\n", seeds},
	{"a flush of memory forgets what waits", "internal/outbox/flush.go", "			if r.Epoch <= epoch && (r.Key.Index == region && r.Kind != request.AM || r.Signals && r.Signal.Index == region) {", "			if false {", seeds},
	{"a flush of memory forgets what is handed back", "internal/outbox/flush.go", "	return b.replayAny.Len() == 0", "	return true", seeds},
	{"a flush of memory forgets what is replayed", "internal/outbox/replay.go", "				l.touch(region, r.epoch)\n", "				_ = region\n", seeds},
	{"a flush of lanes forgets what they handed back", "internal/outbox/flush.go",
		" || t.hand != nil && !t.hand.over() {", " {", "./internal/worker -run TestFlush"},
	{"a get counts as executed before it is answered", "internal/outbox/get.go",
		"		g.waiting.Push(r)\n", "		g.waiting.Push(r)\n		b.landed(r)\n", seeds},
	{"nobody looks again when a fence is passed", "internal/outbox/ends.go",
		"		b.fenced = 0\n		b.host.Wake()", "		b.fenced = 0", "./internal/worker -run BehindFences"},
	{"fences that nothing is left behind are kept", "internal/order/order.go", "		if b.within(f, next) {", "		if b.within(f, next) || true {", book},
	{"a fence that something is left behind is forgotten", "internal/order/order.go", "		if b.within(f, next) {", "		if b.within(f, next) && false {", book},
	{"epochs that are over are kept", "internal/order/place.go", "		if o.n > 0 {\n", "		if true {\n", book},
	{"a worker's fence reaches no endpoint", "internal/order/order.go", "	if b.seen != b.worker.n {", "	if false {", seeds},

	{"a frame asks for an acknowledgement as the one before it did", "internal/protocol/protocol.go", "	*f = transport.Frame{Done: r.Done()} //", "	f.Done = r.Done() //", "./internal/protocol"},

	// Signals.
	{"a signal does not wait for its put", "internal/outbox/signal.go", "	if r.Frames > 0 {\n		l = b.behind(r)\n	}\n", "", explored},
	{"a signal follows on a lane that has a part only", "internal/outbox/signal.go", "		r.Lane = request.AnyLane\n", "", explored},
	{"a replayed signal passes by its put", "internal/outbox/signal.go", "	return q != nil && q.Frames > 1", "	return q != nil && q.Frames > 100", seeds},

	// Credits and books.
	{"room is not told", "internal/worker/link.go", "		l.ep.Wake()\n", "", seeds},
	{"a message that was given up keeps its credit", "internal/outbox/replay.go", "r.Frames, r.Borrowed, r.Begun = 0, 0, false", "r.Frames, r.Borrowed = 0, 0", litmus},
	{"the books of ordered frames drift", "internal/outbox/replay.go",
		"		if ordered(f.ID) {\n			b.orderedLeft()\n		}", "", seeds},
	{"a flush of what never went ends well", "internal/outbox/flush.go", "	if b.end != nil {\n		return // what", "	if false {\n		return // what", litmus},
	{"a flush is done one epoch early", "internal/order/order.go",
		"return b.low() > epoch }", "return b.low() >= epoch }", seeds},
	{"a replay's end is not its operation's", "internal/outbox/replay.go",
		"	r.done.Executed(r.tag, err)\n", "", seeds},
	{"a refusal that is lost is forgotten", "internal/worker/handover.go",
		"if n := a.Refusals; n > l.refused.seen {", "if n := a.Refusals; n > 1000 {", litmus},
	{"a failed endpoint acknowledges what it drops", "internal/worker/close.go",
		"	if h == life.Broke {\n		ep.deafen()\n	}\n", "", litmus},

	// The user's buffers and his word.
	{"an abandoned payload stays the user's", "internal/outbox/ends.go",
		"{ return requestOf(c) == r })", "{ return requestOf(c) != r && false })", seeds},
	{"a canceled operation of which the peer has a part is dropped", "internal/outbox/replay.go",
		" && int(r.Posted) == len(f.Payload)", "", litmus},

	// Who is let in.
	{"anybody's Hello is looked at", "internal/wireup/wireup.go", "; !same(m.peer.Proof, m.keys.Secret.MAC(opensWith, m.said)) {", "; false {", proofs},
	{"anybody is the acceptor", "internal/wireup/wireup.go", "if !same(m.peer.Proof, key.MAC(purpose, m.said)) {", "if _, _ = key, purpose; false {", proofs},
	{"anybody confirms", "internal/wireup/wireup.go", "if !same(c.Proof, key.MAC(confirmsWith, m.said)) {", "if _, _ = c, key; false {", proofs},
	{"an acceptor may say that it has no secret", "internal/wireup/wireup.go", "} else if m.keys.Secret.IsSet() && id != wire.IDReject {", "} else if false {", proofs},
	{"the acceptor's proof confirms, too", "internal/wireup/proof.go", "\"braid opener confirms\"", "\"braid acceptor agrees\"", proofs},
	{"a proof is for any acceptor's nonce", "internal/wireup/proof.go", "	p.Proof = wire.Proof{}\n", "	p.Nonce, p.Proof = [16]byte{}, wire.Proof{}\n", proofs},
	{"who has the secret has the keys of all endpoints", "internal/wireup/proof.go", "	if k.Join.IsZero() {\n", "	if true {\n", proofs},
	{"a further lane needs no key", "internal/worker/listen.go", "case !wireup.Joins(ep.key, &h) ||", "case", answers},
	{"a lane is up before it is confirmed", "internal/worker/listen.go", "	if !l.wu.Confirms() {\n", "	if true {\n", litmus},
	{"R2: what waits to be confirmed carries LOSTs", "internal/failover/rules.go", "		r.state, r.wasUp = Opening, false\n", "", litmus},
	{"nobody makes room for who comes", "internal/arrivals/room.go", "	if out == none && len(r.guests) >= r.Places {", "	if false {", places},
	{"who has just come makes room", "internal/arrivals/room.go", "g.came+1 < r.turn && ", "", places},

	// The RDMA device.
	{"a repeated atomic is executed again", "rdma/soft/responder.go",
		"	case diff < 0:\n		r.repeated(q, p)\n		return", "	case diff < 0 && p.Opcode == packet.FetchAdd:\n		r.atomic(q, p)\n		return\n	case diff < 0:\n		r.repeated(q, p)\n		return", device},
	{"an atomic's result is forgotten", "rdma/soft/responder.go", "if orig, ok := r.results.Find(p.PSN); ok && ", "if orig, ok := r.results.Find(p.PSN); ok && false && ", device},
	{"fewer results are kept than were agreed", "rdma/soft/responder.go", "r.results.Grow(reads)", "r.results.Grow(reads / 2)", "./rdma/soft -run AskedForAgain"},
	{"an acknowledgement ends a READ whose answer was lost", "rdma/soft/answer.go",
		"r.ring.OpAt(i).Answered() && rdma.PSNDiff(s.first+s.n, r.una) > 0 {", "false {", device},
	{"a READ is asked for again beyond what was asked for", "rdma/soft/send.go", "min(segment-r.off%segment, s.n-r.off)", "min(segment, s.n-r.off)", device},
	{"a gap is executed", "rdma/soft/responder.go", "	case diff > 0:\n", "	case diff > 1:\n", device},
	{"remote access survives deregistration", "rdma/soft/memory.go", "	delete(d.rkeys, m.rkey)\n	m.access &^= rdma.AccessRemote | rdma.AccessMWBind", "	m.access &^= 0", device},
	{"a window survives its region", "rdma/soft/memory.go", " || !w.mr.access.Has(rdma.AccessMWBind) ||", " ||", device},
	{"a connection keeps the way that it knows", "rdma/soft/qp.go", "	if mask&rdma.MaskAV != 0 {\n		r, err", "	if mask&rdma.MaskAV != 0 && !q.route.To.IsValid() {\n		r, err", device},
	{"spoiled packets are taken", "rdma/soft/turn.go", "	if !d.sum.Check(", "	if false && !d.sum.Check(", device},
	{"nobody asks for an acknowledgement when the window closes", "rdma/soft/send.go", "closes := ", "closes := false && ", device},
	{"nobody probes", "rdma/soft/requester.go", "	} else if now >= r.again.moved+r.rtt.Probe", "	} else if false && now >= r.again.moved+r.rtt.Probe", "./rdma/soft -run TestDialogues -timeout 20s"}, // hangs
	{"a lost refusal is not repeated", "rdma/soft/responder.go", "p.AckReq && rdma.PSNDiff(p.PSN, r.beyond) <= 0", "false", device},

	// Files.
	{"names may lead upwards", "internal/files/dialogue/list.go", `case name == "" || name == "." || name == "..":`, `case name == "":`, talk},
	{"a name may come twice", "internal/files/dialogue/list.go", "case at.last >= e.Name:", "case at.last > e.Name:", talk},
	{"a piece may be announced twice", "internal/files/dialogue/intake.go", "	if p.taken {", "	if false {", talk},
	{"pieces beyond the window are taken", "internal/files/dialogue/intake.go", "if d.N < in.base || d.N >= in.base+in.window {", "if d.N < in.base || d.N > in.base+in.window {", talk},
	{"the end comes before all pieces", "internal/files/dialogue/intake.go", "more || in.announce != in.next ||", "more ||", talk},
	{"digests are not compared", "internal/files/session.go", "if sha256.Sum256(b) != p.Sums[i] {", "if sha256.Sum256(b) != p.Sums[i] && false {", hostile},
	{"a key outlives its transfer", "internal/files/session.go", "		_ = x.mem.Deregister()", "		// _ = x.mem.Deregister()", hostile},
	{"a file that came meanwhile is replaced", "internal/files/tree/commit.go", "	if !e.Dir && s.t.overwrite {", "	if !e.Dir {", disk},
	{"links in the directory are followed", "internal/files/tree/dir.go", "unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW)", "unix.Fstatat(d.fd(), name, &st, 0)", disk},
	{"what another receiver writes to is swept away", "internal/files/tree/target.go", "		if lock, err := t.lock(d.Name()); err == nil {", "		if lock, err := t.root.Open(d.Name()); err == nil {", disk},
	{"two write to one name", "internal/files/tree/target.go", "e.Parent == dialogue.Top && t.busy[e.Name] {", "false {", disk},

	// The hand-over with lanes of devices.
	{"over rc: one frame too few is replayed", "internal/ledger/ledger.go",
		"	r.Delivered = l.endTo(position, nil)", "	r.Delivered = l.endTo(min(position+1, l.posted), nil)", overRC},
	{"over rc: one frame too many is replayed", "internal/ledger/ledger.go",
		"	r.Delivered = l.endTo(position, nil)", "	r.Delivered = l.endTo(max(position, l.acked+1)-1, nil)", overRC},

	// The rc transport.
	{"frames end before the handler is asked", "transport/rc/endpoint.go", "	if ep.sink.OnError(err) == transport.Complete && ep.state != closed {\n", "	ep.led.Cancel(err)\n	if ep.sink.OnError(err) == transport.Complete && ep.state != closed {\n", rc},
	{"while held, places don't come back", "transport/rc/send.go", "	ep.p.credits.Give(e.N)\n", "	if ep.state <= up {\n		ep.p.credits.Give(e.N)\n	}\n", rc},
	{"places of a destroyed queue pair are lost", "transport/rc/endpoint.go", "		p.credits.Keep(e.N)\n", "", rc},
	{"places of a destroyed queue pair are free at once", "transport/rc/queue/credits.go", "c.Kept += n", "c.Free += n", rc},
	{"a completion ends its own work request only", "transport/rc/queue/ring.go", "		if int16(at-p.at) < 0 {", "		if e.N == 1 {", rc},
	{"a block is not held by its work request", "transport/rc/queue/ring.go", "		b.Retain()\n		p.bufs[i] = b\n", "		_, _ = i, b\n", rc},
	{"a quiesced connection goes on accepting", "transport/rc/receive.go", "ep.state == up || ep.state == quiesced && h.Control() {", "ep.state == up || ep.state == quiesced {", rc},
	{"a part counts as the whole", "transport/rc/outbox/outbox.go", "	if r := p.q.first(); r.at == r.to {\n		p.q.pop()", "	{\n		p.q.pop()", rc},
	{"the last credit is spent on data", "transport/rc/send.go", "if !ok || !ep.maySend(1) {", "if !ok || !ep.maySend(0) {", rc},
	{"receives are granted before they are posted", "transport/rc/inbox.go", "	ep.spent = append(ep.spent, at)\n	ep.soil()\n", "	ep.spent = append(ep.spent, at)\n	ep.flow.posted++\n	ep.soil()\n", rc},
	{"what comes behind an offer is handed over before it", "transport/rc/receive.go", "ep.state == up && ep.reads.holds() && s.Kind", "false && s.Kind", reading},
	{"a frame is handed over before it was read", "transport/rc/reading.go", "(ep.reads.waiting[0].done || !ep.reads.waiting[0].offer)", "true", reading},
	{"a lost lane's payloads stay open", "transport/rc/outbox/offer.go", "		o.offers[i].key.Shut()\n", "", reading},
	{"bytes that were being read are lost with the queue pair", "transport/rc/endpoint.go", "		p.reads.Ended(e.Bytes)\n", "", reading},
	{"who reads waits for nobody", "transport/rc/reading.go", "!first || p.reads.Free < n", "false && !first || p.reads.Free < n", reading},
	{"memory is used again while peers may read it", "transport/rc/queue/memory.go", "	case b.Lock != nil:\n		m.locked = append(m.locked, b)\n", "", reading},
	{"a bind that hangs is waited for", "transport/rc/window/binder.go", "		b.c.Timers.Set(b.timer, b.c.Now()+patience)\n	}\n	return true", "	}\n	return true", reading},
	{"windows are used without proof", "transport/rc/window/binder.go", "b.life == Ready && k.bind()", "k.bind()", reading},
	{"an old READ ends a healthy connection", "rdma/soft/responder.go", "rdma.PSNDiff(end, r.epsn) > 0 || !ok || r.answers.Again(p, q.mtu):", "rdma.PSNDiff(end, r.epsn) > 0 || r.answers.Again(p, q.mtu):\n		case !ok:\n			r.invalid(q, p, packet.NakAccess)", reading},
	{"a connection uses what was resolved for an earlier one", "rdma/soft/qp.go", "func (d *Device) resolve(a rdma.AHAttr) (carrier.Route, error) {\n",
		"var stale = map[rdma.AHAttr]carrier.Route{}\n\nfunc (d *Device) resolve(a rdma.AHAttr) (carrier.Route, error) {\n	r, ok := stale[a]\n	var err error\n	if !ok {\n		if r, err = d.afresh(a); err == nil {\n			stale[a] = r\n		}\n	}\n	return r, err\n}\n\nfunc (d *Device) afresh(a rdma.AHAttr) (carrier.Route, error) {\n",
		"./transport/rc -run TestMove"},
	{"an address is resolved once", "transport/rc/mail/mail.go", "	if h.users--; h.users > 0 {\n		return\n	}\n", "	if h.users--; h.users >= 0 {\n		return\n	}\n", rc},
	{"a stale address is used by new sends", "transport/rc/mail/mail.go", "h.stale = h.stale || h.attr.DGID == gid", "_ = h", rc},
	{"a dead port tells nobody", "transport/rc/port.go", "		p.lose(all, errPortDown)\n", "", rc},
	{"a moved peer is kept", "transport/rc/port.go", "		p.lose(func(ep *endpoint) bool { return ep.call.to.DGID == e.GID && ep.state != connecting }, errMoved)\n", "", rc},
	{"the last word is cut off", "transport/rc/endpoint.go", "	if was == up && ep.ring.Len() > 0 && ep.failing == nil {", "	if false {", rc},
	{"who leaves tells nobody", "transport/rc/call.go", "	w.again()\n}\n", "	_ = w\n}\n", rc},

	// Streams.
	{"who is closed upon does not answer", "internal/stream/flow/life.go", "	case e == PeerClosed && (from == Open || from == ReadEnded):", "	case false:", "./internal/stream/flow -run TestTwoSides"},
	{"a reader who has taken all tells nobody", "internal/stream/flow/window.go", "	if r.granted-r.consumed > uint64(r.size/2) {", "	if r.size > 0 {", "./internal/stream/flow -run TestTwoSides"},
	{"a write that was called off counts as written", "stream/write.go", "			back += l.size\n", "", "./stream -run TestCalledOff"},

	{"a fence does not hold what is done without a frame", "internal/outbox/direct.go", "		_, free = b.book.Sole(barrier)\n", "", ". -run TestDirectBehindFence"},
	{"a borrower who died inside is waited for", "transport/shm/loan/desk_linux.go", "l.shut() && !l.tie.over()", "l.shut()", "./transport/shm -run TestKilledInside"},
	{"quiesce leaves the gates open", "transport/shm/lend.go", "	ep.lent.Shut(ep.f.desk)\n", "", "./transport/shm -run TestLendAgain"},
}
