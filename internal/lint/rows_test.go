package lint

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// rows are what users of such libraries have met with peers that die, lanes that are lost, and waiting: each is a test, whose name begins with the row's.
const rows = "A1 A2 A3 A4 A6 A8 A10 A11 A13 A14 A18 A19 A20 A21 A23 B1 B2 B4 B7 B8 B10 B11 B12 B15 B16 B17 B19 " +
	"F1 F3 F6 F7 F8 F9 F11"

// TestRows: no row is without its test. With -v it says which has which.
func TestRows(t *testing.T) {
	m, err := Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(?m)^func (Test([A-H][0-9]+)_\w+)\(`)
	has := map[string][]string{}
	for _, p := range m.Packages {
		for _, f := range p.Files {
			text, err := os.ReadFile("../../" + f.Name)
			if err != nil {
				t.Fatal(err)
			}
			for _, fn := range name.FindAllStringSubmatch(string(text), -1) {
				has[fn[2]] = append(has[fn[2]], p.Dir+": "+fn[1])
			}
		}
	}
	for _, row := range strings.Fields(rows) {
		if has[row] == nil {
			t.Errorf("%s has no test", row)
		}
		t.Logf("%-3s %s", row, strings.Join(has[row], ", "))
	}
}
