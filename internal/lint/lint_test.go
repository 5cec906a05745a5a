package lint

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestModule holds the module itself to the rules.
func TestModule(t *testing.T) {
	m, err := Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Check(m) {
		t.Error(f)
	}
	// A lint that looks at nothing is always content.
	seen := 0
	for _, p := range m.Packages {
		if p.Dir == "transport" || p.Dir == "internal/lint" {
			seen++
		}
	}
	if seen != 2 {
		t.Errorf("found %d of the packages transport and internal/lint in %s", seen, m.Path)
	}
}

// TestRooms holds the table of rooms to its own form.
func TestRooms(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rooms {
		if seen[r.dir] {
			t.Errorf("%s has two rows", r.dir)
		}
		seen[r.dir] = true
		if got, _ := roomOf(strings.TrimSuffix(r.dir, "/...")); got != r {
			t.Errorf("%s is found as the row %s", r.dir, got.dir)
		}
	}
	for _, dir := range []string{"internal", "internal/wire/x", "cmdx", "tests", "rdma/soft/other"} {
		if r, ok := roomOf(dir); ok {
			t.Errorf("%s is found as the row %s; it has none", dir, r.dir)
		}
	}
}

// tree is a module in memory: file name to text.
type tree map[string]string

func (files tree) fs() fstest.MapFS {
	root := fstest.MapFS{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return root
}

// check lints a tree and returns "file:line: rule" of each finding. A folder without a
// doc.go gets a proper one, so that a case shows only what it is about.
func (files tree) check(t *testing.T) []string {
	t.Helper()
	root := files.fs()
	root["go.mod"] = &fstest.MapFile{Data: []byte("module m.test/m\n")}
	for name, text := range files {
		dir := name[:strings.LastIndex(name, "/")+1]
		first, _, _ := strings.Cut(text, "\n")
		pkg, isGo := strings.CutPrefix(first, "package ")
		pkg = strings.TrimSuffix(pkg, "_test")
		if _, has := root[dir+"doc.go"]; !has && isGo {
			root[dir+"doc.go"] = &fstest.MapFile{Data: []byte("// " + opening(pkg) + "is here.\npackage " + pkg + "\n")}
		}
	}
	m, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range Check(m) {
		out = append(out, strings.Join(strings.SplitN(f.String(), ": ", 3)[:2], ": "))
	}
	return out
}

// example is a tree and what is found in it; nothing means that it is fine.
type example struct {
	name  string
	files tree
	want  []string
}

func run(t *testing.T, examples []example) {
	t.Helper()
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			if got := e.files.check(t); !slices.Equal(got, e.want) {
				t.Errorf("found\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(e.want, "\n  "))
			}
		})
	}
}

// importing makes a file that imports the given paths.
func importing(pkg string, paths ...string) string {
	text := "package " + pkg + "\n"
	for _, p := range paths {
		text += "import _ \"" + p + "\"\n"
	}
	return text
}
