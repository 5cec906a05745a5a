package rail

import (
	"log/slog"
	"sync"

	"github.com/openbraid/braid/internal/topo"
)

// Known is what a node knows of this host's rails: the table, from when it is first asked for, kept current. Calls but Stop are under one lock.
type Known struct {
	Chosen  topo.Selection
	once    sync.Once
	table   []topo.Rail
	watcher *Watcher
}

// View is what is known now. The first call begins to watch: from then on changed is told of each new table, by a goroutine of the watcher, and hands it
// to Learn. Without a table nothing is known of rails: the system picks, and addresses that were asked for are bound.
func (k *Known) View(log *slog.Logger, changed func([]topo.Rail)) topo.View {
	k.once.Do(func() { k.watch(log, changed) })
	return topo.View{Rails: k.table, Chosen: k.Chosen, Route: Route}
}

func (k *Known) watch(log *slog.Logger, changed func([]topo.Rail)) {
	var err error
	if k.watcher, k.table, err = Watch(changed); err != nil {
		log.Warn("changes of this host's addresses will not be noticed", "reason", err)
		if k.table, err = Read(); err != nil {
			log.Warn("this host's addresses are not known: the system picks where lanes run", "reason", err)
		}
	}
	for _, e := range (topo.View{Rails: k.table, Chosen: k.Chosen}).Unmatched() {
		log.Warn("a rail that was asked for is not there", "rail", e)
	}
}

// Learn takes a new table.
func (k *Known) Learn(table []topo.Rail) { k.table = table }

// Leave takes the watcher out, nil if there is none: to be closed without the lock, which it may wait for.
func (k *Known) Leave() *Watcher {
	w := k.watcher
	k.watcher = nil
	return w
}
