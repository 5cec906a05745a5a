package braid

import (
	"net/netip"
	"sync"

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

// rails is what a node knows of them. A goroutine of the node learns of changes, leaves the new table with each worker and wakes it; it touches nothing else.
type rails struct {
	once    sync.Once
	chosen  topo.Selection
	table   []topo.Rail
	watcher *rail.Watcher
}

// view is what is known now. Under the node's lock.
func (n *Node) view() topo.View {
	n.rails.once.Do(n.watchRails)
	return topo.View{Rails: n.rails.table, Chosen: n.rails.chosen, Route: rail.Route}
}

// watchRails begins to watch. Without a table nothing is known of rails: the system picks, and addresses that were asked for are bound.
func (n *Node) watchRails() {
	r := &n.rails
	var err error
	if r.watcher, r.table, err = rail.Watch(n.railsChanged); err != nil {
		n.log.Warn("changes of this host's addresses will not be noticed", "reason", err)
		if r.table, err = rail.Read(); err != nil {
			n.log.Warn("this host's addresses are not known: the system picks where lanes run", "reason", err)
		}
	}
	for _, e := range (topo.View{Rails: r.table, Chosen: r.chosen}).Unmatched() {
		n.log.Warn("a rail that was asked for is not there", "rail", e)
	}
}

// railsChanged is called by the watcher.
func (n *Node) railsChanged(table []topo.Rail) {
	n.mu.Lock()
	n.rails.table = table
	defer n.mu.Unlock()
	for _, w := range n.workers {
		w.news.Store(&table)
		w.Wake()
	}
}

// hear takes the newest table, if there is one. Under the worker's lock.
func (w *Worker) hear() {
	if w.news.Load() != nil {
		w.eng.RailsChanged(*w.news.Swap(nil))
	}
}
