package lint

import (
	"path"
	"slices"
	"strings"
)

// vague names say that a package holds whatever nobody found a place for.
var vague = []string{"util", "utils", "common", "base", "core", "types", "helper", "helpers"}

// names: every package introduces itself in doc.go, and its name says its one job.
func names(c *checker) {
	var doc *File
	for _, f := range c.pkg.Files {
		name := strings.TrimSuffix(f.AST.Name.Name, "_test")
		if slices.Contains(vague, name) {
			c.at(f.AST.Name.Pos(), "names", "package %s: name it for its one job", name)
		}
		if path.Base(f.Name) == "doc.go" {
			doc = f
		}
	}
	switch {
	case doc == nil:
		c.whole(c.pkg.Dir, "names", "no doc.go: purpose, one picture, who may import it, numbered invariants")
	case doc.AST.Doc == nil:
		c.whole(doc.Name, "names", "no package comment: put it right above the package clause, without an empty line")
	case !strings.HasPrefix(doc.AST.Doc.Text(), opening(doc.AST.Name.Name)):
		c.at(doc.AST.Doc.Pos(), "names", "package comment must begin with %q", opening(doc.AST.Name.Name))
	}
}

// opening is how a package comment begins.
func opening(name string) string {
	if name == "main" {
		return "Command "
	}
	return "Package " + name + " "
}
