package config

import "time"

// Bounds of values that have no natural ones: what is beyond is a slip of the pen.
const (
	year = 365 * 24 * int64(time.Hour)
	huge = 1 << 50 // bytes
	many = 1 << 30 // of anything
)

// Keys are all there are, in the order in which they are printed.
var Keys = []Key{
	{Name: "name", Kind: Text, Most: 64, Option: "Name",
		Text: "Label that peers show in their logs", field: func(n *Node) any { return &n.Name }},
	{Name: "secret", Kind: Secret, Option: "Secret",
		Text: "What both sides must have, as `braid secret` prints it; unset lets anybody in who reaches a listener", field: func(n *Node) any { return &n.Secret }},
	{Name: "rails", Kind: List, Auto: "all that reach the peer", Option: "Rails",
		Text: "On what lanes are built, and a listener listens besides its own address: interfaces, addresses, networks (10.0.0.0/16), patterns (eth*); ! before one leaves it out", field: func(n *Node) any { return &n.Rails }},
	{Name: "lanes", Kind: Count, Auto: "one for each interface that reaches the peer", Least: 1, Most: MostLanes, Option: "Lanes",
		Text: "Lanes per endpoint", field: func(n *Node) any { return &n.Lanes }},
	{Name: "transports", Kind: List, Default: "tcp,self,shm", Words: []string{"tcp", "self", "shm", "rc", "verbs"}, Option: "Transports",
		Text: "What carries lanes: tcp; self, which needs no network to dial a listener of the same worker; shm, shared memory between processes of one host and user, on Linux. Without tcp there would be no first connection, so it stays, unless rc or verbs is named: then lanes run over RDMA devices instead, on both sides, in software (rc, docs/rc.md) or adapters (verbs, docs/verbs.md)", field: func(n *Node) any { return &n.Transports }},
	{Name: "error-mode", Kind: Word, Default: "failover", Words: []string{"failover", "peer", "none"}, Option: "ErrorMode",
		Text: "When a lane is lost: the others take over (failover), or the endpoint ends (peer; none also looks for no silent peers)", field: func(n *Node) any { return &n.ErrorMode }},
	{Name: "wait", Kind: Word, Default: "adaptive", Words: []string{"adaptive", "poll", "sleep"}, Option: "Wait",
		Text: "How blocking calls wait: poll for some microseconds, then sleep; never sleep; sleep at once", field: func(n *Node) any { return &n.Wait }},
	{Name: "control", Kind: Word, Default: "off", Words: []string{"off", "on"}, Option: "Control",
		Text: "A socket of this user alone over which `braid inspect` looks at the process, and `braid fault` breaks things in it", field: func(n *Node) any { return &n.Control }},
	{Name: "log", Kind: Word, Default: "off", Words: []string{"off", "error", "warn", "info", "debug"}, Option: "Log",
		Text: "From which level on things are logged to standard error; a program that hands in a log of its own decides itself", field: func(n *Node) any { return &n.Log }},

	{Name: "window", Kind: Size, Default: "4MiB", Least: 1, Most: huge, Option: "Limits.Window",
		Text: "Bytes on their way and not acknowledged, per lane; they are kept to be sent again", field: func(n *Node) any { return &n.Window }},
	{Name: "pending", Kind: Count, Default: "4096", Least: 1, Most: many, Option: "Limits.Pending",
		Text: "Operations that wait for room, per endpoint and kind; beyond it posts end with ErrLimit, and blocking calls wait", field: func(n *Node) any { return &n.Pending }},
	{Name: "pending-bytes", Kind: Size, Default: "1GiB", Least: 1, Most: huge, Option: "Limits.PendingBytes",
		Text: "Bytes of operations that wait for room, per endpoint; a single one may be larger", field: func(n *Node) any { return &n.PendingBytes }},
	{Name: "message", Kind: Size, Default: "64MiB", Least: 1, Most: huge, Option: "Limits.Message",
		Text: "The largest active message, and all unfinished ones of an endpoint together", field: func(n *Node) any { return &n.MaxMessage }},
	{Name: "backlog", Kind: Size, Default: "64MiB", Least: 1, Most: huge, Option: "Limits.Backlog",
		Text: "Messages that arrived and are not handled, each with 256 bytes of overhead, per endpoint; the peer sends no more before they are", field: func(n *Node) any { return &n.Backlog }},
	{Name: "frame", Kind: Size, Default: "256KiB", Least: 4 << 10, Most: 1 << 20, Option: "Limits.Frame",
		Text: "The largest piece in which data is sent; the smaller one of both sides and of the transport counts", field: func(n *Node) any { return &n.MaxFrame }},
	{Name: "stripe", Kind: Size, Default: "256KiB", Least: 1, Most: huge, Option: "Limits.Stripe",
		Text: "From this size on a message goes over several lanes at once", field: func(n *Node) any { return &n.Stripe }},
	{Name: "replies", Kind: Count, Default: "64", Least: 1, Most: many, Option: "Limits.Replies",
		Text: "Gets of the peer that are answered at a time, per endpoint", field: func(n *Node) any { return &n.Replies }},
	{Name: "most-lanes", Kind: Count, Default: "16", Least: 1, Most: MostLanes, Option: "Limits.Lanes",
		Text: "Lanes that an endpoint may have, whoever opens them", field: func(n *Node) any { return &n.MaxLanes }},
	{Name: "half-open", Kind: Count, Default: "64", Least: 1, Most: many, Option: "Limits.HalfOpen",
		Text: "Connections that have not said who they are, per listener", field: func(n *Node) any { return &n.HalfOpen }},
	{Name: "half-open-per-address", Kind: Count, Default: "8", Least: 1, Most: many, Option: "Limits.HalfOpenPerAddress",
		Text: "The same, of one address that is no loopback one", field: func(n *Node) any { return &n.HalfOpenPer }},

	{Name: "handshake", Kind: Duration, Default: "5s", Least: 1, Most: year, Option: "Times.Handshake",
		Text: "For a dial to be answered", field: func(n *Node) any { return &n.Handshake }},
	{Name: "hello", Kind: Duration, Default: "2s", Least: 1, Most: year, Option: "Times.Hello",
		Text: "For who connects to say who he is", field: func(n *Node) any { return &n.HelloTimeout }},
	{Name: "dial-wait", Kind: Duration, Default: "1s", Least: 1, Most: year, Option: "Times.DialWait",
		Text: "How long a dial that has its first lane waits for the others", field: func(n *Node) any { return &n.DialWait }},
	{Name: "keepalive", Kind: Duration, Default: "1s", Least: 1, Most: year, Option: "Times.Keepalive",
		Text: "Between the probes of an idle lane", field: func(n *Node) any { return &n.Keepalive }},
	{Name: "peer-timeout", Kind: Duration, Default: "10s", Least: 1, Most: year, Option: "Times.Peer",
		Text: "Silence on all lanes, until the peer is taken for dead", field: func(n *Node) any { return &n.PeerTimeout }},
	{Name: "suspended", Kind: Duration, Default: "30s", Least: 1, Most: year, Option: "Times.Suspended",
		Text: "How long an endpoint without any lane goes on dialing", field: func(n *Node) any { return &n.Times.Suspended }},
	{Name: "close", Kind: Duration, Default: "5s", Least: 1, Most: year, Option: "Times.Close",
		Text: "For the peer to agree to a close", field: func(n *Node) any { return &n.Times.Close }},
	{Name: "probe-after", Kind: Duration, Default: "10ms", Least: 1, Most: year, Option: "Times.Probe",
		Text: "Silence of a lane with unacknowledged work, until it is probed", field: func(n *Node) any { return &n.ProbeAfter }},
	{Name: "lost-after", Kind: Duration, Default: "30ms", Least: 1, Most: year, Option: "Times.Lost",
		Text: "The same, until the lane is given up if the peer answers on another", field: func(n *Node) any { return &n.LostAfter }},
	{Name: "redial-min", Kind: Duration, Default: "20ms", Least: 1, Most: year, Option: "Times.RedialMin",
		Text: "Pause before a lost lane is dialed again; it doubles each time", field: func(n *Node) any { return &n.RedialMin }},
	{Name: "redial-max", Kind: Duration, Default: "5s", Least: 1, Most: year, Option: "Times.RedialMax",
		Text: "And does not grow beyond this", field: func(n *Node) any { return &n.RedialMax }},
	{Name: "redial-for", Kind: Duration, Auto: "for ever", Least: 1, Most: year, Option: "Times.RedialFor",
		Text: "How long a lost lane is dialed while another one carries on, until it is given up; news of rails or addresses, and the loss of the last lane, have it dialed again", field: func(n *Node) any { return &n.RedialFor }},

	{Name: "tcp-send-buffer", Kind: Size, Auto: "what the system chooses", Least: 4 << 10, Most: 1 << 30,
		Text: "The system's send buffer of each socket", field: func(n *Node) any { return &n.Sockets.SendBuffer }},
	{Name: "tcp-receive-buffer", Kind: Size, Auto: "what the system chooses", Least: 4 << 10, Most: 1 << 30,
		Text: "The system's receive buffer of each socket", field: func(n *Node) any { return &n.Sockets.ReceiveBuffer }},
	{Name: "tcp-backlog", Kind: Count, Default: "1024", Least: 1, Most: 1 << 16,
		Text: "Connections that may wait to be taken, per listener; the system may cut it down (net.core.somaxconn)", field: func(n *Node) any { return &n.Sockets.Backlog }},
	{Name: "rc-trust", Kind: List, Auto: "neither", Words: []string{"network", "secret"},
		Text: "What rc is used for although its packets carry no proof of who sent them: addresses beyond loopback (network), endpoints with a secret (secret)", field: func(n *Node) any { return &n.RC.Trust }},
	{Name: "rc-read-from", Kind: Size, Auto: "never", Least: 1 << 10, Most: 1 << 20,
		Text: "Payloads of this size and more are read by the peer (RDMA READ) instead of being sent, if both sides say so", field: func(n *Node) any { return &n.RC.ReadFrom }},
	{Name: "rc-port", Kind: Count, Auto: "any", Least: 1, Most: 1<<16 - 1,
		Text: "UDP port of devices in software that dial: 4791 where adapters are to be reached, which reach no other", field: func(n *Node) any { return &n.RC.Port }},
	{Name: "shm-limit", Kind: Size, Default: "256MiB", Least: 1 << 20, Most: 1 << 40,
		Text: "Shared memory that a worker may have mapped: 1.3 MB for each lane; beyond it peers come by the network", field: func(n *Node) any { return &n.ShmLimit }},
}

// Reserved are variables with the prefix of settings that are none: the file of settings, and what this project's tests read. Nobody is
// warned of them.
var Reserved = []string{
	"BRAID_CONFIG",
	"BRAID_BENCH_BARE", "BRAID_BENCH_DATAGRAMS", "BRAID_BENCH_ECHO", "BRAID_BENCH_STREAM", "BRAID_DEBUG", "BRAID_DEEP", "BRAID_FILES", "BRAID_LITMUS", "BRAID_MULTIPROC_JOB", "BRAID_MUTANTS", "BRAID_NO_SKIP", "BRAID_PERF_TEST_SERVER",
	"BRAID_REWRITE", "BRAID_SEED", "BRAID_SEEDS", "BRAID_SHM_BORROW", "BRAID_SHM_CHILD", "BRAID_SOAK", "BRAID_UPDATE", "BRAID_VERBS_LOCAL", "BRAID_VERBS_LOCKED", "BRAID_VERBS_PEER",
}
