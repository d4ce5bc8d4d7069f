package flow

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// Module is the import path that the packages of gofx begin with.
const Module = "github.com/gofx-dev/gofx/"

// tensorPath is the import path of package tensor, whose code is described by its own marks
// and not analysed.
const tensorPath = Module + "tensor"

// Analyzer computes a *Result for each package that imports package tensor, nil for others:
// no form is built of a package that has nothing to do with models.
var Analyzer = &analysis.Analyzer{
	Name:       "fxflow",
	Doc:        "fxflow finds what becomes of the inputs of captured functions; the other analyzers of fxvet stand on it",
	URL:        "https://github.com/gofx-dev/gofx/blob/main/docs/fxvet.md",
	Run:        run,
	ResultType: reflect.TypeFor[*Result](),
	FactTypes:  []analysis.Fact{new(Summary)},
}

// Result is what is known of one package.
type Result struct {
	Funcs  []*Func                      // in the order of the source, literals after what they are in
	Exprs  map[token.Pos]*ast.CallExpr  // calls by their opening parenthesis
	Paths  map[*ast.CallExpr][]ast.Node // what a call stands in, the file first
	byCode map[*ssa.Function]*Func      // of bodies
	pass   *analysis.Pass
	files  map[string]bool // generated ones
}

// Imports reports whether a package imports package tensor itself.
func Imports(pkg *types.Package) bool {
	for _, p := range pkg.Imports() {
		if p.Path() == tensorPath {
			return true
		}
	}
	return false
}

func run(pass *analysis.Pass) (any, error) {
	if !Imports(pass.Pkg) {
		return (*Result)(nil), nil
	}
	r := &Result{byCode: map[*ssa.Function]*Func{}, pass: pass}
	r.syntax()
	r.build()
	r.summarise()
	r.enter()
	r.export()
	return r, nil
}

// build makes the single static assignment form of the package.
func (r *Result) build() {
	prog := ssa.NewProgram(r.pass.Fset, 0)
	for _, p := range r.pass.Pkg.Imports() {
		prog.CreatePackage(p, nil, nil, true)
	}
	pkg := prog.CreatePackage(r.pass.Pkg, r.pass.Files, r.pass.TypesInfo, false)
	pkg.Build()
	for _, file := range r.pass.Files {
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				if fn := prog.FuncValue(r.pass.TypesInfo.Defs[d.Name].(*types.Func)); fn != nil {
					r.add(fn)
				}
			}
		}
	}
	if init := pkg.Func("init"); init != nil {
		r.add(init)
	}
}

// add enters a function and the literals in it.
func (r *Result) add(fn *ssa.Function) {
	if r.byCode[fn] != nil {
		return
	}
	f := &Func{Fn: fn, r: r, values: map[ssa.Value]*Tree{}, sum: &Summary{Result: &Tree{}, Stored: map[int]*Tree{}}, callers: map[*Func]bool{}}
	r.Funcs = append(r.Funcs, f)
	r.byCode[fn] = f
	for i, p := range f.params() {
		f.values[p] = &Tree{}
		if holds(p.Type()) {
			f.values[p] = symbol(f.slots.of(i, nil))
		}
	}
	for _, a := range fn.AnonFuncs {
		r.add(a)
	}
}

// syntax notes where calls stand, and which files are generated.
func (r *Result) syntax() {
	r.Exprs, r.Paths, r.files = map[token.Pos]*ast.CallExpr{}, map[*ast.CallExpr][]ast.Node{}, map[string]bool{}
	for _, f := range r.pass.Files {
		r.files[r.File(f.Pos())] = ast.IsGenerated(f)
		var path []ast.Node
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				path = path[:len(path)-1]
				return true
			}
			path = append(path, n)
			if c, ok := n.(*ast.CallExpr); ok {
				r.Exprs[c.Lparen] = c
				r.Paths[c] = append([]ast.Node(nil), path...)
			}
			return true
		})
	}
}

// File returns the name of the file of a position.
func (r *Result) File(p token.Pos) string { return r.pass.Fset.File(p).Name() }

// Test reports whether a position is in a test.
func (r *Result) Test(p token.Pos) bool { return strings.HasSuffix(r.File(p), "_test.go") }

// Generated reports whether a position is in a file that a program has written.
func (r *Result) Generated(p token.Pos) bool { return r.files[r.File(p)] }

// summarise evaluates functions until no summary changes.
func (r *Result) summarise() {
	const most = 40 // evaluations of one function: trees have bounds, and joins only add to them
	count := map[*Func]int{}
	work := append([]*Func(nil), r.Funcs...)
	queued := map[*Func]bool{}
	for _, f := range work {
		queued[f] = true
	}
	for len(work) > 0 {
		f := work[0]
		work = work[1:]
		queued[f] = false
		if count[f]++; count[f] > most || !f.evaluate() {
			continue
		}
		for _, g := range r.Funcs {
			if f.callers[g] && !queued[g] {
				queued[g] = true
				work = append(work, g)
			}
		}
	}
}

// holds reports whether values of a type can hold tensors or sizes.
func holds(t types.Type) bool { return reaches(t, map[types.Type]bool{}) }

func reaches(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	if named, ok := types.Unalias(t).(*types.Named); ok {
		if p := named.Obj().Pkg(); p != nil && p.Path() == tensorPath {
			return true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return reaches(u.Elem(), seen)
	case *types.Slice:
		return reaches(u.Elem(), seen)
	case *types.Array:
		return reaches(u.Elem(), seen)
	case *types.Chan:
		return reaches(u.Elem(), seen)
	case *types.Map:
		return reaches(u.Elem(), seen)
	case *types.Interface:
		return true
	case *types.Struct:
		for f := range u.Fields() {
			if reaches(f.Type(), seen) {
				return true
			}
		}
	case *types.Tuple:
		for v := range u.Variables() {
			if reaches(v.Type(), seen) {
				return true
			}
		}
	}
	return false
}
