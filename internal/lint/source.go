package lint

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Module is the parsed source of a module.
type Module struct {
	Path     string // as go.mod names it
	Fset     *token.FileSet
	Packages []*Package // sorted by Dir
}

// Package is one folder with Go files; the folder's tests belong to it.
type Package struct {
	Dir   string // relative to the module; "." is the root
	Files []*File
}

// Kind says how a file is built.
type Kind uint8

const (
	// Library files are built into programs.
	Library Kind = iota
	// InternalTest files are tests in the package itself.
	InternalTest
	// ExternalTest files are tests in package x_test.
	ExternalTest
)

// File is one Go file.
type File struct {
	Name string // with its folder, relative to the module
	Kind Kind
	Text string
	AST  *ast.File
}

// Lines counts the lines of a file.
func (f *File) Lines() int {
	n := strings.Count(f.Text, "\n")
	if f.Text != "" && !strings.HasSuffix(f.Text, "\n") {
		n++
	}
	return n
}

// Import is one import of a file.
type Import struct {
	Path string
	Pos  token.Pos
}

// Imports lists what a file imports.
func (f *File) Imports() []Import {
	var out []Import
	for _, spec := range f.AST.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			p = spec.Path.Value // can't be: the parser has read it
		}
		out = append(out, Import{Path: p, Pos: spec.Pos()})
	}
	return out
}

// Load parses every Go file below the root of a module.
func Load(root fs.FS) (*Module, error) {
	name, err := modulePath(root)
	if err != nil {
		return nil, err
	}
	m := &Module{Path: name, Fset: token.NewFileSet()}
	err = fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if skipDir(root, p) {
				return fs.SkipDir
			}
			return m.loadDir(root, p)
		}
		return nil
	})
	return m, err
}

func modulePath(root fs.FS) (string, error) {
	text, err := fs.ReadFile(root, "go.mod")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(name), nil
		}
	}
	return "", errors.New("lint: go.mod has no module line")
}

// skipDir leaves out what the go command leaves out: hidden folders, test data, other modules.
func skipDir(root fs.FS, p string) bool {
	if p == "." {
		return false
	}
	base := path.Base(p)
	if base[0] == '.' || base[0] == '_' || base == "testdata" || base == "vendor" {
		return true
	}
	_, err := fs.Stat(root, path.Join(p, "go.mod"))
	return err == nil
}

func (m *Module) loadDir(root fs.FS, dir string) error {
	names, err := fs.Glob(root, path.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	p := &Package{Dir: dir}
	for _, name := range names {
		if base := path.Base(name); base[0] == '.' || base[0] == '_' {
			continue
		}
		f, err := m.parse(root, name)
		if err != nil {
			return err
		}
		p.Files = append(p.Files, f)
	}
	if len(p.Files) > 0 {
		m.Packages = append(m.Packages, p)
	}
	return nil
}

func (m *Module) parse(root fs.FS, name string) (*File, error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	tree, err := parser.ParseFile(m.Fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("lint: %w", err)
	}
	f := &File{Name: name, Text: string(text), AST: tree}
	switch {
	case !strings.HasSuffix(name, "_test.go"):
		f.Kind = Library
	case strings.HasSuffix(tree.Name.Name, "_test"):
		f.Kind = ExternalTest
	default:
		f.Kind = InternalTest
	}
	return f, nil
}

// dirOf is the folder of one of the module's own packages, and whether an import path names one.
func (m *Module) dirOf(importPath string) (string, bool) {
	if importPath == m.Path {
		return ".", true
	}
	return strings.CutPrefix(importPath, m.Path+"/")
}
