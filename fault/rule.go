package fault

import "time"

// Action is what a rule does.
type Action uint8

// The actions. Kill and Iface are done to what is around connections, all others to these.
const (
	Cut       Action = iota // connections end, or fall silent
	Drop                    // datagrams vanish
	Duplicate               // datagrams come twice
	Corrupt                 // a bit of a datagram is another one
	Delay                   // what goes through comes later
	Throttle                // no more than so many bits a second go through
	Pause                   // nothing goes through, and nothing is lost
	Kill                    // the peer's process is killed or stopped
	Iface                   // a network interface of this host is down
)

var actionWords = [...]string{"cut", "drop", "duplicate", "corrupt", "delay", "rate", "pause", "kill", "iface"}

func (a Action) String() string { return word(actionWords[:], int(a)) }

// Outside says whether it is done to something else than connections: by whoever drives the injector.
func (a Action) Outside() bool { return a == Kill || a == Iface }

// Kind is how a connection is cut.
type Kind uint8

const (
	// Reset: both sides read and write errors; new connections are refused.
	Reset Kind = iota
	// Silence: bytes just stop, and nobody is told; new connections never come to stand.
	Silence
)

var kindWords = [...]string{"reset", "silence"}

func (k Kind) String() string { return word(kindWords[:], int(k)) }

// Side is whose address Rule.Rail means.
type Side uint8

const (
	// Local: connections whose own address is the rail.
	Local Side = iota
	// Remote: connections to a peer at this address.
	Remote
	// Either of both.
	Either
)

var sideWords = [...]string{"local", "remote", "either"}

func (s Side) String() string { return word(sideWords[:], int(s)) }

// Dir is which way it is that a rule is about, as seen from here.
type Dir uint8

// The ways.
const (
	Both Dir = iota
	Tx       // what this side sends
	Rx       // what it receives
)

var dirWords = [...]string{"both", "tx", "rx"}

func (d Dir) String() string { return word(dirWords[:], int(d)) }

// Sent says whether what this side sends is part of it.
func (d Dir) Sent() bool { return d != Rx }

// Received says whether what it receives is.
func (d Dir) Received() bool { return d != Tx }

// Start is what a rule waits for when its time has come.
type Start uint8

const (
	// Now: for nothing.
	Now Start = iota
	// Write: for the next write of a connection, which it cuts in the middle.
	Write
	// Whole: until all lanes stand.
	Whole
)

var startWords = [...]string{"now", "write", "whole"}

func (s Start) String() string { return word(startWords[:], int(s)) }

func word(of []string, i int) string {
	if i < len(of) {
		return of[i]
	}
	return "(?)"
}

// Random as Rule.Lane is one of the lanes that stand, drawn each time anew.
const Random = "random"

// kinds are the words of Rule.On.
var kinds = [...]string{"tcp", "rc", "verbs", "shm"}

// Rule is one fault. Its text is one line; doc.go has the grammar. The zero value resets all connections at once, until Heal.
type Rule struct {
	Action Action

	// Which connections; each that is set must fit.
	Lane string // a slot, as "0"; a device, as "eth0"; Random; "": all
	Rail string // host address, without port; "": all
	Side Side   // whose address Rail is
	On   string // "tcp", "rc", "verbs", "shm"; "": all that the action can be done to
	Dir  Dir

	// What is done to them.
	Kind          Kind          // of Cut
	Percent       float64       // of Drop, Duplicate, Corrupt: share of the datagrams, above 0 to 100
	Delay, Jitter time.Duration // of Delay: uniformly between Delay-Jitter and Delay+Jitter
	Rate          int64         // of Throttle: bits a second, per connection and way
	Stop          bool          // of Kill: SIGSTOP, and SIGCONT when it is over, instead of SIGKILL
	Device        string        // of Iface

	// When. Times count from when the rule is applied.
	Start  Start
	After  time.Duration // until the first time
	For    time.Duration // how long each time; 0 is until Heal
	Every  time.Duration // from one time to the next; 0: there is one
	Spread time.Duration // of Every: uniformly between Every-Spread and Every+Spread
	Count  int           // how many times; 0: no limit, where there is Every
}

// forever says whether the rule stays in force once it is. That a process is killed is over at once.
func (r *Rule) forever() bool { return r.For == 0 && !r.dead() }

// Ends says whether the rule is over at some time by itself.
func (r Rule) Ends() bool { return !r.forever() && (r.Every == 0 || r.Count > 0) || r.dead() }

// dead says that a process is killed: once and for all.
func (r *Rule) dead() bool { return r.Action == Kill && !r.Stop }

// TakesPeer says whether the peer does not come back by itself: it is killed, or stopped without an end.
func (r Rule) TakesPeer() bool { return r.dead() || r.Action == Kill && r.forever() }

// Plan is rules that are given together.
type Plan []Rule
