package opsrc

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"strings"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// Struct is the documentation of an attributes struct.
type Struct struct {
	Doc      string            // the comment of the type in one line
	Comments map[string]string // the comments of fields
}

// Structs reads the structs of op/std by name.
func Structs() (map[string]Struct, error) {
	root, err := repo.Root()
	if err != nil {
		return nil, err
	}
	files, err := repo.Parse(token.NewFileSet(), filepath.Join(root, "op", "std", "*.go"))
	if err != nil {
		return nil, err
	}
	out := map[string]Struct{}
	for _, f := range files {
		structs(f, out)
	}
	return out, nil
}

func structs(f *ast.File, out map[string]Struct) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			spec, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			fields, ok := spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			doc := spec.Doc
			if doc == nil {
				doc = g.Doc
			}
			st := Struct{Doc: oneLine(doc), Comments: map[string]string{}}
			for _, field := range fields.Fields.List {
				for _, name := range field.Names {
					st.Comments[name.Name] = oneLine(field.Comment)
				}
			}
			out[spec.Name.Name] = st
		}
	}
}

func oneLine(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
