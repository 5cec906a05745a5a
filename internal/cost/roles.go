package cost

import "fmt"

// String is what a range holds for, "" if that makes no difference.
func (m Memory) String() string { return [...]string{"", "lent", "other"}[m] }

// Memories are those between which an operation makes a difference, in the order in which they are to be shown.
func (m *Model) Memories(op Op) []Memory {
	if op == Put || op == Get || op == Atomic || op == AtomicFetch {
		for i := range m.Lanes {
			if m.Lanes[i].Direct {
				return []Memory{Lent, Other}
			}
		}
	}
	return []Memory{Plain}
}

// Roles are what the lane i is for.
func (m *Model) Roles(i int) (roles []string) {
	if i < 0 {
		return nil
	}
	if i == m.orderLane() {
		roles = append(roles, "order")
	}
	if i == m.soonest(1) {
		roles = append(roles, "small operations")
	}
	var sum float64
	for k := range m.Lanes {
		sum += m.Lanes[k].Rate
	}
	if len(m.Lanes) > 1 {
		roles = append(roles, fmt.Sprintf("share %.0f %%", 100*m.Lanes[i].Rate/sum))
	}
	if m.Lanes[i].Direct {
		roles = append(roles, "direct copies")
	}
	return roles
}
