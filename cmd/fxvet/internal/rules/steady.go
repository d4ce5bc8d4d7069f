package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/gofx-dev/gofx/cmd/fxvet/internal/flow"
	"github.com/gofx-dev/gofx/tracer"
)

// Steady reports what makes a function give another graph at each call.
var Steady = rule("fxsteady", "reports orders of maps, random numbers, times, the environment and counters that reach operators", steady)

func steady(c *check) {
	for _, f := range c.flow.Funcs {
		if !f.Reached() {
			continue
		}
		found := map[*ast.RangeStmt]bool{}
		for _, b := range f.Fn.Blocks {
			for _, in := range b.Instrs {
				if call, ok := in.(*ssa.Call); ok {
					c.ordered(f, call, found)
					c.changing(f, call)
				}
			}
		}
	}
}

// ordered reports the first call in a range over a map that the order reaches: of a traced
// value, or append to a list of tensors.
func (c *check) ordered(f *flow.Func, call *ssa.Call, found map[*ast.RangeStmt]bool) {
	expr := c.flow.Exprs[call.Pos()]
	if expr == nil || !flow.MadeOfTensors(call.Type()) && !severalTensors(call.Type()) {
		return
	}
	traced := slices.ContainsFunc(call.Call.Args, func(a ssa.Value) bool { return f.Traced(f.Of(a)) })
	loop := c.mapRange(expr)
	if !traced || loop == nil || found[loop] {
		return
	}
	what := c.text(expr.Fun)
	if b, ok := call.Call.Value.(*ssa.Builtin); ok {
		if b.Name() != "append" || c.sorted(expr) {
			return
		}
	}
	found[loop] = true
	c.report(expr, tracer.Unsteady, what+" is called in the order of a map", c.sortFix(loop)...)
}

// severalTensors reports whether a call has several results and the first is made of tensors.
func severalTensors(t types.Type) bool {
	tuple, ok := t.(*types.Tuple)
	return ok && tuple.Len() > 0 && flow.MadeOfTensors(tuple.At(0).Type())
}

// mapRange returns the range over a map that a call is in, nil where a comparison of the key
// decides whether it is made.
func (c *check) mapRange(call *ast.CallExpr) *ast.RangeStmt {
	compared := map[types.Object]bool{}
	for _, p := range c.parents(call) {
		switch p := p.(type) {
		case *ast.FuncLit:
			return nil
		case *ast.IfStmt:
			c.named(p.Cond, compared)
		case *ast.SwitchStmt:
			c.named(p.Tag, compared)
		case *ast.RangeStmt:
			if _, ok := c.TypesInfo.TypeOf(p.X).Underlying().(*types.Map); !ok || call.Pos() < p.Body.Pos() {
				continue
			}
			if id, ok := p.Key.(*ast.Ident); ok && compared[c.TypesInfo.ObjectOf(id)] {
				return nil
			}
			return p
		}
	}
	return nil
}

// named notes the variables of an expression.
func (c *check) named(e ast.Expr, in map[types.Object]bool) {
	if e == nil {
		return
	}
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			in[c.TypesInfo.ObjectOf(id)] = true
		}
		return true
	})
	delete(in, nil)
}

// sorted reports whether the list that a call of append makes longer is sorted somewhere in
// the function.
func (c *check) sorted(call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Args[0]).(*ast.Ident)
	if !ok {
		return false
	}
	list := c.TypesInfo.ObjectOf(id)
	found := false
	for _, p := range c.parents(call) {
		fn, ok := p.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			other, ok := n.(*ast.CallExpr)
			if !ok || len(other.Args) == 0 {
				return true
			}
			obj, ok := c.flow.Callee(other)
			if !ok || obj.Pkg() == nil || obj.Pkg().Path() != "slices" && obj.Pkg().Path() != "sort" {
				return true
			}
			if arg, ok := ast.Unparen(other.Args[0]).(*ast.Ident); ok && c.TypesInfo.ObjectOf(arg) == list {
				found = true
			}
			return true
		})
	}
	return found
}

