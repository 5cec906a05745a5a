package lint

import (
	"go/ast"
	"slices"
)

// documented are the packages that users of the library read.
var documented = []string{".", "completion", "explain", "fault", "iov", "rdma", "stream", "transport"}

// obvious methods satisfy an interface of the standard library, which says what they do.
var obvious = []string{"Error", "GoString", "Is", "LogValue", "String", "Unwrap"}

// docs: exported names of public packages have comments.
func docs(c *checker) {
	if !slices.Contains(documented, c.pkg.Dir) {
		return
	}
	for _, f := range c.library() {
		for _, d := range f.AST.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				c.funcDoc(d)
			case *ast.GenDecl:
				c.declDoc(d)
			}
		}
	}
}

func (c *checker) funcDoc(d *ast.FuncDecl) {
	if d.Doc != nil || !d.Name.IsExported() {
		return
	}
	if d.Recv != nil && (!ast.IsExported(receiver(d)) || slices.Contains(obvious, d.Name.Name)) {
		return
	}
	c.undocumented(d.Name)
}

// declDoc accepts a comment above a name, behind it, or above the whole group of constants or variables.
func (c *checker) declDoc(d *ast.GenDecl) {
	group := d.Doc != nil
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			alone := d.Doc != nil && !d.Lparen.IsValid()
			if s.Doc == nil && s.Comment == nil && !alone && s.Name.IsExported() {
				c.undocumented(s.Name)
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if s.Doc == nil && s.Comment == nil && !group && name.IsExported() {
					c.undocumented(name)
				}
			}
		}
	}
}

func (c *checker) undocumented(name *ast.Ident) {
	c.at(name.Pos(), "docs", "%s is exported and has no comment", name.Name)
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
