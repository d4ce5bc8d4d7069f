// Package opsrc reads the information that the source of op/std has on each
// operator besides its record: the file it stands in, which is its family, and
// its PyTorch expression.
package opsrc

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
)

// directive begins the comment at an operator's variable that holds its PyTorch
// expression. It is a comment and not a field of the record, so that users'
// binaries contain no Python.
const directive = "//gofx:torch "

// Source is the information in an operator's source.
type Source struct {
	Family string // the name of its file, without .go
	// Torch is its equivalent in PyTorch: one line of Python, in which operands and
	// attributes go by their names. Without one it is PyTorch's function of the
	// same name, of the operands.
	Torch string
}

// Load returns the sources of the operators of op/std.
var Load = sync.OnceValues(func() (map[*op.Op]Source, error) {
	root, err := repo.Root()
	if err != nil {
		return nil, err
	}
	all, err := read(filepath.Join(root, "op", "std"))
	if err != nil {
		return nil, err
	}
	for _, o := range api.Ops() {
		if all[o].Family == "" {
			return nil, fmt.Errorf("operator %s is not the variable %s of package op/std", o.Name, goname.Upper(o.Name))
		}
	}
	return all, nil
})

func read(dir string) (map[*op.Op]Source, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	r := reader{byVar: map[string]*op.Op{}, fset: token.NewFileSet(), out: map[*op.Op]Source{}}
	for _, o := range api.Ops() {
		r.byVar[goname.Upper(o.Name)] = o
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		if err := r.file(path); err != nil {
			return nil, err
		}
	}
	return r.out, nil
}

type reader struct {
	byVar map[string]*op.Op
	fset  *token.FileSet
	out   map[*op.Op]Source
}

func (r *reader) file(path string) error {
	f, err := parser.ParseFile(r.fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	family := strings.TrimSuffix(filepath.Base(path), ".go")
	beside := map[*ast.CommentGroup]*op.Op{}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			o := r.byVar[v.Names[0].Name]
			if o == nil {
				continue
			}
			r.out[o] = Source{Family: family}
			if g.Lparen.IsValid() {
				beside[v.Doc] = o
			} else {
				beside[g.Doc] = o
			}
		}
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			text, ok := strings.CutPrefix(c.Text, directive)
			if !ok {
				continue
			}
			s := r.out[beside[group]]
			if s.Family == "" || s.Torch != "" {
				return fmt.Errorf("%s: %sis not beside an operator of its own", r.fset.Position(c.Pos()), directive)
			}
			s.Torch = strings.TrimSpace(text)
			r.out[beside[group]] = s
		}
	}
	return nil
}
