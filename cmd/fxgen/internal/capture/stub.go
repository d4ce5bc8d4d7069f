package capture

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/internal/userpkg"
	"golang.org/x/tools/go/packages"
)

// The package may use the code that is about to be generated, so that it does not
// compile as long as that is missing or stale. Then the generated files are
// replaced by a stub that declares the names used, and the bodies of functions
// that use them by a panic: capture does not need them. Lines stay where they are.

// withoutGenerated loads the package with stubs; it returns the package's errors
// when they have nothing to do with generated code.
func (t *Target) withoutGenerated(ctx context.Context, pkg *packages.Package) (*loaded, error) {
	files := append(pkg.GoFiles, pkg.CompiledGoFiles...)
	if len(files) == 0 {
		return nil, userpkg.Problems(pkg.Errors)
	}
	s := stub{pkg: pkg, dir: filepath.Dir(files[0]), overlay: map[string][]byte{}, gone: map[*ast.BlockStmt]bool{},
		paths: map[string]bool{}, made: map[string]bool{}}
	hit, others := false, false
	for _, folder := range s.absent() {
		hit, others = s.otherFolder(folder) || hit, others || folder != strings.TrimSuffix(t.Generated, string(filepath.Separator))
	}
	if folder := t.Generated; folder != "" {
		if filepath.Ext(folder) == ".go" {
			folder = filepath.Dir(folder)
		}
		if folder == s.dir {
			hit = s.sameFolder(t.Generated) || hit
		} else if _, done := s.overlay[filepath.Join(folder, stubFile)]; !done {
			hit = s.otherFolder(folder) || hit
		}
	}
	if !hit {
		return nil, userpkg.Problems(pkg.Errors)
	}
	for range maxRounds {
		for _, f := range s.pkg.Syntax {
			s.strip(f)
		}
		again, err := read(ctx, t.Pattern, s.overlay)
		if err != nil {
			return nil, err
		}
		if len(again.Errors) == 0 {
			return &loaded{pkg: again, overlay: s.overlay}, nil
		}
		s.pkg, s.gone = again, map[*ast.BlockStmt]bool{}
		for _, f := range again.Syntax {
			s.drop(f, s.misuses)
		}
		if len(s.gone) == 0 {
			break
		}
	}
	if others {
		return nil, userpkg.Problems(pkg.Errors) // which say that there is no such package
	}
	return nil, userpkg.Problems(s.pkg.Errors)
}

// maxRounds bounds how often bodies are dropped: the stub's types have no fields
// and methods, and that shows only once the bodies use them.
const maxRounds = 4

// misuses reports whether a type error lies in a body that has values of the
// stub's types.
func (s *stub) misuses(body *ast.BlockStmt) bool {
	wrong := slices.ContainsFunc(s.pkg.TypeErrors, func(e types.Error) bool { return body.Pos() <= e.Pos && e.Pos < body.End() })
	return wrong && contains(body, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		return ok && s.ofStub(s.pkg.TypesInfo.TypeOf(x), 0)
	})
}

// ofStub reports whether a type is made of one of the stub's.
func (s *stub) ofStub(t types.Type, depth int) bool {
	if t == nil || depth > 8 {
		return false
	}
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		o := t.Obj()
		return o.Pkg() != nil && (s.paths[o.Pkg().Path()] || o.Pkg() == s.pkg.Types && filepath.Base(s.pkg.Fset.Position(o.Pos()).Filename) == filepath.Base(s.file))
	case interface{ Elem() types.Type }:
		return s.ofStub(t.Elem(), depth+1)
	case *types.Struct:
		for i := range t.NumFields() {
			if s.ofStub(t.Field(i).Type(), depth+1) {
				return true
			}
		}
	}
	return false
}

type stub struct {
	pkg     *packages.Package
	dir     string
	overlay map[string][]byte
	gone    map[*ast.BlockStmt]bool // bodies to be replaced
	paths   map[string]bool         // packages that are stubs
	file    string                  // the stub in the package itself
	made    map[string]bool         // files that are stubs or empty
}

// put shows a stub, or an empty file, to the go command.
func (s *stub) put(path string, data []byte) {
	s.overlay[path], s.made[path] = data, true
}

const stubFile = "zz_fxgen_stub.go"

