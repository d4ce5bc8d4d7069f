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

// Number is a field, or a parameter of the function, of which all that code does is to compute with it and constants,
// and to give the result to an operator as a number. Nothing else depends on it: no branch, no store, no length.
type Number struct {
	Type, Name string // of the field; Type is "" for a parameter
	Param      int    // of the function, its receiver first
	Exprs      []Expr // what operators are given, each once
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

// numbers finds the fields that are numbers as far as the function goes.
func (f *facts) numbers() {
	found := map[fieldKey]int{}
	exprs := map[fieldKey][]Expr{}
	for _, b := range f.fn.Blocks {
		if f.skip[b] || b == f.fn.Recover {
			continue
		}
		for _, i := range b.Instrs {
			load, ok := i.(*ssa.UnOp)
			if !ok || load.Op != token.MUL {
				continue
			}
			at, ok := load.X.(*ssa.FieldAddr)
			if !ok || f.fresh(at) {
				continue
			}
			if list, ok := f.flow(load); ok {
				k := keyOf(pointee(at.X.Type()), at.Field)
				found[k]++
				exprs[k] = append(exprs[k], list...)
			}
		}
	}
	for k, n := range found {
		if n == f.uses[k] {
			f.given[k] = distinct(exprs[k])
		}
	}
}

func distinct(list []Expr) (all []Expr) {
	for _, e := range list {
		if !slices.ContainsFunc(all, func(o Expr) bool { return slices.Equal(e, o) }) {
			all = append(all, e)
		}
	}
	return all
}

// flow follows a number to the operators that it is given to. ok is false where it goes anywhere else.
func (f *facts) flow(v ssa.Value) (all []Expr, ok bool) {
	if numeric(v.Type()) == "" {
		return nil, false
	}
	return all, f.follow(v, nil, &all)
}

func (f *facts) follow(v ssa.Value, e Expr, all *[]Expr) bool {
	for _, r := range *v.Referrers() {
		if f.skip[r.Block()] { // a call that panics leaves no record
			continue
		}
		switch r := r.(type) {
		case *ssa.DebugRef:
			continue
		case *ssa.Call:
			if !takes(r, v) {
				return false
			}
			*all = append(*all, slices.Clone(e))
			continue
		case *ssa.MakeInterface, *ssa.ChangeType:
			if !f.follow(r.(ssa.Value), e, all) {
				return false
			}
			continue
		}
		t, ok := termOf(r, v)
		if !ok || t.rounds() && slices.ContainsFunc(e, Term.rounds) || !f.follow(r.(ssa.Value), append(slices.Clone(e), t), all) {
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
	root := w.p.of(w.root)
	for fn := range w.seen {
		if slices.ContainsFunc(w.p.of(fn).calls, func(c called) bool { return c.fn == w.root }) { // other code gives them, too
			return nil
		}
	}
	for i, v := range w.root.Params {
		if exprs, ok := root.flow(v); ok && len(exprs) > 0 {
			list = append(list, Number{Name: v.Name(), Param: i, Exprs: distinct(exprs)})
		}
	}
	return list
}

// numbers lists the fields and parameters that are numbers.
func (w *walk) numbers() (list []Number) {
	for k, exprs := range w.all.given {
		if w.all.fields[k] == Load && w.all.uses[k] == 0 && len(exprs) > 0 {
			list = append(list, Number{Type: k.owner, Name: k.name, Exprs: distinct(exprs)})
		}
	}
	return append(list, w.parameters()...)
}
