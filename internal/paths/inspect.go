package paths

import "github.com/openbraid/braid/internal/inspect"

// Inspect says what becomes of each path. The set may be nil.
func (s *Set) Inspect() (list []inspect.Path) {
	if s == nil {
		return nil
	}
	for _, p := range s.all {
		x := inspect.Path{Path: p.String(), State: "waits"}
		if p.busy {
			x.State = "has a lane, or is tried"
		}
		if p.gaveUp {
			x.State = "given up (redial-for)"
		}
		if at, ok := p.redial.Due(); ok {
			x.State, x.NextS = "waits to be dialed again", (at - s.g.Now()).Seconds()
		}
		if p.Reason != nil {
			x.Reason = p.Reason.Error()
		}
		list = append(list, x)
	}
	return list
}
