package control

import (
	"fmt"
	"log/slog"
	"slices"
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
	Mu    sync.Locker
	Asked *Asked
	Wake  func()
	Look  func() inspect.Worker
}

func (w *Worker) look() inspect.Worker {
	if w.Owned {
		return w.Asked.ask(w.Wake, w.Look)
	}
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return w.Look()
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

// process is the state of everything.
func (d *Desk) process(name string) *inspect.Process {
	p := inspect.New(name, d.now())
	for _, w := range d.all() {
		p.Workers = append(p.Workers, w.look())
	}
	return p
}
