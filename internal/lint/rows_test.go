package lint

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// rows are what users of such libraries have met: peers that die, lanes that are lost, connecting, choosing, waiting, threads, order and speed. Each is a test,
// whose name begins with the row's.
const rows = "A1 A2 A3 A4 A6 A8 A10 A11 A13 A14 A18 A19 A20 A21 A23 B1 B2 B4 B7 B8 B10 B11 B12 B15 B16 B17 B19 " +
	"C1 C2 C4 C6 C7 C8 C9 C10 C12 C15 C17 C18 D1 D3 D4 D5 D6 D9 D10 D11 D12 D13 D16 D18 D19 " +
	"E1 E3 E4 E5 E7 E8 E10 E12 E14 E15 E16 E18 E21 E22 " +
	"F1 F3 F6 F7 F8 F9 F10 F11 F13 F15 F18 F19 F21 F22 G3 G4 G5 G7 G8 G10 G11 G13 H4 H7"

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

// TestH7_NoCgo: nothing but the adapters of libibverbs, under their build tag, and programs that are measured beside ours, has C in it.
func TestH7_NoCgo(t *testing.T) {
	m, err := Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Packages {
		for _, f := range p.Files {
			for _, imp := range f.Imports() {
				if imp.Path == "C" && p.Dir != "rdma/verbs" {
					t.Errorf("%s imports C", f.Name)
				}
			}
		}
	}
}
