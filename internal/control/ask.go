package control

import (
	"sync/atomic"
	"time"

	"github.com/openbraid/braid/internal/inspect"
)

// askedWithin is how long the owner of a worker may take to look at it.
const askedWithin = time.Second

// Asked is a question to the one goroutine that may look at something. The zero value is none.
type Asked struct{ question atomic.Pointer[func()] }

// ask has the owner look, in his next turn. If none comes for a second, nothing is known.
func (a *Asked) ask(wake func(), look func() inspect.Worker) inspect.Worker {
	answer := make(chan inspect.Worker, 1)
	question := func() { answer <- look() }
	a.question.Store(&question)
	wake()
	late := time.NewTimer(askedWithin)
	defer late.Stop()
	select {
	case w := <-answer:
		w.Mode = "owned"
		return w
	case <-late.C:
		a.question.CompareAndSwap(&question, nil)
		return inspect.Worker{Mode: "owned", Silent: true, Endpoints: []inspect.Endpoint{}}
	}
}

// Answer answers if somebody asked: for the owner, in a turn. It costs a load.
func (a *Asked) Answer() {
	if q := a.question.Load(); q != nil && a.question.CompareAndSwap(q, nil) {
		(*q)()
	}
}
