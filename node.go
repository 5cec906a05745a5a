package braid

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/openbraid/braid/internal/carriers"
	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/control"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/rail"
	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/topo"
)

// Node is one process's configuration, transports and memory. Its workers share the memory.
// It is safe for concurrent use.
//
// Source: ucp_context_h.
type Node struct {
	opts        Options
	set         *config.Set // what holds, and who said so
	cfg         config.Node // the same
	incarnation uint64
	mem         *memory.Table
	log         *slog.Logger

	mu      sync.Mutex
	workers []*Worker
	rails   rail.Known
	closed  bool
	control control.Desk
}

// Open makes a node.
//
// Errors: options and settings that can't be, each with its name and where it was said. Whether a rail is an address of this host shows when it is used.
// Source: ucp_init.
func Open(o Options) (*Node, error) {
	set, err := o.settle()
	if err != nil {
		return nil, fmt.Errorf("braid: %w", err)
	}
	cfg := set.Node()
	n := &Node{opts: o, set: set, cfg: cfg, log: o.Log, incarnation: secret.Random() | 1, mem: memory.NewTable(secret.Random)}
	n.opts.Faults = n.control.Prepare(cfg.Control != 0, o.Faults, o.Transports == nil, clock)
	if n.opts.Transports == nil {
		n.opts.Transports = carriers.All(cfg, n.opts.Faults)
	}
	if n.log == nil {
		n.log = slog.New(cfg.LogHandler())
	}
	if n.rails.Chosen, err = topo.Select(cfg.Rails); err != nil {
		return nil, fmt.Errorf("braid: %w", err)
	}
	for _, text := range set.Warnings() {
		n.log.Warn("braid: " + text)
	}
	if err := n.control.Open(cfg.Name, n.log); err != nil {
		return nil, err
	}
	return n, nil
}

// start is the zero of each worker's clock, one for the whole process.
var start = time.Now()

func clock() time.Duration { return time.Since(start) }

// Close closes the workers that are left. From inside a handler or a callback it returns before that is over: see Worker.Close.
//
// Source: ucp_cleanup.
func (n *Node) Close() (err error) {
	n.mu.Lock()
	ws := n.workers
	n.workers, n.closed = nil, true
	watcher := n.rails.Leave()
	n.mu.Unlock()
	n.control.Close()
	if watcher != nil {
		watcher.Close() // not under the lock, which it may wait for
	}
	for _, w := range ws {
		if e := w.Close(); e != nil && err == nil {
			err = e
		}
	}
	n.mem.Close()
	return err
}

var fallback struct {
	sync.Mutex
	w *Worker
}

// common is the worker of the package-level functions.
func common() (*Worker, error) {
	fallback.Lock()
	defer fallback.Unlock()
	if fallback.w == nil {
		n, err := Open(Options{})
		if err != nil {
			return nil, err
		}
		w, err := n.NewWorker()
		if err != nil {
			return nil, err
		}
		fallback.w = w
	}
	return fallback.w, nil
}

// Dial connects to a listener over a node with default options. See Worker.Dial.
func Dial(ctx context.Context, addr string, options ...DialOption) (*Endpoint, error) {
	w, err := common()
	if err != nil {
		return nil, err
	}
	return w.Dial(ctx, addr, options...)
}

// Listen listens on a node with default options. See Worker.Listen.
func Listen(addr string, options ...ListenOption) (*Listener, error) {
	w, err := common()
	if err != nil {
		return nil, err
	}
	return w.Listen(addr, options...)
}
