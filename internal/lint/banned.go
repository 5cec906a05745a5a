package lint

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
)

// clockCalls look at the wall clock or wait for it: then a seed would no longer give the same run.
var clockCalls = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}

// seeded are the names of math/rand and math/rand/v2 that do not use the global source.
var seeded = []string{
	"New", "NewChaCha8", "NewPCG", "NewSource", "NewZipf",
	"ChaCha8", "PCG", "Rand", "Source", "Source64", "Zipf",
}

// leftover matches notes to oneself. It is put together here so that it doesn't match itself.
var leftover = regexp.MustCompile("TO" + "DO|FIX" + "ME|XX" + "X")

// banned: what makes a run unrepeatable, starts behind the caller's back, or was left over.
func banned(c *checker) {
	for _, f := range c.pkg.Files {
		c.leftovers(f)
		if f.Kind == Library && c.room.kind != program && c.room.kind != testOnly {
			c.initFuncs(f)
		}
		if f.Kind == Library && !c.room.edge {
			c.unrepeatable(f)
		}
	}
}

func (c *checker) leftovers(f *File) {
	for _, at := range leftover.FindAllStringIndex(f.Text, -1) {
		pos := c.Fset.File(f.AST.FileStart).Pos(at[0])
		c.at(pos, "banned", "%s: do it now, or open an issue", f.Text[at[0]:at[1]])
	}
}

func (c *checker) initFuncs(f *File) {
	for _, d := range f.AST.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			c.at(fn.Pos(), "banned", "init(): a program hands in what it wants; importing starts nothing")
		}
	}
}

// unrepeatable reports the wall clock, global luck and goroutines.
func (c *checker) unrepeatable(f *File) {
	clocks, dice := localNames(f, "time"), localNames(f, "math/rand", "math/rand/v2")
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			c.at(n.Pos(), "banned", "go statement: nothing inside starts a goroutine; only edges that must block do")
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				return true
			}
			switch {
			case slices.Contains(clocks, x.Name) && slices.Contains(clockCalls, n.Sel.Name):
				c.at(n.Pos(), "banned", "time.%s: time is handed in (transport.Env.Now)", n.Sel.Name)
			case slices.Contains(dice, x.Name) && !slices.Contains(seeded, n.Sel.Name):
				c.at(n.Pos(), "banned", "rand.%s: luck is handed in (transport.Env.Rand)", n.Sel.Name)
			}
		}
		return true
	})
}

// localNames are the names under which a file knows any of the given packages.
func localNames(f *File, paths ...string) []string {
	var out []string
	for _, spec := range f.AST.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		switch {
		case err != nil || !slices.Contains(paths, p):
		case spec.Name != nil:
			out = append(out, spec.Name.Name)
		case p == "math/rand/v2":
			out = append(out, "rand")
		default:
			out = append(out, path.Base(p))
		}
	}
	return out
}
