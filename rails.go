package braid

import (
	"net/netip"

	"github.com/openbraid/braid/internal/rail"
	"github.com/openbraid/braid/internal/topo"
)

// Rail is an address of an interface of this host, and whether lanes are built on it.
type Rail struct {
	Interface string
	Addr      netip.Addr   // with its zone if it is link-local
	Network   netip.Prefix // that the address is in
	Speed     int64        // of the interface, bit/s; 0: not known
	Usable    bool
	Reason    string // why not, or where only
}

// LocalRails are the rails of this host, as a node with these Options.Rails sees them at this moment: usable ones first, in the order in which lanes
// are built on them. An entry that nothing on this host matches is a row of its own, without an address.
//
// Errors: ErrRails: an entry that can't be read. The system's, if it does not say what interfaces there are.
// Source: ucx_info -d.
func LocalRails(entries ...string) ([]Rail, error) {
	chosen, err := topo.Select(entries)
	if err != nil {
		return nil, opError("rails", "", err)
	}
	table, err := rail.Read()
	if err != nil {
		return nil, opError("rails", "", err)
	}
	return railsOf(topo.View{Rails: table, Chosen: chosen}), nil
}

func railsOf(v topo.View) (rails []Rail) {
	for _, c := range topo.Usable(v) {
		r := Rail{Interface: c.Name, Addr: c.Addr, Speed: int64(c.Speed) * 1e6, Usable: c.Reason == "", Reason: c.Reason}
		r.Network, _ = c.Addr.WithZone("").Prefix(c.Bits)
		if r.Usable && c.Traits&topo.Loopback != 0 {
			r.Reason = "towards this host only"
		}
		rails = append(rails, r)
	}
	for _, e := range v.Unmatched() {
		rails = append(rails, Rail{Interface: e, Reason: "nothing on this host matches it"})
	}
	return rails
}

// Rails are the rails of this host as the node knows them, in the form of LocalRails.
func (n *Node) Rails() []Rail {
	n.mu.Lock()
	defer n.mu.Unlock()
	return railsOf(n.view())
}

// view is what is known now. A goroutine learns of changes, leaves the new table with each worker and wakes it; it touches nothing else. Under the node's lock.
func (n *Node) view() topo.View { return n.rails.View(n.log, n.railsChanged) }

func (n *Node) railsChanged(table []topo.Rail) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rails.Learn(table)
	for _, w := range n.workers {
		w.news.Store(&table)
		w.Wake()
	}
}

// hear takes the newest table, if there is one, and answers who asked. Under the worker's lock.
func (w *Worker) hear() {
	w.asked.Answer()
	if w.news.Load() != nil {
		w.eng.RailsChanged(*w.news.Swap(nil))
	}
}
