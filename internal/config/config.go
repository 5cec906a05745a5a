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
	DialWait     time.Duration // for the lanes after the first
}

// MostLanes is how many lanes an endpoint has at most, unless MaxLanes says otherwise.
const MostLanes = 16

func or[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// Defaults fills in what is zero.
func (c *Config) Defaults() {
	or(&c.Window, 4<<20)
	or(&c.Pending, 4096)
	or(&c.PendingBytes, 1<<30)
	or(&c.MaxFrame, 256<<10)
	or(&c.MaxMessage, 64<<20)
	or(&c.Stripe, 256<<10)
	or(&c.Backlog, 64<<20)
	or(&c.Replies, 64)
	or(&c.MaxLanes, MostLanes)
	or(&c.HalfOpen, 64)
	or(&c.HalfOpenPer, 8)
	or(&c.Handshake, 5*time.Second)
	or(&c.HelloTimeout, 2*time.Second)
	or(&c.Keepalive, time.Second)
	or(&c.PeerTimeout, 10*time.Second)
	or(&c.Times.Suspended, 30*time.Second)
	or(&c.Times.Close, 5*time.Second)
	or(&c.ProbeAfter, 15*time.Millisecond)
	or(&c.LostAfter, 40*time.Millisecond)
	or(&c.RedialMin, 20*time.Millisecond)
	or(&c.RedialMax, 5*time.Second)
	or(&c.DialWait, time.Second)
}
