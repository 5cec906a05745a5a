package window

import "github.com/openbraid/braid/internal/fsm"

// Life is how the queue pair is.
//
//	idle ──began──> proving ──proved──> ready
//	                 │  ^                 │
//	              failed └──again── resting <──failed
//	                 └───────────────^
//	                        gave up, from anywhere ──> plain
type Life uint8

// The states.
const (
	Idle    Life = iota // nobody has asked
	Proving             // the probe is under way
	Ready               // windows are bound
	Resting             // it failed, and is tried again later
	Plain               // windows can't be had: plain keys for ever
)

func (l Life) String() string {
	return [...]string{"idle", "proving", "ready", "resting", "plain", "life(?)"}[min(l, Plain+1)]
}

type event uint8

const (
	evBegan event = iota
	evProved
	evFailed
	evAgain
	evGaveUp
)

func (e event) String() string {
	return [...]string{"began", "proved", "failed", "again", "gave up", "event(?)"}[min(e, evGaveUp+1)]
}

type arrow = fsm.Row[Life, event]

// life is the whole table; testdata/life.txt shows it.
var life = fsm.New(Plain, evGaveUp,
	arrow{From: Idle, On: evBegan, To: Proving}, arrow{From: Idle, On: evGaveUp, To: Plain},
	arrow{From: Proving, On: evProved, To: Ready}, arrow{From: Proving, On: evFailed, To: Resting}, arrow{From: Proving, On: evGaveUp, To: Plain},
	arrow{From: Ready, On: evFailed, To: Resting}, arrow{From: Ready, On: evGaveUp, To: Plain},
	arrow{From: Resting, On: evAgain, To: Proving}, arrow{From: Resting, On: evGaveUp, To: Plain},
)

// note is the only place that writes the state.
func (b *Binder) note(e event) {
	if !life.Note(&b.life, e) {
		panic("window: the queue pair is " + b.life.String() + ", can't be: " + e.String())
	}
}
