package lint

import "go/ast"

// The limits. What stands near them is usually two things that want to be apart.
const (
	maxFileLines    = 500
	maxFuncLines    = 70
	maxParams       = 5
	maxStructFields = 20
	maxPackageLines = 2500
)

func sizes(c *checker) {
	total := 0
	for _, f := range c.pkg.Files {
		n := f.Lines()
		if n > maxFileLines {
			c.whole(f.Name, "sizes", "file has %d lines, limit %d: move one concept to a file of its own", n, maxFileLines)
		}
		if f.Kind == Library {
			total += n
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			c.size(n)
			return true
		})
	}
	if total > maxPackageLines {
		c.whole(c.pkg.Dir, "sizes", "package has %d lines without its tests, limit %d: split it", total, maxPackageLines)
	}
}

// size checks one node.
func (c *checker) size(n ast.Node) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		c.funcSize(n, n.Name.Name)
	case *ast.FuncLit:
		c.funcSize(n, "function literal")
	case *ast.FuncType:
		if k := n.Params.NumFields(); k > maxParams {
			c.at(n.Pos(), "sizes", "%d parameters, limit %d: make an options struct", k, maxParams)
		}
	case *ast.StructType:
		if k := n.Fields.NumFields(); k > maxStructFields {
			c.at(n.Pos(), "sizes", "struct has %d fields, limit %d: group them by concern", k, maxStructFields)
		}
	}
}

func (c *checker) funcSize(n ast.Node, name string) {
	lines := c.Fset.Position(n.End()).Line - c.Fset.Position(n.Pos()).Line + 1
	if lines > maxFuncLines {
		c.at(n.Pos(), "sizes", "%s has %d lines, limit %d: name its parts", name, lines, maxFuncLines)
	}
}
