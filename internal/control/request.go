package control

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/openbraid/braid/fault"
)

// Request is what is asked for.
type Request struct {
	Do   string `json:"do"` // "inspect" or "fault"
	Plan string `json:"plan,omitempty"`
}

// Reply is one line of an answer.
type Reply struct {
	Error string `json:"error,omitempty"`
	State any    `json:"state,omitempty"` // of inspect
	// Of fault: what has become of the rules so far. The last line says Over.
	Rules []Rule `json:"rules,omitempty"`
	Over  bool   `json:"over,omitempty"`
}

// Rule is what became of one.
type Rule struct {
	Rule    string `json:"rule"`
	InForce bool   `json:"in_force"`
	Times   int    `json:"times"`
	Hits    uint64 `json:"hits"`
	// Seconds that it was in force, of the times that are over.
	InForceS float64 `json:"in_force_s"`
	Error    string  `json:"error,omitempty"`
}

func ruleOf(s fault.Status) Rule {
	r := Rule{Rule: s.String(), InForce: s.InForce, Times: len(s.Strokes), Hits: s.Hits}
	for _, k := range s.Strokes {
		if k.End != 0 {
			r.InForceS += (k.End - k.At).Seconds()
		}
	}
	if s.Err != nil {
		r.Error = s.Err.Error()
	}
	return r
}

// Dir is where the sockets of a user's processes stand: a directory that only he can enter.
func Dir(uid int) string {
	run := fmt.Sprintf("/run/user/%d", uid)
	if st, err := os.Stat(run); err == nil && st.IsDir() {
		return filepath.Join(run, "braid")
	}
	return fmt.Sprintf("/tmp/braid-%d", uid)
}

// Path is the socket of a process in a directory. A process has one for each node that asked for one: the first is n 0.
func Path(dir string, pid, n int) string {
	if n == 0 {
		return filepath.Join(dir, fmt.Sprintf("%d.sock", pid))
	}
	return filepath.Join(dir, fmt.Sprintf("%d.%d.sock", pid, n))
}
