package failover

import (
	"fmt"
	"strings"

	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/wire"
)

// Chosen are the lanes that a user names, without those on which nothing can be: they are being opened. Lanes that are gone stay. Nil, for all, stays nil.
//
// Errors: ErrNoLane: a name that no instance has, or had.
func (m *Machine) Chosen(names []string) (chosen []string, err error) {
	if names != nil {
		chosen = []string{}
	}
	for _, name := range names {
		id, ok := wire.ParseInstance(name)
		if !ok || !m.named(id) {
			return nil, fmt.Errorf("%w: %q; there are: %s", outcome.ErrNoLane, name, m.names())
		}
		if m.State(id) != Opening {
			chosen = append(chosen, name)
		}
	}
	return chosen, nil
}

// named says whether an instance was ever begun, as far as is known here.
func (m *Machine) named(id wire.Instance) bool {
	if id.Opener == m.side {
		return id.N <= m.next
	}
	return id.N <= m.seen.high
}

// names are the instances that are up, for people.
func (m *Machine) names() string {
	var names []string
	for _, id := range m.Up() {
		names = append(names, id.String())
	}
	if names == nil {
		return "none that is up"
	}
	return strings.Join(names, ", ")
}
