package files

import (
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/openbraid/braid"
)

// Meter adds up what lanes carry, over all their lives. Lanes between the same two addresses count as one: ports, and the numbers of paths, change
// from life to life.
type Meter struct {
	mu   sync.Mutex
	ep   *braid.Endpoint
	ways map[string]*LaneTotal // by name
	life map[string]life       // by instance, those that are over, too: news of them may come late
	lost int
}

// LaneTotal is what went between two addresses.
type LaneTotal struct {
	Name  string // "local->remote", without ports
	State string // "up" if a lane is, else "opening", "lost" or "down"
	Bytes uint64 // of frames, posted
}

// life is one life of a lane. Its bytes are in its way's total when it is over.
type life struct {
	way   *LaneTotal
	bytes uint64
	over  bool
}

// Attach tells the meter its endpoint.
func (m *Meter) Attach(ep *braid.Endpoint) {
	m.mu.Lock()
	m.ep = ep
	m.mu.Unlock()
}

// Note takes an event of the endpoint.
func (m *Meter) Note(e braid.Event) {
	switch e.Kind {
	case braid.LaneUp:
		m.look(e.Endpoint.Lanes()) // this life may be short
	case braid.LaneDown:
		m.mu.Lock()
		m.lost++
		if l, ok := m.life[e.Instance]; ok && !l.over {
			l.way.Bytes += e.Posted
			m.life[e.Instance] = life{way: l.way, over: true}
		}
		m.mu.Unlock()
	case braid.HandedOver, braid.Suspended, braid.Resumed, braid.Failed, braid.TurnedAway, braid.LaneGivenUp:
	}
}

// look takes a look at the lanes.
func (m *Meter) look(lanes []braid.Lane) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ways == nil {
		m.ways, m.life = map[string]*LaneTotal{}, map[string]life{}
	}
	for _, w := range m.ways {
		w.State = "down"
	}
	for _, l := range lanes {
		name := hostOf(l.Local) + "->" + hostOf(l.Remote)
		w := m.ways[name]
		if w == nil {
			w = &LaneTotal{Name: name}
			m.ways[name] = w
		}
		if w.State != "up" {
			w.State = l.State
		}
		if l.State == "up" && !m.life[l.Instance].over {
			m.life[l.Instance] = life{way: w, bytes: l.PostedBytes}
		}
	}
}

func hostOf(addr string) string {
	if h, _, err := net.SplitHostPort(addr); err == nil {
		return h
	}
	return addr
}

// Totals are the ways by name, and how many lanes were lost.
func (m *Meter) Totals() (list []LaneTotal, lost int) {
	m.mu.Lock()
	ep := m.ep
	m.mu.Unlock()
	if ep != nil {
		m.look(ep.Lanes())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.ways {
		t := *w
		for _, l := range m.life {
			if l.way == w {
				t.Bytes += l.bytes
			}
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b LaneTotal) int { return strings.Compare(a.Name, b.Name) })
	return list, m.lost
}
