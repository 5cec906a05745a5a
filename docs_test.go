package braid_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	mdLink = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	// goName is how pages name code: `path/file.go` or `file.go: Name, Name`.
	goName = regexp.MustCompile("`([a-z_/]+\\.go)(?:: ([^`]+))?`")
)

// pages are the texts of this module that are for people.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".md") {
			var b []byte
			b, err = os.ReadFile(path)
			found[path] = string(b)
		}
		return err
	})
	if err != nil || found["README.md"] == "" {
		t.Fatalf("no README.md, or: %v", err)
	}
	return found
}

// TestLinks: what the pages link to is there.
func TestLinks(t *testing.T) {
	for path, text := range pages(t) {
		for _, m := range mdLink.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
			}
		}
	}
}

// TestNamesInPages: files and functions that the pages name are there, in some folder of that name.
func TestNamesInPages(t *testing.T) {
	files := map[string][]string{} // by base name, their paths
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") {
			files[filepath.Base(path)] = append(files[filepath.Base(path)], path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range pages(t) {
		for _, m := range goName.FindAllStringSubmatch(text, -1) {
			src := sources(t, files[filepath.Base(m[1])], m[1])
			if src == "" {
				t.Errorf("%s names %s, which is nowhere", path, m[1])
			}
			for _, name := range strings.Split(m[2], ", ") {
				if name = name[strings.LastIndex(name, ".")+1:]; name != "" && !regexp.MustCompile(`(?m)^func .*\b`+name+`\b`).MatchString(src) {
					t.Errorf("%s names %s in %s, where it isn't", path, name, m[1])
				}
			}
		}
	}
}

// sources joins the files whose path ends with what a page says.
func sources(t *testing.T, paths []string, said string) string {
	t.Helper()
	var b strings.Builder
	for _, p := range paths {
		if p == said || strings.HasSuffix(p, "/"+said) {
			src, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(src)
		}
	}
	return b.String()
}

// programs are the blocks of Go in the README.
func programs(t *testing.T) (list []string) {
	t.Helper()
	for _, part := range strings.Split(pages(t)["README.md"], "```go\n")[1:] {
		program, _, _ := strings.Cut(part, "```")
		list = append(list, program)
	}
	if len(list) != 2 {
		t.Fatalf("README.md has %d programs, want 2", len(list))
	}
	return list
}

// TestReadmeIsTheProgram: the README's first program stands in example_readme_test.go as it is.
func TestReadmeIsTheProgram(t *testing.T) {
	example, err := os.ReadFile("example_readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	program := programs(t)[0]
	if !strings.Contains(string(example), "\n"+program) {
		t.Errorf("README.md shows a program that example_readme_test.go doesn't run:\n%s", program)
	}
	if n := strings.Count(program, "\n"); n > 21 {
		t.Errorf("%d lines: who reads it wants to see it at once", n)
	}
}

// TestReadmeIsTheExample: each line of the README's second program stands in example_test.go, but for its checks of errors.
func TestReadmeIsTheExample(t *testing.T) {
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	program := programs(t)[1]
	have := strings.Join(strings.Fields(string(example)), " ")
	for _, line := range strings.Split(program, "\n") {
		line, _, _ = strings.Cut(line, "  //")
		line = strings.TrimSpace(line)
		if call, isCheck := strings.CutPrefix(line, "err = "); isCheck {
			line = "check(" + call + ")"
		}
		if want := strings.Join(strings.Fields(line), " "); !strings.Contains(have, want) {
			t.Errorf("README.md shows a line that example_test.go doesn't run: %s", want)
		}
	}
}
