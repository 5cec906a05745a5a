package health

// Fault says whose fault the loss of a lane looks like.
type Fault uint8

const (
	Path       Fault = iota // something on the way
	LocalPort               // this host's
	RemotePort              // the peer's
	Peer                    // the peer's process, or all of its host
)

func (f Fault) String() string {
	return [...]string{"path", "local port", "remote port", "peer"}[f]
}

// Clues are what is known besides, when a lane is lost.
type Clues struct {
	Down  bool   // this host's port is down, or gone: the system says so
	Left  int    // lanes of the endpoint that are up
	Here  Others // lanes to other peers, from the same local address
	There Others // other lanes of the endpoint, to the same remote address
}

// Others are lanes that have one end in common with the lost one.
type Others struct{ Up, Lost int }

// Note counts one of them.
func (o *Others) Note(up bool) {
	if up {
		o.Up++
	} else {
		o.Lost++
	}
}

// Forget is the opposite of Note.
func (o *Others) Forget(up bool) {
	if up {
		o.Up--
	} else {
		o.Lost--
	}
}

// dead says that there are some, and none works.
func (o Others) dead() bool { return o.Lost > 0 && o.Up == 0 }

// Blame judges by what the lane has in common with others: where all are lost that share an end, it is that end. A guess: one cable to one
// peer looks the same whichever end of it is bad.
func (c Clues) Blame() Fault {
	switch {
	case c.Down, c.Here.dead():
		return LocalPort
	case c.Left == 0:
		return Peer
	case c.There.dead():
		return RemotePort
	}
	return Path
}
