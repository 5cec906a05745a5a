package tcp

// The life of an endpoint.
//
//	connecting ──connected──> up ──quiesce──> quiesced
//	    │                     │                  ^
//	    └──────broke──────────┴──> broken ──quiesce
//	                                        close, from anywhere ──> closed
type state uint8

const (
	connecting state = iota
	up
	broken   // the connection is gone, the sink was told
	quiesced // the engine gave it up; control frames are read while the connection lasts
	closed
	states
)

func (s state) String() string {
	return [...]string{"connecting", "up", "broken", "quiesced", "closed", "state(?)"}[min(s, states)]
}

type event uint8

const (
	evConnected event = iota
	evBroke
	evQuiesce
	evClose
	events
)

func (e event) String() string {
	return [...]string{"connected", "broke", "quiesce", "close", "event(?)"}[min(e, events)]
}

const never = states // an event that can't come in a state

// life is the whole table; testdata/life.txt shows it.
var life = [states][events]state{
	connecting: {evConnected: up, evBroke: broken, evQuiesce: quiesced, evClose: closed},
	up:         {evConnected: never, evBroke: broken, evQuiesce: quiesced, evClose: closed},
	broken:     {evConnected: never, evBroke: never, evQuiesce: quiesced, evClose: closed},
	quiesced:   {evConnected: never, evBroke: quiesced, evQuiesce: quiesced, evClose: closed},
	closed:     {evConnected: never, evBroke: never, evQuiesce: closed, evClose: closed},
}

// note is the only place that writes an endpoint's state.
func (ep *endpoint) note(e event) {
	next := life[ep.state][e]
	if next == never {
		panic("tcp: endpoint is " + ep.state.String() + ", can't be: " + e.String())
	}
	ep.state = next
}
