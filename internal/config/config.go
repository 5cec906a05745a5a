package config

import "time"

// Config are the limits and times of a worker. Zero values mean the defaults.
type Config struct {
	Name  string // label for the peer's logs
	Lanes int    // wanted per endpoint; 0: one per path
	Bounds
	Times
}

// Bounds are how much there may be of a thing.
type Bounds struct {
	Window       int    // bytes unacknowledged per lane
	Pending      int    // operations waiting per endpoint and queue
	PendingBytes uint64 // bytes of operations waiting per endpoint
	MaxFrame     int    // bytes; the transport may allow less
	MaxMessage   uint64 // bytes of an active message, and of all that an endpoint holds unfinished
	Stripe       int    // bytes from which a message goes over several lanes at once
	Eager        int    // bytes up to which a tagged message is sent without asking whether it is wanted
	ZeroCopy     int    // bytes from which a payload is sent from where it stands
	Rendezvous   int    // index into the key's words
	Backlog      uint64 // cost of messages accepted and not handled, per endpoint
	Replies      int    // answers to gets that an endpoint has room for
	MaxLanes     int    // lanes per endpoint, accepted and dialed
	HalfOpen     int    // connections that have not said who they are
	HalfOpenPer  int    // of one address that isn't a loopback one
}

// Times are how long a thing may take.
type Times struct {
	Handshake    time.Duration // of a dialed lane
	HelloTimeout time.Duration // for a stranger to say who it is
	Keepalive    time.Duration
	PeerTimeout  time.Duration
	Suspended    time.Duration
	Close        time.Duration
	ProbeAfter   time.Duration
	LostAfter    time.Duration
	RedialMin    time.Duration
	RedialMax    time.Duration
	RedialFor    time.Duration // 0: for ever
	DialWait     time.Duration // for the lanes after the first
}

// Sockets are what the TCP transport is told. Zero values leave it to the system.
type Sockets struct {
	SendBuffer    int // bytes
	ReceiveBuffer int // bytes
	Backlog       int // connections that wait to be taken, per listener
}

// Node is everything that can be set: what its workers go by, and what the node itself does. Zero values mean the defaults.
type Node struct {
	Config
	Rails      []string
	Transports []string
	ErrorMode  int // index into the key's words
	Wait       int // the same
	Log        int // the same
	Control    int // the same
	Secret     string
	Sockets    Sockets
	RC         RC
	Shm        Shm
}

// Shm is what shared memory is told.
type Shm struct {
	Limit     int // bytes, of all lanes
	PeerLimit int // bytes, of those with one process
	Read      int // index into the key's words
}

// RC is what RDMA is told.
type RC struct {
	Trust    []string // what it may be used for although its packets carry no proof
	ReadFrom int      // bytes from which on payloads are read by the peer; 0: never
	Port     int      // UDP port of devices in software that dial; 0: any
}

// MostLanes is how many lanes an endpoint has at most, unless MaxLanes says otherwise.
const MostLanes = 16

// Defaults fills in what is zero.
func (c *Config) Defaults() {
	n := Node{Config: *c}
	n.Defaults()
	*c = n.Config
}

// Defaults fills in what is zero.
func (n *Node) Defaults() {
	for i := range Keys {
		if k := &Keys[i]; k.Default != "" && !k.Said(n) {
			if err := k.Parse(n, k.Default); err != nil {
				panic(err) // the table is wrong; a test reads it
			}
		}
	}
}
