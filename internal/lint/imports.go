package lint

import "strings"

// testModules are the modules of others that tests may stand on. Nothing of them gets into a
// program that uses the library.
var testModules = []string{
	"github.com/anishathalye/porcupine",
	"github.com/cockroachdb/datadriven",
	"github.com/google/go-cmp",
	"go.uber.org/goleak",
	"pgregory.net/rapid",
}

// imports: the library stands on the standard library and golang.org/x alone, and needs no C compiler.
func imports(c *checker) {
	for _, f := range c.pkg.Files {
		for _, imp := range f.Imports() {
			switch {
			case imp.Path == "C":
				if c.pkg.Dir != "rdma/verbs" {
					c.at(imp.Pos, "imports", "cgo belongs into rdma/verbs alone: plain builds need no C compiler")
				}
			case c.mayDepend(f.Kind, imp.Path):
			case f.Kind == Library:
				c.at(imp.Pos, "imports", "%s: the library imports only the standard library and golang.org/x", imp.Path)
			default:
				c.at(imp.Pos, "imports", "%s: not one of the modules for tests (internal/lint/imports.go)", imp.Path)
			}
		}
	}
}

func (c *checker) mayDepend(k Kind, importPath string) bool {
	if _, own := c.dirOf(importPath); own || isStd(importPath) || strings.HasPrefix(importPath, "golang.org/x/") {
		return true
	}
	switch {
	case c.room.kind == program, c.room.dir == "test/...":
		return true
	case k == Library && c.room.kind != testOnly:
		return false
	}
	for _, m := range testModules {
		if importPath == m || strings.HasPrefix(importPath, m+"/") {
			return true
		}
	}
	return false
}

// isStd: only paths of the standard library have no dot in their first element.
func isStd(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}
