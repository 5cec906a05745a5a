package mutants

// mutants are the mistakes that somebody could make in the parts that keep the promises.
var mutants = []mutant{
	// Replay.
	{"R13: what waits goes before replays", "internal/outbox/pending.go",
		"if ordered && b.replayOrdered.len() > 0 || !ordered && b.replayAny.len() > 0 {", "if false {", seeds},
	{"replays in reverse order", "internal/outbox/replay.go",
		"	if q.tail == nil {\n		q.head = r\n	} else {\n		q.tail.next = r\n	}\n	q.tail = r\n	q.n++",
		"	r.next, q.head = q.head, r\n	if q.tail == nil {\n		q.tail = r\n	}\n	q.n++", seeds},
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

	// Purge boundary.
	{"one frame too few is replayed", "internal/ledger/ledger.go",
		"	r.Delivered = l.endTo(position, nil)", "	r.Delivered = l.endTo(min(position+1, l.posted), nil)", seeds},
	{"one frame too many is replayed", "internal/ledger/ledger.go",
		"	r.Delivered = l.endTo(position, nil)", "	r.Delivered = l.endTo(max(position, l.acked+1)-1, nil)", seeds},

	// Instance identity.
	{"R1: an instance is known by its number alone", "internal/failover/machine.go",
		"if m.recs[i].id == id {", "if m.recs[i].id.N == id.N {", hand},
	{"R8: an old HELLO is let in", "internal/failover/rules.go",
		"	if !m.seen.take(e.ID.N) { // R8", "	if m.seen.take(e.ID.N); false { // R8", hand},
	{"R9: any incarnation is let in", "internal/worker/listen.go",
		"ep == nil || yours.Incarnation != w.incarnation || ep.over()", "ep == nil", restarts},

	// Order lane.
	{"R10: messages pass by those on a lost lane", "internal/outbox/seat.go",
		"	if o.unacked > 0 {\n		return nil\n	}", "", seeds},
	{"R10: each message takes the lane with the least to do", "internal/outbox/seat.go",
		"	if o.seat != nil && o.seat.State() == lane.Up {\n		return o.seat\n	}\n	if o.unacked > 0 {", "	if false {", seeds},

	{"R11: a message is closed before its parts are acknowledged", "internal/outbox/stripe.go",
		"	if len(r.Payload) > 0 || r.Frames > 0 {", "	if len(r.Payload) > 0 {", seeds},

	// Gets.
	{"R14: an answer that finds no room is dropped", "internal/outbox/get.go",
		"		if s := l.Tep.Post(&w.Frame); s != transport.Done && s != transport.Pending {\n			return n\n		}\n		if q.head = p.next",
		"		l.Tep.Post(&w.Frame)\n		if q.head = p.next", seeds},
	{"R14: gets are asked for without credits", "internal/outbox/get.go",
		"if g.asked >= b.Credits {", "if false {", seeds},
	{"an answer to a get that was given up is written", "internal/outbox/get.go",
		"	r.Dst, r.Payload = nil, nil\n	if !b.gets", "	r.Payload = nil\n	if !b.gets", seeds},
	{"a payload that is arriving stays where its owner took it back", "internal/worker/wait.go",
		"				l.Tep.Unplace()\n", "", seeds},

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
	{"an endpoint takes as many lanes as the peer likes", "internal/worker/listen.go", "case len(ep.up)+len(ep.opening) >= w.cfg.MaxLanes:", "case false:", "./internal/worker"},
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
	{"an instance is known by its slot", "internal/outbox/seat.go", "	b.lastID++\n", "	b.lastID = uint64(len(b.up)) + 1\n", seeds},
	{"a flush forgets what moved off its lane", "internal/order/order.go", "	e := b.Off.First()\n", "	e := uint64(none)\n", seeds},
	{"a flush of memory forgets what waits", "internal/outbox/flush.go", "			if r.Epoch <= epoch && (r.Key.Index == region || r.Signals && r.Signal.Index == region) {", "			if false {", seeds},
	{"a flush of memory forgets what is handed back", "internal/outbox/flush.go", "	return b.replayAny.len() == 0", "	return true", seeds},
	{"a flush of memory forgets what is replayed", "internal/outbox/replay.go", "			l.touchAgain(&r.frame, r.epoch)\n", "", seeds},
	{"a flush of lanes forgets what they handed back", "internal/outbox/flush.go",
		" || t.hand != nil && !t.hand.over() {", " {", "./internal/worker -run TestFlush"},
	{"a get counts as executed before it is answered", "internal/outbox/get.go",
		"		g.waiting.Push(r)\n", "		g.waiting.Push(r)\n		b.landed(r)\n", seeds},
	{"nobody looks again when a fence is passed", "internal/outbox/ends.go",
		"		b.fenced = 0\n		b.host.Wake()", "		b.fenced = 0", seeds},
	{"a worker's fence reaches no endpoint", "internal/order/order.go", "	if b.seen != b.worker.n {", "	if false {", seeds},

	// Signals.
	{"a signal does not wait for its put", "internal/outbox/signal.go", "	if r.Frames > 0 {\n		l = b.behind(r)\n	}\n", "", explored},
	{"a signal follows on a lane that has a part only", "internal/outbox/signal.go", "		r.Lane = request.AnyLane\n", "", explored},
	{"a replayed signal passes by its put", "internal/outbox/signal.go", "	return q != nil && q.Frames > 1", "	return q != nil && q.Frames > 100", seeds},

	// Credits and books.
	{"room is not told", "internal/worker/link.go", "		l.ep.Wake()\n", "", seeds},
	{"a message that was given up keeps its credit", "internal/outbox/replay.go", "r.Frames, r.Borrowed, r.Begun = 0, 0, false", "r.Frames, r.Borrowed = 0, 0", litmus},
	{"the books of ordered frames drift", "internal/outbox/replay.go",
		"		if ordered(f.ID) {\n			b.ordered.unacked--\n		}", "", seeds},
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
	{"an atomic's result is forgotten", "rdma/soft/responder.go", "if x := r.results.find(p.PSN); x != nil && ", "if x := r.results.find(p.PSN); x != nil && false && ", device},
	{"an acknowledgement ends a READ whose answer was lost", "rdma/soft/answer.go",
		"r.ring.OpAt(i).Answered() && rdma.PSNDiff(s.first+s.n, r.una) > 0 {", "false {", device},
	{"a READ is asked for again beyond what was asked for", "rdma/soft/send.go", "min(segment-r.off%segment, s.n-r.off)", "min(segment, s.n-r.off)", device},
	{"a gap is executed", "rdma/soft/responder.go", "	case diff > 0:\n", "	case diff > 1:\n", device},
	{"remote access survives deregistration", "rdma/soft/memory.go", "	delete(d.rkeys, m.rkey)\n	m.access &^= rdma.AccessRemote | rdma.AccessMWBind", "	m.access &^= 0", device},
	{"a window survives its region", "rdma/soft/memory.go", " || !w.mr.access.Has(rdma.AccessMWBind) ||", " ||", device},
	{"a connection keeps the way that it knows", "rdma/soft/qp.go", "	if mask&rdma.MaskAV != 0 {\n		r, err", "	if mask&rdma.MaskAV != 0 && !q.route.To.IsValid() {\n		r, err", device},
	{"spoiled packets are taken", "rdma/soft/turn.go", "	if !d.sum.Check(", "	if false && !d.sum.Check(", device},
	{"nobody asks for an acknowledgement when the window closes", "rdma/soft/send.go", "closes := ", "closes := false && ", device},
	{"nobody probes", "rdma/soft/requester.go", "	} else if now >= r.again.moved+r.rtt.Probe", "	} else if false && now >= r.again.moved+r.rtt.Probe", device},
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

	// The rc transport.
	{"frames end before the handler is asked", "transport/rc/endpoint.go", "	if ep.sink.OnError(err) == transport.Complete && ep.state != closed {\n", "	ep.led.Cancel(err)\n	if ep.sink.OnError(err) == transport.Complete && ep.state != closed {\n", rc},
	{"while held, places don't come back", "transport/rc/send.go", "	ep.p.credits.Give(e.N)\n", "	if ep.state <= up {\n		ep.p.credits.Give(e.N)\n	}\n", rc},
	{"places of a destroyed queue pair are lost", "transport/rc/endpoint.go", "		p.credits.Keep(e.N)\n", "", rc},
	{"places of a destroyed queue pair are free at once", "transport/rc/queue/credits.go", "c.Kept += n", "c.Free += n", rc},
	{"a completion ends its own work request only", "transport/rc/queue/ring.go", "		if int16(at-p.at) < 0 {", "		if n == 1 {", rc},
	{"a block is not held by its work request", "transport/rc/queue/ring.go", "		b.Retain()\n		p.bufs[i] = b\n", "		_, _ = i, b\n", rc},
	{"a quiesced connection goes on accepting", "transport/rc/receive.go", "ep.state == up || ep.state == quiesced && h.Control() {", "ep.state == up || ep.state == quiesced {", rc},
	{"a part counts as the whole", "transport/rc/outbox/outbox.go", "if r.at == r.to && p.q == &o.data {", "if p.q == &o.data {", rc},
	{"the last credit is spent on data", "transport/rc/send.go", "if !ok || !ep.maySend(1) {", "if !ok || !ep.maySend(0) {", rc},
	{"receives are granted before they are posted", "transport/rc/inbox.go", "	ep.spent = append(ep.spent, at)\n	ep.soil()\n", "	ep.spent = append(ep.spent, at)\n	ep.flow.posted++\n	ep.soil()\n", rc},
	{"what comes behind an offer is handed over before it", "transport/rc/receive.go", "ep.state == up && ep.reads.holds() && s.Kind", "false && s.Kind", rc},
	{"a frame is handed over before it was read", "transport/rc/reading.go", "(ep.reads.waiting[0].done || !ep.reads.waiting[0].offer)", "true", rc},
	{"a lost lane's payloads stay open", "transport/rc/outbox/offer.go", "		o.offers[i].key.Shut()\n", "", rc},
	{"bytes that were being read are lost with the queue pair", "transport/rc/endpoint.go", "		p.reads.Ended(e.Bytes)\n", "", rc},
	{"who reads waits for nobody", "transport/rc/reading.go", "!first || p.reads.Free < n", "p.reads.Free < n", rc},
	{"memory is used again while peers may read it", "transport/rc/queue/memory.go", "	case b.Lock != nil:\n		m.locked = append(m.locked, b)\n", "", rc},
	{"a bind that hangs is waited for", "transport/rc/window/binder.go", "		b.c.Timers.Set(b.timer, b.c.Now()+patience)\n	}\n	return true", "	}\n	return true", rc},
	{"windows are used without proof", "transport/rc/window/binder.go", "b.life == Ready && k.bind()", "k.bind()", rc},
	{"an old READ ends a healthy connection", "rdma/soft/responder.go", "rdma.PSNDiff(end, r.epsn) > 0 || !ok || r.answers.Again(p, q.mtu):", "rdma.PSNDiff(end, r.epsn) > 0 || r.answers.Again(p, q.mtu):\n		case !ok:\n			r.invalid(q, p, packet.NakAccess)", rc},
	{"an address is resolved once", "transport/rc/mail/mail.go", "	if h.users--; h.users > 0 {\n		return\n	}\n", "	if h.users--; h.users >= 0 {\n		return\n	}\n", rc},
	{"a stale address is used by new sends", "transport/rc/mail/mail.go", "h.stale = h.stale || h.attr.DGID == gid", "_ = h", rc},
	{"a dead port tells nobody", "transport/rc/port.go", "		p.lose(all, errPortDown)\n", "", rc},
	{"a moved peer is kept", "transport/rc/port.go", "		p.lose(func(ep *endpoint) bool { return ep.call.to.DGID == e.GID && ep.state != connecting }, errMoved)\n", "", rc},
	{"the last word is cut off", "transport/rc/endpoint.go", "	if was == up && ep.ring.Len() > 0 && ep.failing == nil {", "	if false {", rc},
	{"who leaves tells nobody", "transport/rc/call.go", "	w.again()\n}\n", "	_ = w\n}\n", rc},
}
