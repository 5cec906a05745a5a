package files

import (
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/openbraid/braid"
)

// Meter adds up what lanes carry, over all their lives. It is for the side that dials, which knows its paths.
type Meter struct {
	mu    sync.Mutex
	ep    *braid.Endpoint
	paths map[int]*LaneTotal
	of    map[string]int    // path of a life
	gone  map[int]uint64    // by path: bytes of lives that are over
	live  map[string]uint64 // by life
	lost  int
}

// LaneTotal is what one lane has carried.
type LaneTotal struct {
	Path  int
	Name  string // "local->remote", without ports
	State string // "up", "opening", "lost", "down"
	Bytes uint64 // of frames, posted
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
		if path, ok := m.of[e.Instance]; ok {
			m.gone[path] += e.Posted
			delete(m.live, e.Instance)
			delete(m.of, e.Instance)
		}
		m.mu.Unlock()
	case braid.HandedOver, braid.Suspended, braid.Resumed, braid.Failed:
	}
}

// look takes a look at the lanes.
func (m *Meter) look(lanes []braid.Lane) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.paths == nil {
		m.paths, m.of, m.gone, m.live = map[int]*LaneTotal{}, map[string]int{}, map[int]uint64{}, map[string]uint64{}
	}
	for _, p := range m.paths {
		p.State = "down"
	}
	for _, l := range lanes {
		p := m.paths[l.Path]
		if p == nil {
			p = &LaneTotal{Path: l.Path}
			m.paths[l.Path] = p
		}
		p.Name = hostOf(l.Local) + "->" + hostOf(l.Remote)
		if p.State != "up" {
			p.State = l.State
		}
		if l.State == "up" {
			m.of[l.Instance], m.live[l.Instance] = l.Path, l.PostedBytes
		}
	}
}

func hostOf(addr string) string {
	if h, _, err := net.SplitHostPort(addr); err == nil {
		return h
	}
	return addr
}

// Totals are the lanes now, by path, and how many were lost.
func (m *Meter) Totals() ([]LaneTotal, int) {
	m.mu.Lock()
	ep := m.ep
	m.mu.Unlock()
	if ep != nil {
		m.look(ep.Lanes())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []LaneTotal
	for _, p := range m.paths {
		t := *p
		t.Bytes = m.gone[p.Path]
		for life, n := range m.live {
			if m.of[life] == p.Path {
				t.Bytes += n
			}
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b LaneTotal) int {
		if a.Path != b.Path {
			return a.Path - b.Path
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list, m.lost
}