// absent lists the folders of the package's module that it imports and that hold
// no Go files: code that another command is going to generate.
func (s *stub) absent() (folders []string) {
	m := s.pkg.Module
	if m == nil {
		return nil
	}
	for _, f := range s.pkg.Syntax {
		for _, i := range f.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			rel, ok := strings.CutPrefix(path, m.Path+"/")
			if err != nil || !ok {
				continue
			}
			if dir := filepath.Join(m.Dir, filepath.FromSlash(rel)); len(userpkg.GoFiles(dir)) == 0 && !slices.Contains(folders, dir) {
				folders = append(folders, dir)
			}
		}
	}
	return folders
}

// otherFolder stubs a generated package that files of this one import.
func (s *stub) otherFolder(folder string) bool {
	path := s.importPath(folder)
	if path == "" {
		return false
	}
	types, name := map[string]bool{}, filepath.Base(folder)
	hit := false
	for _, f := range s.pkg.Syntax {
		local := importName(f, path)
		if local == "" {
			continue
		}
		hit = true
		used := func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return false
			}
			id, ok := sel.X.(*ast.Ident)
			return ok && id.Name == local
		}
		s.drop(f, func(body *ast.BlockStmt) bool { return contains(body, used) || s.broken(body) })
		for _, d := range f.Decls {
			outside(d, func(n ast.Node) {
				if used(n) {
					types[n.(*ast.SelectorExpr).Sel.Name] = true
				}
			})
		}
		if local != filepath.Base(path) {
			name = local
		}
	}
	if !hit {
		return false
	}
	for _, f := range userpkg.GoFiles(folder) {
		if n := packageName(f); n != "" {
			name = n
		}
		s.put(f, []byte("package "+name+"\n"))
	}
	s.put(filepath.Join(folder, stubFile), stubSource(name, types))
	s.paths[path] = true
	return true
}

// importPath returns the import path of a folder in the package's module.
func (s *stub) importPath(folder string) string {
	m := s.pkg.Module
	if m == nil {
		return ""
	}
	rel, err := filepath.Rel(m.Dir, folder)
	if err != nil || strings.HasPrefix(rel, "..") {
		return ""
	}
	if rel == "." {
		return m.Path
	}
	return m.Path + "/" + filepath.ToSlash(rel)
}

// importName returns the name by which a file knows a package, "" when it does not
// import it.
func importName(f *ast.File, path string) string {
	for _, i := range f.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err != nil || p != path {
			continue
		}
		if i.Name != nil {
			return i.Name.Name
		}
		return path[strings.LastIndexByte(path, '/')+1:]
	}
	return ""
}

// sameFolder stubs generated files of the package itself: functions that use
// their declarations, or undeclared names, lose their bodies.
func (s *stub) sameFolder(generated string) bool {
	made := map[string]bool{}
	for _, f := range userpkg.GoFiles(s.dir) {
		if f == generated || IsGenerated(f) && (generated == s.dir || PartOf(f, generated)) {
			made[f] = true
			s.put(f, []byte("package "+s.pkg.Name+"\n"))
		}
	}
	types := map[string]bool{}
	for i, f := range s.pkg.Syntax {
		if made[s.pkg.CompiledGoFiles[i]] {
			continue
		}
		used := func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return false
			}
			o := s.pkg.TypesInfo.Uses[id]
			if o == nil {
				return s.undefined(id)
			}
			return o.Pos().IsValid() && made[s.pkg.Fset.Position(o.Pos()).Filename]
		}
		s.drop(f, func(body *ast.BlockStmt) bool { return contains(body, used) || s.broken(body) && len(made) > 0 })
		for _, d := range f.Decls {
			outside(d, func(n ast.Node) {
				if used(n) {
					types[n.(*ast.Ident).Name] = true
				}
			})
		}
	}
	path := generated
	if filepath.Ext(path) != ".go" {
		path = filepath.Join(s.dir, stubFile)
	}
	s.put(path, stubSource(s.pkg.Name, types))
	s.file = path
	return true
}

// undefined reports whether the type checker could not find an identifier.
func (s *stub) undefined(id *ast.Ident) bool {
	at := s.pkg.Fset.Position(id.Pos())
	for _, e := range s.pkg.TypeErrors {
		if e.Pos == id.Pos() && strings.HasPrefix(e.Msg, "undefined: ") && at.IsValid() {
			return true
		}
	}
	return false
}

