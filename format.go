package braid

import "fmt"

// What these are is said in a few words, whatever the verb: fmt would look into everything behind them, while others work on it, and show keys.

// Format says what it is, for people.
func (n *Node) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "node %q", n.cfg.Name) }

// Format says what it is, for people.
func (w *Worker) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "worker of %v", w.n) }

// Format says what it is, for people.
func (l *Listener) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "listener on %s", l.addr) }

// Format says what it is, for people.
func (ep *Endpoint) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "endpoint with %s", ep.Addr()) }

// Format says what it is, for people.
func (m *Memory) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "memory of %d bytes", len(m.Bytes())) }
