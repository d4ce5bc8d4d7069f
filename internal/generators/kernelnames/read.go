package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"strings"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// directive marks the declarations that package kernel names.
const directive = "//gofx:kernel"

// family is the offer of a package below kernel/internal.
type family struct {
	name  string
	decls []decl // in the order of files and of their lines
}

// decl is a marked declaration: a type, a function or a group of constants.
type decl struct {
	node    ast.Decl
	imports map[string]string // of its file: paths by name
}

// reader parses families. owner has the family of every name that is marked.
type reader struct{ owner map[string]string }

func (r *reader) read(dir string) (*family, error) {
	f := &family{name: filepath.Base(dir)}
	fset := token.NewFileSet()
	files, err := repo.Parse(fset, filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		imports := importsOf(file)
		for _, d := range file.Decls {
			if !marked(d) {
				continue
			}
			for _, name := range names(d) {
				if other := r.owner[name]; other != "" || !ast.IsExported(name) {
					return nil, fmt.Errorf("%s: %s has %s; expected an exported name that no other family (here %q) has", fset.Position(d.Pos()), name, directive, other)
				}
				r.owner[name] = f.name
			}
			f.decls = append(f.decls, decl{d, imports})
		}
	}
	return f, nil
}

// importsOf returns the paths that a file imports, by the names that it uses.
func importsOf(f *ast.File) map[string]string {
	m := map[string]string{}
	for _, s := range f.Imports {
		path := strings.Trim(s.Path.Value, `"`)
		m[path[strings.LastIndexByte(path, '/')+1:]] = path
	}
	return m
}

func marked(d ast.Decl) bool {
	doc := docOf(d)
	if doc == nil {
		return false
	}
	for _, c := range doc.List {
		if c.Text == directive {
			return true
		}
	}
	return false
}

func docOf(d ast.Decl) *ast.CommentGroup {
	switch d := d.(type) {
	case *ast.GenDecl:
		return d.Doc
	case *ast.FuncDecl:
		return d.Doc
	}
	return nil
}

// names returns the names that a declaration declares.
func names(d ast.Decl) []string {
	if fn, ok := d.(*ast.FuncDecl); ok {
		return []string{fn.Name.Name}
	}
	var out []string
	for _, s := range d.(*ast.GenDecl).Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			out = append(out, s.Name.Name)
		case *ast.ValueSpec:
			for _, n := range s.Names {
				out = append(out, n.Name)
			}
		}
	}
	return out
}
