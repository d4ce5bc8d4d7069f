package fix

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// Problem is a call that looks like one of a tensor and has to be rewritten by hand.
type Problem struct {
	Pos       token.Position
	Msg, Hint string
	Note      bool // it may be no call of a tensor at all
}

// Source rewrites a Go file with the given name. The result is src itself where nothing has
// to change, and for generated files, which are generated again. An error says
// where the file is no Go.
func Source(name string, src []byte) (out []byte, problems []Problem, err error) {
	r := &rewriter{src: src, set: token.NewFileSet(), forms: forms(), single: singles()}
	if r.file, err = parser.ParseFile(r.set, name, src, parser.ParseComments); err != nil {
		return nil, nil, err
	}
	if ast.IsGenerated(r.file) {
		return src, nil, nil
	}
	r.imports()
	if len(r.names) == 0 {
		return src, nil, nil
	}
	r.renames()
	r.walk()
	slices.SortFunc(r.problems, func(a, b Problem) int { return a.Pos.Offset - b.Pos.Offset })
	if len(r.edits) == 0 {
		return src, r.problems, nil
	}
	out, err = r.tidy(name, []byte(r.text(r.file.FileStart, r.file.FileEnd)))
	return out, r.problems, err
}

// edit replaces the source from pos to end.
type edit struct {
	pos, end token.Pos
	text     string
}

type rewriter struct {
	src      []byte
	set      *token.FileSet
	file     *ast.File
	forms    map[string]*form
	single   map[string]bool   // functions and methods that return one tensor
	names    map[string]string // packages of this module by the name that the file gives them
	paths    map[string]string // the other way round
	dot      map[string]bool   // packages that are imported with a dot
	edits    []edit            // apart from each other
	problems []Problem
}

// imports reads under which names the file has the packages that matter.
func (r *rewriter) imports() {
	r.names, r.paths, r.dot = map[string]string{}, map[string]string{}, map[string]bool{}
	for _, s := range r.file.Imports {
		path, _ := strconv.Unquote(s.Path.Value)
		if !slices.Contains([]string{pkgTensor, pkgStd, pkgOp, pkgShape}, path) {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if s.Name != nil {
			name = s.Name.Name
		}
		switch name {
		case ".":
			r.dot[path] = true
			name = "."
		case "_":
			continue
		default:
			r.paths[path] = name
		}
		r.names[name] = path
	}
}

// imported returns the package of this module that an identifier names, "" for a variable
// or another package.
func (r *rewriter) imported(e ast.Expr) string {
	if id, ok := e.(*ast.Ident); ok && id.Obj == nil {
		return r.names[id.Name]
	}
	return ""
}

// declaration returns the package and the name of a declaration that an expression names.
func (r *rewriter) declaration(e ast.Expr) (pkg, name string) {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return r.imported(e.X), e.Sel.Name
	case *ast.Ident:
		if e.Obj == nil && e.IsExported() {
			for path := range r.dot {
				if path == pkgTensor || path == pkgStd && strings.HasSuffix(e.Name, "Attrs") {
					return path, e.Name
				}
			}
		}
	}
	return "", ""
}

// renames makes the edits for declarations that have new names.
func (r *rewriter) renames() {
	list := renames()
	ast.Inspect(r.file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			r.number(call)
		}
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg := r.imported(sel.X)
		i := slices.IndexFunc(list, func(x rename) bool { return x.fromPkg == pkg && x.from == sel.Sel.Name })
		if pkg == "" || i < 0 {
			return true
		}
		if to := r.qualified(list[i].toPkg, list[i].to); to != "" {
			r.edits = append(r.edits, edit{sel.Pos(), sel.End(), to})
		}
		return true
	})
}

// number turns op.Float(0.5) and op.Int(2) into tensor.Number(0.5) and tensor.Number(2).
// Number tells a float from an int by its type, which only literals show.
func (r *rewriter) number(call *ast.CallExpr) {
	pkg, name := r.declaration(call.Fun)
	to := r.qualified(pkgTensor, "Number")
	if pkg != pkgOp || name != "Float" && name != "Int" || len(call.Args) != 1 || to == "" {
		return
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	switch {
	case !ok || name == "Int" && lit.Kind != token.INT:
		return
	case name == "Float" && lit.Kind == token.INT:
		if strings.Trim(lit.Value, "0123456789") != "" { // hexadecimal, or with underscores
			return
		}
		r.edits = append(r.edits, edit{lit.Pos(), lit.End(), lit.Value + ".0"})
	case name == "Float" && lit.Kind != token.FLOAT:
		return
	}
	r.edits = append(r.edits, edit{call.Fun.Pos(), call.Fun.End(), to})
}

// qualified returns how the file names a declaration, "" where it does not import the
// package. A dot import has no prefix; a name that the file declares itself hides it.
func (r *rewriter) qualified(pkg, name string) string {
	if p := r.paths[pkg]; p != "" {
		return p + "." + name
	}
	if r.dot[pkg] && r.file.Scope.Lookup(name) == nil {
		return name
	}
	return ""
}

// walk rewrites calls, inner ones first.
func (r *rewriter) walk() {
	var stack []ast.Node
	ast.Inspect(r.file, func(n ast.Node) bool {
		if n != nil {
			stack = append(stack, n)
			return true
		}
		last := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if call, ok := last.(*ast.CallExpr); ok {
			r.call(call)
		}
		return true
	})
}

// text returns the source from pos to end with the edits in it.
func (r *rewriter) text(pos, end token.Pos) string {
	within := r.within(pos, end)
	var b strings.Builder
	at := pos
	for _, e := range within {
		b.WriteString(r.source(at, e.pos) + e.text)
		at = e.end
	}
	return b.String() + r.source(at, end)
}

func (r *rewriter) source(pos, end token.Pos) string {
	f := r.set.File(r.file.FileStart)
	return string(r.src[f.Offset(pos):f.Offset(end)])
}

// within returns the edits between two places, in order.
func (r *rewriter) within(pos, end token.Pos) (out []edit) {
	for _, e := range r.edits {
		if e.pos >= pos && e.end <= end {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b edit) int { return int(a.pos - b.pos) })
	return out
}

// replace makes an edit that takes the place of those within it.
func (r *rewriter) replace(pos, end token.Pos, text string) {
	r.edits = slices.DeleteFunc(r.edits, func(e edit) bool { return e.pos >= pos && e.end <= end })
	r.edits = append(r.edits, edit{pos, end, text})
}

// tidy removes the imports that nothing uses any more, and formats the file.
func (r *rewriter) tidy(name string, src []byte) ([]byte, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	removed := false
	for path, as := range r.paths {
		spec := ""
		for _, s := range r.file.Imports {
			if p, _ := strconv.Unquote(s.Path.Value); p == path && s.Name != nil {
				spec = s.Name.Name
			}
		}
		if uses(r.file, as) && !uses(f, as) {
			removed = astutil.DeleteNamedImport(set, f, spec, path) || removed
		}
	}
	if !removed {
		return format.Source(src)
	}
	var b bytes.Buffer
	err = format.Node(&b, set, f)
	return b.Bytes(), err
}

// uses reports whether a file uses a package under a name.
func uses(f *ast.File, name string) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			id, ok := sel.X.(*ast.Ident)
			found = found || ok && id.Name == name && id.Obj == nil
		}
		return !found
	})
	return found
}