// sortFix ranges over the sorted keys of a map.
func (c *check) sortFix(loop *ast.RangeStmt) []analysis.SuggestedFix {
	key := c.TypesInfo.TypeOf(loop.X).Underlying().(*types.Map).Key()
	basic, ok := key.Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsOrdered == 0 || loop.Key == nil || loop.Tok != token.DEFINE {
		return nil
	}
	sorted, more1 := c.imported(loop.Pos(), "slices")
	keys, more2 := c.imported(loop.Pos(), "maps")
	switch loop.X.(type) {
	case *ast.Ident, *ast.SelectorExpr:
	default:
		return nil // what is computed is computed once
	}
	if sorted == "" || keys == "" {
		return nil
	}
	of := c.text(loop.X)
	name, value := c.ident(loop.Key), c.ident(loop.Value)
	if name == "" {
		if name = "key"; c.taken(loop, name) {
			return nil
		}
	}
	edits := append(more1, more2...)
	edits = append(edits, analysis.TextEdit{Pos: loop.Key.Pos(), End: loop.X.End(),
		NewText: []byte("_, " + name + " := range " + sorted + ".Sorted(" + keys + ".Keys(" + of + "))")})
	if value != "" {
		edits = append(edits, analysis.TextEdit{Pos: loop.Body.Lbrace + 1, End: loop.Body.Lbrace + 1,
			NewText: []byte("\n" + value + " := " + of + "[" + name + "]")})
	}
	return fix("Range over the sorted keys", edits...)
}

// ident returns the name of a variable, "" for none.
func (c *check) ident(e ast.Expr) string {
	if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
		return id.Name
	}
	return ""
}

// taken reports whether a name means something where a loop is, or in it.
func (c *check) taken(loop *ast.RangeStmt, name string) (taken bool) {
	ast.Inspect(loop, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			taken = true
		}
		return true
	})
	return taken
}

// imported returns the name of a package in a file, with the edit that imports it where the
// file does not; "" when that is not possible.
func (c *check) imported(at token.Pos, pkg string) (string, []analysis.TextEdit) {
	if name := c.name(at, pkg); name != "" {
		return name, nil
	}
	short := pkg[strings.LastIndexByte(pkg, '/')+1:]
	if c.Pkg.Scope().Lookup(short) != nil {
		return "", nil
	}
	for _, f := range c.Files {
		if f.FileStart > at || at > f.FileEnd {
			continue
		}
		if inner := c.Pkg.Scope().Innermost(at); inner != nil {
			if _, obj := inner.LookupParent(short, at); obj != nil {
				return "", nil
			}
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				if g.Lparen.IsValid() {
					return short, []analysis.TextEdit{{Pos: g.Lparen + 1, End: g.Lparen + 1, NewText: []byte("\n\t\"" + pkg + "\"")}}
				}
				return short, []analysis.TextEdit{{Pos: g.Pos(), End: g.Pos(), NewText: []byte("import \"" + pkg + "\"\n")}}
			}
		}
	}
	return "", nil
}

// changing reports numbers among the arguments of an operator that differ from call to call.
func (c *check) changing(f *flow.Func, call *ssa.Call) {
	fn, args := flow.Callee(call)
	expr := c.flow.Exprs[call.Pos()]
	if expr == nil || flow.Operator(flow.Object(fn)) == nil || !slices.ContainsFunc(args, func(a ssa.Value) bool { return f.Traced(f.Of(a)) }) {
		return
	}
	for _, a := range args {
		if flow.IsTensor(a.Type()) {
			continue
		}
		s := search{f: f, seen: map[ssa.Value]bool{}}
		if what := s.from(a, 12); what != "" {
			c.report(expr, tracer.Unsteady, what+" differs from call to call")
		}
	}
}

// search looks for where a number comes from.
type search struct {
	f    *flow.Func
	seen map[ssa.Value]bool
}

func (s search) from(v ssa.Value, depth int) string {
	if depth == 0 || s.seen[v] {
		return ""
	}
	s.seen[v] = true
	switch v := v.(type) {
	case *ssa.BinOp:
		if s.counts(v) {
			return "a counter"
		}
		return s.any(depth, v.X, v.Y)
	case *ssa.UnOp:
		if v.Op != token.MUL {
			return s.from(v.X, depth-1)
		}
		if s.counter(v.X) {
			return "a counter"
		}
	case *ssa.Convert:
		return s.from(v.X, depth-1)
	case *ssa.ChangeType:
		return s.from(v.X, depth-1)
	case *ssa.MakeInterface:
		return s.from(v.X, depth-1)
	case *ssa.Extract:
		return s.from(v.Tuple, depth-1)
	case *ssa.Slice: // arguments of ...any
		return s.elements(v, depth)
	case *ssa.Call:
		return s.call(v, depth)
	}
	return ""
}

