package tcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/golden"
)

// TestLife: every state with every event.
func TestLife(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s", "")
	for e := range events {
		fmt.Fprintf(&b, "%-12s", e)
	}
	b.WriteString("\n")
	for s := range states {
		fmt.Fprintf(&b, "%-12s", s)
		for e := range events {
			next := "-"
			if life[s][e] != never {
				next = life[s][e].String()
			}
			fmt.Fprintf(&b, "%-12s", next)
		}
		b.WriteString("\n")
	}
	got := strings.ReplaceAll(b.String(), " \n", "\n")
	for strings.Contains(got, " \n") {
		got = strings.ReplaceAll(got, " \n", "\n")
	}
	golden.Same(t, "testdata/life.txt", got)
}

func TestLifeNever(t *testing.T) {
	defer func() {
		if r, _ := recover().(string); !strings.Contains(r, "endpoint is up, can't be: connected") {
			t.Errorf("panic %q", r)
		}
	}()
	ep := &endpoint{state: up}
	ep.note(evConnected)
}