// broken reports whether a type error lies in a body and concerns a value of a
// type that is not known: a consequence of missing code.
func (s *stub) broken(body *ast.BlockStmt) bool {
	for _, e := range s.pkg.TypeErrors {
		if e.Pos < body.Pos() || e.Pos >= body.End() {
			continue
		}
		found := false
		ast.Inspect(body, func(n ast.Node) bool {
			x, ok := n.(ast.Expr)
			if ok && x.Pos() <= e.Pos && e.Pos < x.End() {
				if t := s.pkg.TypesInfo.TypeOf(x); t == types.Typ[types.Invalid] {
					found = true
				}
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// drop chooses the bodies to be replaced.
func (s *stub) drop(f *ast.File, chosen func(*ast.BlockStmt) bool) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && chosen(fn.Body) {
			s.gone[fn.Body] = true
		}
	}
}

// edit replaces a part of a file.
type edit struct {
	from, to int
	text     string
}

// strip puts a panic in place of the dropped bodies of a file, and blanks the
// imports that only they used.
func (s *stub) strip(f *ast.File) {
	path := s.pkg.Fset.Position(f.Package).Filename
	if s.made[path] {
		return
	}
	src, ok := s.overlay[path]
	if !ok {
		var err error
		if src, err = os.ReadFile(path); err != nil {
			return
		}
	}
	var edits []edit
	offset := func(p token.Pos) int { return s.pkg.Fset.Position(p).Offset }
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !s.gone[fn.Body] {
			continue
		}
		from, to := offset(fn.Body.Lbrace), offset(fn.Body.Rbrace)+1
		lines := strings.Repeat("\n", strings.Count(string(src[from:to]), "\n"))
		edits = append(edits, edit{from, to, "{ panic(\"generated code is not available while it is generated\")" + lines + "}"})
	}
	if len(edits) == 0 {
		return
	}
	left := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if b, ok := n.(*ast.BlockStmt); ok && s.gone[b] {
			return false
		}
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok {
				left[id.Name] = true
			}
		}
		return true
	})
	for _, i := range f.Imports {
		name := s.nameOf(i)
		if name == "_" || name == "." || left[name] {
			continue
		}
		if i.Name != nil {
			edits = append(edits, edit{offset(i.Name.Pos()), offset(i.Name.End()), "_"})
		} else {
			edits = append(edits, edit{offset(i.Path.Pos()), offset(i.Path.Pos()), "_ "})
		}
	}
	sort.Slice(edits, func(a, b int) bool { return edits[a].from > edits[b].from })
	for _, e := range edits {
		src = append(src[:e.from:e.from], append([]byte(e.text), src[e.to:]...)...)
	}
	s.overlay[path] = src
}

// nameOf returns the name that an import has in its file.
func (s *stub) nameOf(i *ast.ImportSpec) string {
	if i.Name != nil {
		return i.Name.Name
	}
	if o, ok := s.pkg.TypesInfo.Implicits[i].(*types.PkgName); ok {
		return o.Name()
	}
	path, _ := strconv.Unquote(i.Path.Value)
	return path[strings.LastIndexByte(path, '/')+1:]
}

func contains(n ast.Node, found func(ast.Node) bool) bool {
	hit := false
	ast.Inspect(n, func(n ast.Node) bool {
		hit = hit || n != nil && found(n)
		return !hit
	})
	return hit
}

// outside calls f for the nodes of a declaration that are not in a function's body.
func outside(d ast.Decl, f func(ast.Node)) {
	ast.Inspect(d, func(n ast.Node) bool {
		if _, ok := n.(*ast.BlockStmt); ok || n == nil {
			return false
		}
		f(n)
		return true
	})
}

// stubSource declares empty types of the given names.
func stubSource(pkg string, names map[string]bool) []byte {
	sorted := make([]string, 0, len(names))
	for n := range names {
		sorted = append(sorted, n)
	}
	sort.Strings(sorted)
	var b strings.Builder
	b.WriteString("package " + pkg + "\n")
	for _, n := range sorted {
		b.WriteString("\ntype " + n + " struct{}\n")
	}
	return []byte(b.String())
}

func packageName(path string) string {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly)
	if err != nil {
		return ""
	}
	return f.Name.Name
}

// PartOf reports whether a file's name is that of a generated file with a suffix:
// model_steps.go goes with model.go.
func PartOf(path, main string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(main, ".go")+"_")
}

// IsGenerated reports whether fxgen wrote a file.
func IsGenerated(path string) bool {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil || len(f.Comments) == 0 {
		return false
	}
	return strings.HasPrefix(f.Comments[0].Text(), "Code generated by fxgen.")
}