func (s search) any(depth int, of ...ssa.Value) string {
	for _, v := range of {
		if what := s.from(v, depth-1); what != "" {
			return what
		}
	}
	return ""
}

// elements looks into a list that is written out.
func (s search) elements(v *ssa.Slice, depth int) string {
	if v.X.Referrers() == nil {
		return ""
	}
	for _, ref := range *v.X.Referrers() {
		if at, ok := ref.(*ssa.IndexAddr); ok {
			for _, use := range *at.Referrers() {
				if st, ok := use.(*ssa.Store); ok && st.Addr == at {
					if what := s.from(st.Val, depth-1); what != "" {
						return what
					}
				}
			}
		}
	}
	return ""
}

// draws are the functions whose results differ from call to call, by package.
var draws = map[string][]string{
	"time": {"Now", "Since", "Until"},
	"os":   {"Getenv", "LookupEnv", "Environ", "Getpid", "Hostname"},
}

func (s search) call(v *ssa.Call, depth int) string {
	fn, args := flow.Callee(v)
	obj := flow.Object(fn)
	if obj == nil || obj.Pkg() == nil {
		return ""
	}
	path, method := obj.Pkg().Path(), obj.Signature().Recv() != nil
	random := path == "math/rand" || path == "math/rand/v2"
	switch {
	case slices.Contains(draws[path], obj.Name()) && !method, random && !method && !strings.HasPrefix(obj.Name(), "New"):
		return obj.Pkg().Name() + "." + obj.Name()
	case random && method:
		if base, _ := flow.Base(args[0]); !made(base) {
			return "a random number of a generator that lasts from call to call"
		}
	case path == "time" || path == "math" || path == "strconv":
		return s.any(depth, args...)
	}
	return ""
}

// made reports whether a generator is made in the function itself, so that it draws the same
// numbers at each call.
func made(v ssa.Value) bool {
	switch v.(type) {
	case *ssa.Parameter, *ssa.FreeVar, *ssa.Global:
		return false
	}
	return true
}

// counts reports whether a number is what a counter is set to.
func (s search) counts(v *ssa.BinOp) bool {
	for _, ref := range *v.Referrers() {
		if st, ok := ref.(*ssa.Store); ok && s.lasts(st.Addr) && (loads(v.X, st.Addr) || loads(v.Y, st.Addr)) {
			return true
		}
	}
	return false
}

// counter reports whether the function counts at an address: sets it to a number computed from
// what is there.
func (s search) counter(addr ssa.Value) bool {
	if !s.lasts(addr) {
		return false
	}
	for _, b := range s.f.Fn.Blocks {
		for _, in := range b.Instrs {
			if st, ok := in.(*ssa.Store); ok && same(st.Addr, addr) {
				if sum, ok := st.Val.(*ssa.BinOp); ok && (loads(sum.X, addr) || loads(sum.Y, addr)) {
					return true
				}
			}
		}
	}
	return false
}

// lasts reports whether an address is in the captured module or a global variable.
func (s search) lasts(addr ssa.Value) bool {
	owner := flow.Owner(addr)
	if owner == nil {
		return false
	}
	_, global := owner.(*ssa.Global)
	return global || s.f.Held(s.f.Self(owner))
}

// loads reports whether a value is loaded from an address.
func loads(v, addr ssa.Value) bool {
	u, ok := v.(*ssa.UnOp)
	return ok && u.Op == token.MUL && same(u.X, addr)
}

// same reports whether two addresses are the same place.
func same(a, b ssa.Value) bool {
	if a == b {
		return true
	}
	ab, ap := flow.Base(a)
	bb, bp := flow.Base(b)
	return ab == bb && slices.Equal(ap, bp) && !slices.Contains(ap, "*")
}
