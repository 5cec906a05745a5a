package config

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const (
	page  = "../../docs/settings.md"
	begin = "<!-- The table is written by `BRAID_UPDATE=1 go test ./internal/config`. -->\n"
	end   = "<!-- End of the table. -->\n"
)

// TestPage: docs/settings.md shows the table as it is.
func TestPage(t *testing.T) {
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(b), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	want := head + begin + table() + end + tail
	if string(b) == want {
		return
	}
	if os.Getenv("BRAID_UPDATE") == "" {
		t.Fatalf("%s is not what the table of keys says: run BRAID_UPDATE=1 go test ./internal/config, and read the diff", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestPageShowsAFile: the file that the page shows is one.
func TestPageShowsAFile(t *testing.T) {
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "## A file\n\n```\n")
	text, _, ok := strings.Cut(text, "```")
	var s Set
	if err := s.File("page", []byte(text)); err != nil || !ok || s.Node().Name != "rack 3 # left" || len(s.Node().Rails) != 2 {
		t.Errorf("%v: %+v", err, s.Node())
	}
}

func table() string {
	var b strings.Builder
	b.WriteString("| key | default | value | what it is | variable | in Go |\n|---|---|---|---|---|---|\n")
	for i := range Keys {
		k := &Keys[i]
		initial, option := k.Initial(), "–"
		grammar, _, _ := strings.Cut(k.Grammar(), ", as ") // examples are in the text above
		if k.Auto != "" {
			initial += ": " + k.Auto
		}
		if k.Option != "" {
			option = "`Options." + k.Option + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | `%s` | %s |\n", k.Name, initial, grammar, k.Text, k.Variable(), option)
	}
	return b.String()
}
