package lint

// arrows: a package imports only packages that stand lower, the engine never imports an
// implementation nor the other way round, and rooms for tests are imported by tests only.
func arrows(c *checker) {
	for _, f := range c.pkg.Files {
		for _, imp := range f.Imports() {
			dir, own := c.dirOf(imp.Path)
			if !own || dir == c.pkg.Dir { // its external tests import it
				continue
			}
			to, known := roomOf(dir)
			if !known {
				c.at(imp.Pos, "arrows", "imports %s, which has no row in internal/lint/rooms.go", dir)
				continue
			}
			if why := c.room.mayNot(to, f.Kind); why != "" {
				c.at(imp.Pos, "arrows", "%s imports %s: %s", c.pkg.Dir, dir, why)
			}
		}
	}
}

// mayNot says why a file of room r may not import room to; "" if it may.
func (r room) mayNot(to room, k Kind) string {
	inTest := k != Library || r.kind == testOnly
	switch {
	case to.dir == "test/..." && r.dir != "test/...":
		return "test/ is imported by nobody"
	case to.kind == testOnly && !inTest:
		return "only tests may import it"
	case r.dir == "test/...", to.kind == testOnly:
		return ""
	case (k == ExternalTest || r.kind == testOnly) && to.isTestbed():
		return ""
	case r.kind == engine && to.kind == implementation:
		return "the engine never imports an implementation; take it through its contract"
	case r.kind == implementation && to.kind == engine:
		return "an implementation never imports the engine; talk through the contract"
	case to.rank >= r.rank && !r.shares(to):
		return "it does not stand lower; turn the arrow round with an interface, or move what both need down"
	}
	return ""
}

// isTestbed: what every test from outside may stand on.
func (r room) isTestbed() bool {
	return r.kind == contract || r.dir == "transport/sim"
}

// shares: commands and examples may be split into packages of one subtree.
func (r room) shares(to room) bool {
	return r.kind == program && r.dir == to.dir
}
