package oracle

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/internal/repo"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
)

// directive begins the comment beside an operator's variable that has its PyTorch
// expression. It is a comment and no field of the record, so that users' binaries
// have no Python in them.
const directive = "//gofx:torch "

// Expressions returns what the operators are in PyTorch, from the source of op/std:
// one line of Python each, in which operands and attributes go by their names. An
// operator without one is PyTorch's function of the same name, of the operands.
var Expressions = sync.OnceValues(func() (map[*op.Op]string, error) {
	root, err := repo.Root()
	if err != nil {
		return nil, err
	}
	return expressions(filepath.Join(root, "op", "std"))
})

func expressions(dir string) (map[*op.Op]string, error) {
	byVar := map[string]*op.Op{}
	for _, o := range Ops() {
		byVar[api.Camel(o.Name)] = o
	}
	fset := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	out := map[*op.Op]string{}
	for _, path := range paths {
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		beside := variables(f)
		for _, group := range f.Comments {
			for _, c := range group.List {
				text, ok := strings.CutPrefix(c.Text, directive)
				if !ok {
					continue
				}
				o := byVar[beside[group]]
				if o == nil || out[o] != "" {
					return nil, fmt.Errorf("%s: %sis not beside an operator of its own", fset.Position(c.Pos()), directive)
				}
				out[o] = strings.TrimSpace(text)
			}
		}
	}
	return out, nil
}

// variables returns the names of the variables that have comments.
func variables(f *ast.File) map[*ast.CommentGroup]string {
	out := map[*ast.CommentGroup]string{}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			doc := v.Doc
			if !g.Lparen.IsValid() {
				doc = g.Doc
			}
			if doc != nil {
				out[doc] = v.Names[0].Name
			}
		}
	}
	return out
}
