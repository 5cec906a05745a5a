package lint

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestArchitecturePage: ARCHITECTURE.md has each room that exists, in its table and at its rank.
func TestArchitecturePage(t *testing.T) {
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	ranks := map[int]string{}
	for _, row := range regexp.MustCompile(`(?m)^ ?(\d+)  (.+)$`).FindAllStringSubmatch(string(page), -1) {
		n, _ := strconv.Atoi(row[1])
		ranks[n] = row[2]
	}
	for _, p := range m.Packages {
		r, ok := roomOf(p.Dir)
		if !ok || r.kind == testOnly || strings.HasSuffix(r.dir, "/...") {
			continue
		}
		name := p.Dir[strings.LastIndex(p.Dir, "/")+1:]
		if p.Dir == "." {
			name = "braid"
		} else if !strings.Contains(string(page), "`"+p.Dir+"`") {
			t.Errorf("no row for %s in the table of rooms", p.Dir)
		}
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(ranks[r.rank]) {
			t.Errorf("%s is of rank %d, where the page has: %s", p.Dir, r.rank, ranks[r.rank])
		}
	}
}
