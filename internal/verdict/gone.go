package verdict

import "github.com/openbraid/braid/fault"

// gone is how long it took until the peer's death was noticed.
func (j *judge) gone() {
	if j.killed == 0 {
		return
	}
	after := func(kind string) float64 {
		if e := j.find(kind, func(e *Event) bool { return e.At >= j.killed }); e != nil {
			return ms(e.At - j.killed)
		}
		return -1
	}
	j.rep.Gone = &Gone{NoticedMS: after(LaneDown), FailedMS: after(failed)}
}

// unplugged finds out what became of the lanes of an interface that was taken down. One that was idle may not have noticed.
func (j *judge) unplugged(s *fault.Status) {
	for _, k := range s.Strokes {
		for i := range j.Events {
			up := &j.Events[i]
			if up.Event != LaneUp || up.At > k.At || up.Device != s.Device || s.Hits == 0 {
				continue
			}
			down := j.find(LaneDown, func(e *Event) bool { return e.Instance == up.Instance })
			if down != nil && down.At >= k.At && (k.End == 0 || down.At <= k.End+slack) {
				j.cut(s, k, fault.Hit{Slot: up.Lane, Local: up.Local, Remote: up.Remote}, up)
			}
		}
	}
}

// kindOf is how a lane was cut.
func kindOf(s *fault.Status) string {
	if s.Action == fault.Iface {
		return s.Action.String()
	}
	return s.Kind.String()
}
