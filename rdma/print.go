package rdma

import (
	"fmt"
	"strconv"
	"strings"
)

// set prints the names of the bits of a set, in their order.
func set(bits uint8, names ...string) string {
	var on []string
	for i := range 8 {
		if bits&(1<<i) == 0 {
			continue
		}
		if i < len(names) {
			on = append(on, names[i])
		} else {
			on = append(on, fmt.Sprintf("%#x", 1<<i))
		}
	}
	if on == nil {
		return "none"
	}
	return strings.Join(on, "|")
}

func (a Access) String() string {
	return set(uint8(a), "LOCAL_WRITE", "REMOTE_WRITE", "REMOTE_READ", "REMOTE_ATOMIC", "MW_BIND")
}

func (f SendFlags) String() string { return set(uint8(f), "SIGNALED", "FENCE", "SOLICITED") }

func (f WCFlags) String() string { return set(uint8(f), "IMM", "INV", "GRH") }

// String is its bytes: 4096.
func (m MTU) String() string { return strconv.Itoa(m.Bytes()) }

// String says what happened, and to which queue pair or address.
func (e Event) String() string {
	switch {
	case e.QP != nil:
		return fmt.Sprintf("%v: queue pair %d", e.Type, e.QP.Num())
	case e.Type == EventNeighbour:
		return fmt.Sprintf("%v: %v", e.Type, e.GID)
	}
	return e.Type.String()
}
