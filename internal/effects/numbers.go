package effects

import (
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Element is the Name of a Number that is the elements of a type.
const Element = "[]"

// Number is a field, a variable, the elements of a type, or a parameter of the function, of which all that code does is to compute with it and constants,
// to give the result to an operator as a number, and to compare it with a constant. Nothing else depends on it: no store, no length.
type Number struct {
	Type, Name string // of the field; Type is "" for a parameter and for a variable, which has its path in Name
	Param      int    // of the function, its receiver first; -1 for any other word
	Exprs      []Expr // what operators are given, each once
	Tests      []Test // what is compared, each once
}

// Test is a comparison of an expression with a constant.
type Test struct {
	Expr Expr
	Op   string // "==", "!=", "<", "<=", ">", ">="
	By   uint64 // the constant, as in Term
}

func (n Number) text() string {
	switch {
	case n.Name == Element:
		return "elements of " + Short(n.Type)
	case n.Type != "":
		return Short(n.Type) + "." + n.Name
	case n.Param < 0:
		return Short(n.Name)
	}
	return n.Name
}

// Expr is the arithmetic that is done with a number, in this order.
type Expr []Term

// Term is a step of an Expr.
type Term struct {
	Kind string // of the result: "float64"
	Op   string // "convert", "neg", "+", "-", "*", "/"
	By   uint64 // the constant: the bits of a float64, of an int64 or of a uint64
	Left bool   // the constant is the left operand
}

// given are the words of which all that a function does is to give them to operators and to compare them: of fields by their keys, of
// variables by these, of elements by the names of the types that have them.
type given map[any]*flowed

// flowed is what operators are given of a number, and what is compared.
type flowed struct {
	exprs []Expr
	tests []Test
}

// empty reports whether a word is no number, or code does nothing with it.
func (f *flowed) empty() bool { return f == nil || len(f.exprs)+len(f.tests) == 0 }

func (f *flowed) add(o flowed) {
	f.exprs, f.tests = append(f.exprs, o.exprs...), append(f.tests, o.tests...)
}

// add enters what another function does; a word is a number where all functions agree.
func (g given) add(k any, o *flowed) {
	if old, met := g[k]; o == nil || met && old == nil {
		g[k] = nil
	} else {
		all := &flowed{}
		if met {
			all.add(*old)
		}
		all.add(*o)
		g[k] = all
	}
}

// distinct has each expression and test once.
func (f *flowed) distinct() (exprs []Expr, tests []Test) {
	for _, e := range f.exprs {
		if !slices.ContainsFunc(exprs, func(o Expr) bool { return slices.Equal(e, o) }) {
			exprs = append(exprs, e)
		}
	}
	for _, t := range f.tests {
		if !slices.ContainsFunc(tests, func(o Test) bool { return t.Op == o.Op && t.By == o.By && slices.Equal(t.Expr, o.Expr) }) {
			tests = append(tests, t)
		}
	}
	return exprs, tests
}

// wordOf is the key of the word at an address, nil for what is none.
func (f *facts) wordOf(addr ssa.Value) any {
	switch v := addr.(type) {
	case *ssa.FieldAddr:
		if !f.fresh(v) {
			return keyOf(pointee(v.X.Type()), v.Field)
		}
	case *ssa.Global:
		if !f.record(v) {
			return v
		}
	case *ssa.IndexAddr:
		if !f.fresh(v) {
			return TypeName(indexed(v))
		}
	}
	return nil
}

// numbers finds the words that are numbers as far as the function goes.
func (f *facts) numbers() {
	found := map[any]int{}
	all := map[any]*flowed{}
	for _, b := range f.fn.Blocks {
		if f.skip[b] || b == f.fn.Recover {
			continue
		}
		for _, i := range b.Instrs {
			load, ok := i.(*ssa.UnOp)
			if !ok || load.Op != token.MUL {
				continue
			}
			k := f.wordOf(load.X)
			if k == nil {
				continue
			}
			if o, ok := f.p.flow(load); ok {
				if found[k]++; all[k] == nil {
					all[k] = &flowed{}
				}
				all[k].add(o)
			}
		}
	}
	for k, n := range found {
		if n == f.uses[k] {
			f.given[k] = all[k]
		}
	}
}

// flow follows a number to the operators that it is given to. ok is false where it goes anywhere else.
func (p *Loaded) flow(v ssa.Value) (all flowed, ok bool) {
	if numeric(v.Type()) == "" {
		return all, false
	}
	w := flow{p: p}
	ok = w.follow(v, nil)
	return w.all, ok
}

// flow is a way of a number through functions.
type flow struct {
	p     *Loaded
	calls []*ssa.Call // by which the number has come into a function
	all   flowed
}

// maxCalls is the most functions that a number is followed into, one within another.
const maxCalls = 8

func (w *flow) follow(v ssa.Value, e Expr) bool {
	for _, r := range *v.Referrers() {
		if w.p.dead(r.Block()) { // a call that panics leaves no record
			continue
		}
		switch r := r.(type) {
		case *ssa.DebugRef:
			continue
		case *ssa.Call:
			if takes(r, v) {
				w.all.exprs = append(w.all.exprs, slices.Clone(e))
			} else if !w.into(r, v, e) {
				return false
			}
			continue
		case *ssa.BinOp:
			if t, ok := testOf(r, v); ok {
				t.Expr = slices.Clone(e)
				w.all.tests = append(w.all.tests, t)
				continue
			}
		case *ssa.Return:
			if !w.back(r, v, e) {
				return false
			}
			continue
		case *ssa.MakeInterface, *ssa.ChangeType:
			if !w.follow(r.(ssa.Value), e) {
				return false
			}
			continue
		}
		t, ok := termOf(r, v)
		if !ok || t.rounds() && slices.ContainsFunc(e, Term.rounds) || !w.follow(r.(ssa.Value), append(slices.Clone(e), t)) {
			return false
		}
	}
	return true
}

// into follows an argument into a function of which the code is known.
func (w *flow) into(c *ssa.Call, v ssa.Value, e Expr) bool {
	fn := c.Call.StaticCallee()
	if fn == nil || len(fn.Blocks) == 0 || w.p.trusted[pathOf(fn)] || len(c.Call.Args) != len(fn.Params) || len(w.calls) == maxCalls ||
		slices.ContainsFunc(w.calls, func(o *ssa.Call) bool { return o.Call.StaticCallee() == fn }) {
		return false
	}
	w.calls = append(w.calls, c)
	defer func() { w.calls = w.calls[:len(w.calls)-1] }()
	for i, a := range c.Call.Args {
		if a == v && !w.follow(fn.Params[i], e) {
			return false
		}
	}
	return true
}

// back follows a result to the call by which the number has come.
func (w *flow) back(r *ssa.Return, v ssa.Value, e Expr) bool {
	n := len(w.calls)
	if n == 0 {
		return false
	}
	c := w.calls[n-1]
	w.calls = w.calls[:n-1]
	defer func() { w.calls = append(w.calls, c) }()
	if len(r.Results) == 1 {
		return w.follow(c, e)
	}
	for _, x := range *c.Referrers() {
		if w.p.dead(x.Block()) {
			continue
		}
		if x, ok := x.(*ssa.Extract); !ok || r.Results[x.Index] == v && !w.follow(x, e) {
			return false
		}
	}
	return true
}

// rounds reports whether a step is arithmetic of floats. Compilers may fuse two of them, with other bits.
func (t Term) rounds() bool { return t.Kind[0] == 'f' && t.Op != "convert" && t.Op != "neg" }

// numeric is the name of the basic type of a number, "" for other types.
func numeric(t types.Type) string {
	b, ok := t.Underlying().(*types.Basic)
	if !ok || b.Info()&(types.IsInteger|types.IsFloat) == 0 || b.Info()&types.IsUntyped != 0 || b.Kind() == types.Uintptr {
		return ""
	}
	return types.Typ[b.Kind()].Name()
}

// termOf is what an instruction computes with a number.
func termOf(i ssa.Instruction, v ssa.Value) (t Term, ok bool) {
	switch i := i.(type) {
	case *ssa.Convert:
		t = Term{Kind: numeric(i.Type()), Op: "convert"}
		from := numeric(v.Type())
		return t, t.Kind != "" && (from[0] != 'f' || t.Kind[0] == 'f') // how floats become ints depends on the machine
	case *ssa.UnOp:
		return Term{Kind: numeric(i.Type()), Op: "neg"}, i.Op == token.SUB
	case *ssa.BinOp:
		t = Term{Kind: numeric(i.Type()), Op: i.Op.String()}
		c, right := i.Y.(*ssa.Const)
		if !right {
			if c, t.Left = i.X.(*ssa.Const); !t.Left {
				return t, false
			}
		}
		if t.Kind == "" || !slices.Contains([]string{"+", "-", "*", "/"}, t.Op) {
			return t, false
		}
		t.By = bitsOf(c, t.Kind)
		whole := t.Kind[0] != 'f'
		return t, !whole || t.Op != "/" || !t.Left && t.By != 0
	}
	return t, false
}

// turned are comparisons with their operands in the other order.
var turned = map[token.Token]token.Token{token.EQL: token.EQL, token.NEQ: token.NEQ, token.LSS: token.GTR, token.LEQ: token.GEQ, token.GTR: token.LSS, token.GEQ: token.LEQ}

// testOf is the comparison of a number with a constant.
func testOf(b *ssa.BinOp, v ssa.Value) (t Test, ok bool) {
	op, ok := turned[b.Op]
	if !ok {
		return t, false
	}
	c, left := b.X.(*ssa.Const)
	if !left {
		if c, ok = b.Y.(*ssa.Const); !ok {
			return t, false
		}
		op = b.Op
	}
	kind := numeric(v.Type())
	return Test{Op: op.String(), By: bitsOf(c, kind)}, kind != ""
}

// bitsOf are the bits of a constant.
func bitsOf(c *ssa.Const, kind string) uint64 {
	switch kind[0] {
	case 'f':
		x, _ := constant.Float64Val(c.Value)
		if kind == "float32" {
			y, _ := constant.Float32Val(c.Value)
			x = float64(y)
		}
		return math.Float64bits(x)
	case 'u':
		return c.Uint64()
	}
	return uint64(c.Int64())
}

// takes reports whether a call is one of an operator, to which it gives a value as a number: its attributes have it as
// it is. Sizes, axes and lists have other forms there.
func takes(c *ssa.Call, v ssa.Value) bool {
	fn := c.Call.StaticCallee()
	if fn == nil || pathOf(fn) != tensorPath {
		return false
	}
	if k := key(fn); k == "Scalar" {
		return true
	} else if handwritten(k) {
		return false
	}
	args := c.Call.Args
	if fn.Signature.Recv() != nil {
		args = args[1:]
	}
	for i, a := range args {
		if a == v && !takesNumber(fn.Signature.Params().At(i)) {
			return false
		}
	}
	t := treatment(fn)
	return t == operates || t == writes
}

// handwritten reports whether a function of package tensor is no generated one.
func handwritten(k string) bool {
	for _, list := range byHand {
		if slices.Contains(strings.Fields(list), k) {
			return true
		}
	}
	return false
}

// takesNumber reports whether a parameter of an operator's function is a number of its attributes.
func takesNumber(p *types.Var) bool {
	if b, ok := p.Type().(*types.Basic); ok {
		return b.Kind() == types.Float64
	}
	return types.IsInterface(p.Type()) && slices.Contains([]string{"v", "value", "min", "max"}, p.Name())
}

// parameters finds the parameters of the root that are numbers.
func (w *walk) parameters() (list []Number) {
	for fn := range w.seen {
		if slices.ContainsFunc(w.p.of(fn).calls, func(c called) bool { return c.fn == w.root }) { // other code gives them, too
			return nil
		}
	}
	for i, v := range w.root.Params {
		if o, ok := w.p.flow(v); ok && !o.empty() {
			n := Number{Name: v.Name(), Param: i}
			n.Exprs, n.Tests = o.distinct()
			list = append(list, n)
		}
	}
	return list
}

// numbers lists the words that are numbers.
func (w *walk) numbers(globals []Global) (list []Number) {
	a := w.all
	for k, o := range a.given {
		if o.empty() || a.uses[k] > 0 {
			continue
		}
		n := Number{Param: -1}
		n.Exprs, n.Tests = o.distinct()
		switch k := k.(type) {
		case fieldKey:
			if n.Type, n.Name = k.owner, k.name; a.fields[k] != Load {
				continue
			}
		case *ssa.Global:
			n.Name = k.Pkg.Pkg.Path() + "." + k.Name()
			if !slices.ContainsFunc(globals, func(g Global) bool { return g.Name == n.Name && g.Access == Load }) {
				continue
			}
		case string:
			if n.Type, n.Name = k, Element; a.elems[k]&^Len != Load || w.otherName(k) {
				continue
			}
		}
		list = append(list, n)
	}
	return append(list, w.parameters()...)
}

// otherName reports whether the memory of elements may be met under another type.
func (w *walk) otherName(k string) bool {
	t := w.all.kinds[k]
	for o := range w.all.elems {
		if o != k && types.Identical(w.all.kinds[o].Underlying(), t.Underlying()) {
			return true
		}
	}
	return false
}
