package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/printer"
	"go/token"
	"maps"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// writer writes the file of one family.
type writer struct {
	family  string
	owner   map[string]string // the families of names that kernel has
	imports map[string]bool   // paths that the file needs
	body    bytes.Buffer
}

// source returns the file of package kernel that names the declarations of f.
func (f *family) source(owner map[string]string) ([]byte, error) {
	w := &writer{family: f.name, owner: owner, imports: map[string]bool{packagePath(f.name): true}}
	for _, d := range f.decls {
		var err error
		switch n := d.node.(type) {
		case *ast.FuncDecl:
			err = w.function(n, d.imports)
		case *ast.GenDecl:
			w.group(n)
		}
		if err != nil {
			return nil, fmt.Errorf("package %s: %w", f.name, err)
		}
	}
	var head bytes.Buffer
	head.WriteString(header + "\npackage kernel\n\nimport (\n")
	for _, path := range slices.Sorted(maps.Keys(w.imports)) {
		fmt.Fprintf(&head, "\t%q\n", path)
	}
	head.WriteString(")\n")
	return format.Source(append(head.Bytes(), w.body.Bytes()...))
}

// group names the types or constants of a declaration.
func (w *writer) group(d *ast.GenDecl) {
	w.body.WriteString("\n")
	w.comment(d.Doc, "")
	if !d.Lparen.IsValid() {
		w.body.WriteString(d.Tok.String() + " ")
		w.spec(d.Specs[0])
		return
	}
	w.body.WriteString(d.Tok.String() + " (\n")
	for _, s := range d.Specs {
		if v, ok := s.(*ast.ValueSpec); ok {
			w.comment(v.Doc, "\t")
		}
		w.spec(s)
	}
	w.body.WriteString(")\n")
}

// spec writes one name followed by its comment.
func (w *writer) spec(s ast.Spec) {
	var line *ast.CommentGroup
	switch s := s.(type) {
	case *ast.TypeSpec:
		w.name(s.Name.Name)
		line = s.Comment
	case *ast.ValueSpec:
		w.name(s.Names[0].Name)
		line = s.Comment
	}
	if line != nil {
		w.body.WriteString(" // " + strings.TrimSpace(line.Text()))
	}
	w.body.WriteString("\n")
}

func (w *writer) name(n string) { fmt.Fprintf(&w.body, "\t%s = %s.%s", n, w.family, n) }

// comment writes a comment without its directives.
func (w *writer) comment(g *ast.CommentGroup, indent string) {
	for line := range strings.Lines(g.Text()) {
		w.body.WriteString(strings.TrimRight(indent+"// "+strings.TrimRight(line, "\n"), " ") + "\n")
	}
}

// function writes a function that calls that of the family.
func (w *writer) function(fn *ast.FuncDecl, imports map[string]string) error {
	if fn.Recv != nil {
		return fmt.Errorf("method %s has %s: mark its type", fn.Name.Name, directive)
	}
	signature, err := w.qualified(fn.Type, imports)
	if err != nil {
		return fmt.Errorf("%s: %w", fn.Name.Name, err)
	}
	w.body.WriteString("\n")
	w.comment(fn.Doc, "")
	fmt.Fprintf(&w.body, "func %s%s {\n\t", fn.Name.Name, strings.TrimPrefix(signature, "func"))
	if fn.Type.Results != nil {
		w.body.WriteString("return ")
	}
	w.body.WriteString(w.family + "." + fn.Name.Name)
	if fn.Type.TypeParams != nil {
		w.body.WriteString("[" + strings.Join(fieldNames(fn.Type.TypeParams), ", ") + "]")
	}
	w.body.WriteString("(" + strings.Join(fieldNames(fn.Type.Params), ", "))
	if list := fn.Type.Params.List; len(list) > 0 {
		if _, variadic := list[len(list)-1].Type.(*ast.Ellipsis); variadic {
			w.body.WriteString("...")
		}
	}
	w.body.WriteString(")\n}\n")
	return nil
}

func fieldNames(l *ast.FieldList) []string {
	var out []string
	for _, f := range l.List {
		for _, n := range f.Names {
			out = append(out, n.Name)
		}
	}
	return out
}

// qualified returns a signature as package kernel writes it: kernel's own names
// without a package, the rest with their package.
func (w *writer) qualified(t *ast.FuncType, imports map[string]string) (string, error) {
	var missing []string
	var visit func(e *ast.Expr)
	params := map[string]bool{}
	if t.TypeParams != nil {
		for _, n := range fieldNames(t.TypeParams) {
			params[n] = true
		}
	}
	visit = func(e *ast.Expr) {
		switch x := (*e).(type) {
		case *ast.Ident:
			if ast.IsExported(x.Name) && w.owner[x.Name] == "" && !params[x.Name] {
				missing = append(missing, x.Name)
			}
		case *ast.SelectorExpr:
			pkg := x.X.(*ast.Ident).Name
			switch path := imports[pkg]; {
			case !strings.HasPrefix(path, repo.Module+"/kernel/internal/"):
				w.imports[path] = true
			case w.owner[x.Sel.Name] == pkg:
				*e = x.Sel
			default:
				missing = append(missing, pkg+"."+x.Sel.Name)
			}
		case *ast.StarExpr:
			visit(&x.X)
		case *ast.ArrayType:
			visit(&x.Elt)
		case *ast.Ellipsis:
			visit(&x.Elt)
		case *ast.BinaryExpr:
			visit(&x.X)
			visit(&x.Y)
		}
	}
	for _, l := range []*ast.FieldList{t.TypeParams, t.Params, t.Results} {
		if l != nil {
			for _, f := range l.List {
				visit(&f.Type)
			}
		}
	}
	if missing != nil {
		return "", fmt.Errorf("its signature has %s, which kernel does not name: mark them with %s", strings.Join(missing, ", "), directive)
	}
	var b bytes.Buffer
	err := printer.Fprint(&b, token.NewFileSet(), t)
	return b.String(), err
}
