package control

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid/internal/inspect"
)

// askedWithin is how long it may take until somebody may look at a worker.
const askedWithin = time.Second

// Asked are questions to the one goroutine that may look at something. The zero value is none.
type Asked struct {
	some atomic.Bool // all that a turn asks for while nobody does

	mu        sync.Mutex
	questions []*question
}

type question struct {
	look   func() inspect.Worker
	answer chan inspect.Worker
}

// ask has the owner look, in his next turn. If none comes in time, nothing is known: false.
func (a *Asked) ask(wake func(), look func() inspect.Worker) (w inspect.Worker, known bool) {
	q := &question{look, make(chan inspect.Worker, 1)}
	a.mu.Lock()
	a.questions = append(a.questions, q)
	a.some.Store(true)
	a.mu.Unlock()
	wake()
	late := time.NewTimer(askedWithin)
	defer late.Stop()
	select {
	case w = <-q.answer:
		return w, true
	case <-late.C:
		a.mu.Lock()
		a.questions = slices.DeleteFunc(a.questions, func(o *question) bool { return o == q })
		a.mu.Unlock()
		return w, false
	}
}

// Answer answers all who asked: for the owner, in a turn. It costs a load.
func (a *Asked) Answer() {
	if !a.some.Load() {
		return
	}
	a.mu.Lock()
	open := a.questions
	a.questions = nil
	a.some.Store(false)
	a.mu.Unlock()
	for _, q := range open {
		q.answer <- q.look()
	}
}
