package lint

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
)

// Finding is one place that breaks a rule.
type Finding struct {
	File string
	Line int // 0: the file or folder as a whole
	Rule string
	Text string // what is wrong and what to do
}

func (f Finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s: %s", f.File, f.Rule, f.Text)
	}
	return fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Rule, f.Text)
}

// rules in the order of doc.go. Each looks at one package, whose room is known.
var rules = []func(*checker){
	sizes,
	arrows,
	imports,
	names,
	banned,
	docs,
}

// Check runs every rule over a module.
func Check(m *Module) []Finding {
	var all []Finding
	for _, p := range m.Packages {
		c := &checker{Module: m, pkg: p}
		r, ok := roomOf(p.Dir)
		if !ok {
			c.whole(p.Dir, "rooms", "package has no row in internal/lint/rooms.go: give it one, with what it stands on")
		}
		c.room = r
		for _, rule := range rules {
			rule(c)
		}
		all = append(all, c.found...)
	}
	slices.SortFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
	return all
}

// checker is one package under examination.
type checker struct {
	*Module
	pkg   *Package
	room  room
	found []Finding
}

// at reports something at a position.
func (c *checker) at(pos token.Pos, rule, format string, args ...any) {
	p := c.Fset.Position(pos)
	c.found = append(c.found, Finding{File: p.Filename, Line: p.Line, Rule: rule, Text: fmt.Sprintf(format, args...)})
}

// whole reports something about a file or folder.
func (c *checker) whole(name, rule, format string, args ...any) {
	c.found = append(c.found, Finding{File: name, Rule: rule, Text: fmt.Sprintf(format, args...)})
}

// library lists the files that are built into programs.
func (c *checker) library() []*File {
	var out []*File
	for _, f := range c.pkg.Files {
		if f.Kind == Library {
			out = append(out, f)
		}
	}
	return out
}
