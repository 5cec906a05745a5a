package soft

import "fmt"

// What these are is said in a few words, whatever the verb: fmt would print everything behind them, rings and keys.

// Format says what it is, for people.
func (d *Device) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "RDMA device %s at %v", d.cfg.Name, d.Addr())
}
func (q *queuePair) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "queue pair %d in %v", q.num, q.state)
}
func (c *cq) Format(f fmt.State, _ rune)     { fmt.Fprintf(f, "completion queue of %d", len(c.ring)) }
func (p *pd) Format(f fmt.State, _ rune)     { fmt.Fprintf(f, "protection domain of %v", p.d) }
func (r *region) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "memory region of %d bytes", len(r.buf)) }
func (w *window) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "memory window of type %d", w.typ) }
func (h *handle) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "address handle to %v", h.route.To) }
