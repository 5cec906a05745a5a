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

// Unused are all, with why: as the plan says, or as the last attempt ended. The set may be nil.
func (s *Set) Unused() (list []inspect.Unused) {
	if s == nil {
		return nil
	}
	for _, c := range s.plan {
		if c.Chosen {
			continue
		}
		u := inspect.Unused{Rail: c.Rail, Path: c.Path.String(), Why: c.Reason}
		if c.Remote == "" {
			u.Path = ""
		}
		list = append(list, u)
	}
	for _, p := range s.all {
		switch {
		case p.gaveUp:
			list = append(list, inspect.Unused{Path: p.String(), Why: "given up (redial-for)"})
		case p.Reason != nil:
			list = append(list, inspect.Unused{Path: p.String(), Why: p.Reason.Error()})
		}
	}
	return list
}
