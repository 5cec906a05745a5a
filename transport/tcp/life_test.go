package tcp

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestLife compares the whole table with its picture; BRAID_UPDATE=1 draws it anew.
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
	const file = "testdata/life.txt"
	if os.Getenv("BRAID_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got {
		t.Errorf("the table is\n%s\n%s says\n%s(%v)", got, file, want, err)
	}
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
