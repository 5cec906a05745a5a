package control

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/fault/drive"
	"github.com/openbraid/braid/internal/inspect"
)

// Desk is a node's side of its socket: what there is to look at, and what breaks things. The zero value is of a node that was not asked for one.
type Desk struct {
	on     bool
	now    func() time.Duration
	faults *fault.Injector
	server *Server

	mu      sync.Mutex
	workers []*Worker
}

// Worker is what there is to look at: under its lock, or by its owner.
type Worker struct {
	Owned bool
	Mu    *sync.Mutex
	Asked *Asked
	Wake  func()
	Look  func() inspect.Worker
}

// look takes no longer than askedWithin, whatever the worker does: it is looked at because it may be stuck.
func (w *Worker) look() inspect.Worker {
	mode, do := "shared", w.lookLocked
	if w.Owned {
		mode, do = "owned", func() (inspect.Worker, bool) { return w.Asked.ask(w.Wake, w.Look) }
	}
	d, known := do()
	if !known {
		d = inspect.Worker{Silent: true, Endpoints: []inspect.Endpoint{}}
	}
	d.Mode = mode
	return d
}

// tryEvery is how often the lock of a Shared worker is tried: who makes its progress lets go of it after each turn.
const tryEvery = 100 * time.Microsecond

func (w *Worker) lookLocked() (d inspect.Worker, known bool) {
	for end := time.Now().Add(askedWithin); !w.Mu.TryLock(); time.Sleep(tryEvery) {
		if time.Now().After(end) {
			return d, false
		}
	}
	defer w.Mu.Unlock()
	return w.Look(), true
}

// Prepare says whether a socket was asked for. It returns what connections are to be made through: what was given, or one that is made where there is a place for it.
func (d *Desk) Prepare(on bool, given *fault.Injector, place bool, now func() time.Duration) *fault.Injector {
	if d.on, d.now = on, now; !on {
		return given
	}
	if given == nil && place {
		given = fault.New(now)
		given.Wake = d.wake
	}
	if given != nil && given.Outside == nil {
		given.Outside = new(drive.Hands).Do
	}
	d.faults = given
	return given
}

// Open opens the socket, if one was asked for.
func (d *Desk) Open(name string, log *slog.Logger) (err error) {
	if !d.on {
		return nil
	}
	d.server, err = Listen("", Handler{Inspect: func() any { return d.process(name) }, Faults: d.faults})
	if err != nil {
		return fmt.Errorf("braid: %w", err)
	}
	log.Info("control socket", "path", d.server.Path())
	return nil
}

// Add adds a worker.
func (d *Desk) Add(w *Worker) {
	if d.on {
		d.mu.Lock()
		d.workers = append(d.workers, w)
		d.mu.Unlock()
	}
}

// Remove takes the worker out that answers there.
func (d *Desk) Remove(a *Asked) {
	d.mu.Lock()
	d.workers = slices.DeleteFunc(d.workers, func(w *Worker) bool { return w.Asked == a })
	d.mu.Unlock()
}

// Close closes the socket, and waits for who is being served: without a lock that he may wait for.
func (d *Desk) Close() {
	if d.server != nil {
		_ = d.server.Close()
	}
}

func (d *Desk) all() []*Worker {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.workers)
}

// wake is for what faults held back.
func (d *Desk) wake() {
	for _, w := range d.all() {
		w.Wake()
	}
}

// process is the state of everything. All workers are asked at the same time, so that those that don't answer cost one wait.
func (d *Desk) process(name string) *inspect.Process {
	p, workers := inspect.New(name, d.now()), d.all()
	p.Workers = make([]inspect.Worker, len(workers))
	var asked sync.WaitGroup
	for i, w := range workers {
		asked.Go(func() { p.Workers[i] = w.look() })
	}
	asked.Wait()
	for i := range p.Workers {
		d.slots(&p.Workers[i])
	}
	return p
}

// slots says which lanes faults mean by lane=N.
func (d *Desk) slots(w *inspect.Worker) {
	if d.faults == nil {
		return
	}
	for _, e := range w.Endpoints {
		for i := range e.Lanes {
			local, remote, _ := strings.Cut(e.Lanes[i].Name, "->")
			e.Lanes[i].Slot, _, _ = d.faults.Where(local, remote)
		}
	}
}
