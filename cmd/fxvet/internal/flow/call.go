package flow

import (
	"go/types"
	"maps"
	"slices"
	"strconv"

	"golang.org/x/tools/go/ssa"
)

// edge is a call of a function with a body in the package.
type edge struct {
	from  *Func
	to    *Func
	args  []*Tree // by parameter and captured variable; nil for unknown ones
	local []bool  // the argument is the address of a variable of the caller
}

// given returns what the call gives in a slot of the function.
func (e edge) given(slot int) *Tree { return e.from.given(e.args, e.to.slots.list, slot) }

// given returns what arguments of a call in f give in a slot.
func (f *Func) given(args []*Tree, list []Slot, slot int) *Tree {
	if slot >= len(list) || list[slot].Param >= len(args) {
		return &Tree{}
	}
	t := args[list[slot].Param]
	for _, step := range list[slot].Path {
		t = t.at(step, &f.slots)
	}
	return t
}

// Callee returns the function that a call is of, and all that is handed to it: a bound
// receiver and captured variables, too. It is nil where only a run can tell.
func Callee(c ssa.CallInstruction) (fn *ssa.Function, args []ssa.Value) {
	common := c.Common()
	fn, args = common.StaticCallee(), common.Args
	if fn == nil {
		return nil, args
	}
	if m, ok := common.Value.(*ssa.MakeClosure); ok {
		if fn.Object() != nil { // a method value
			return fn, append(append([]ssa.Value(nil), m.Bindings...), args...)
		}
		args = append(append([]ssa.Value(nil), args...), m.Bindings...)
	}
	return fn, args
}

// Object returns the declared function or method that a function is, or is made of.
func Object(fn *ssa.Function) *types.Func {
	if fn == nil {
		return nil
	}
	obj, _ := fn.Object().(*types.Func)
	if obj == nil {
		return nil
	}
	return obj.Origin()
}

// body returns the function with a body that a function is an instance or wrapper of.
func (r *Result) body(fn *ssa.Function) *Func {
	if o := fn.Origin(); o != nil {
		fn = o
	}
	if f := r.byCode[fn]; f != nil {
		return f
	}
	if obj := Object(fn); obj != nil {
		return r.byCode[fn.Prog.FuncValue(obj)]
	}
	return nil
}

// call evaluates a call and returns what is known of its results.
func (f *Func) call(c ssa.CallInstruction) *Tree {
	common := c.Common()
	if b, ok := common.Value.(*ssa.Builtin); ok {
		return f.builtin(c, b.Name())
	}
	fn, args := Callee(c)
	trees := f.trees(args)
	if fn == nil {
		f.callbacks(c, nil)
		return f.unknown(c, trees)
	}
	if obj := Object(fn); obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == tensorPath {
		return f.library(c, obj, args, trees)
	}
	if to := f.r.body(fn); to != nil {
		f.callbacks(c, nil)
		return f.enter(to, args, trees)
	}
	f.callbacks(c, nil)
	if obj := Object(fn); obj != nil {
		var s Summary
		if f.r.pass.ImportObjectFact(obj, &s) {
			return f.apply(c, obj, &s, args, trees)
		}
	}
	return f.unknown(c, trees)
}

func (f *Func) trees(args []ssa.Value) []*Tree {
	out := make([]*Tree, len(args))
	for i, a := range args {
		out[i] = f.tree(a)
	}
	return out
}

// builtin evaluates a call of a built-in function.
func (f *Func) builtin(c ssa.CallInstruction, name string) *Tree {
	args := c.Common().Args
	switch name {
	case "append":
		out := &Tree{}
		out.join(f.tree(args[0]), maxDepth+1)
		if len(args) > 1 {
			out.join(f.tree(args[1]).elements(&f.slots), maxDepth+1)
		}
		return out
	case "copy":
		base, path := Base(args[0])
		f.moved = f.tree(base).putAt(append(path, "*"), f.tree(args[1]).at("*", &f.slots)) || f.moved
	}
	return nil
}

// unknown evaluates a call of a function that nobody can see into: what it returns may be
// computed from all that it is given.
func (f *Func) unknown(c ssa.CallInstruction, trees []*Tree) *Tree {
	if !holds(c.Common().Signature().Results()) {
		return nil
	}
	var flow uint64
	for _, t := range trees {
		flow |= t.flat().Flow
	}
	return &Tree{Bits: Bits{Flow: flow}, Below: Bits{Flow: flow}}
}

// enter evaluates a call of a function with a body in the package. Arguments that are not
// known are nil.
func (f *Func) enter(to *Func, args []ssa.Value, trees []*Tree) *Tree {
	to.callers[f] = true
	e := edge{from: f, to: to, args: trees, local: make([]bool, len(args))}
	for i, a := range args {
		e.local[i] = a != nil && Owner(a) == nil
	}
	f.edges = append(f.edges, e)
	f.putStored(to.sum.Stored, args, e.given)
	return to.sum.Result.replaced(e.given, maxDepth+1)
}

// putStored enters what a callee has put below its parameters.
func (f *Func) putStored(stored map[int]*Tree, args []ssa.Value, of func(slot int) *Tree) {
	for _, i := range slices.Sorted(maps.Keys(stored)) { // in order: slots are made on the way
		t := stored[i]
		if i < len(args) && args[i] != nil {
			base, path := Base(args[i])
			f.moved = f.tree(base).putAt(path, t.replaced(of, maxDepth)) || f.moved
		}
	}
}

// apply evaluates a call of a function of another package by its summary.
func (f *Func) apply(c ssa.CallInstruction, obj *types.Func, s *Summary, args []ssa.Value, trees []*Tree) *Tree {
	of := func(slot int) *Tree { return f.given(trees, s.Slots, slot) }
	f.putStored(s.Stored, args, of)
	if obj.Name() != "Forward" { // whose own package has its findings
		for _, e := range s.Reads {
			f.Reads = append(f.Reads, Read{c, e.What, e.Code, e.In, e.Bits.replaced(of)})
		}
		for _, e := range s.Writes {
			f.Writes = append(f.Writes, Write{c, e.What, e.In, e.Bits.replaced(of)})
		}
	}
	return s.Result.replaced(of, maxDepth+1)
}

// closure evaluates the making of a literal: its captured variables are known from here on.
func (f *Func) closure(m *ssa.MakeClosure) bool {
	out := &Tree{}
	for i, b := range m.Bindings {
		out.put("c"+strconv.Itoa(i), f.tree(b), maxDepth)
	}
	return f.tree(m).join(out, maxDepth)
}

// callbacks evaluates the literals among the arguments of a call, which the callee is taken
// to call; it gives them the same tree for each parameter, nil where nothing is known.
func (f *Func) callbacks(c ssa.CallInstruction, each *Tree) (results []*Tree) {
	for _, a := range c.Common().Args {
		if t := f.run(a, each); t != nil {
			results = append(results, t)
		}
	}
	return results
}

// run evaluates a call of a literal or function that is a value.
func (f *Func) run(v ssa.Value, each *Tree) *Tree {
	to, bindings := f.r.Literal(v)
	if to == nil {
		return nil
	}
	args := make([]ssa.Value, len(to.Fn.Params), len(to.Fn.Params)+len(bindings))
	args = append(args, bindings...)
	trees := make([]*Tree, len(args))
	for i, a := range args {
		if a != nil {
			trees[i] = f.tree(a)
		} else if each != nil {
			trees[i] = each
		}
	}
	return f.enter(to, args, trees)
}

// Literal returns the function of the package that a value is, and what it captures.
func (r *Result) Literal(v ssa.Value) (*Func, []ssa.Value) {
	for {
		switch x := v.(type) {
		case *ssa.MakeInterface:
			v = x.X
		case *ssa.ChangeType:
			v = x.X
		case *ssa.MakeClosure:
			return r.body(x.Fn.(*ssa.Function)), x.Bindings
		case *ssa.Function:
			return r.body(x), nil
		default:
			return nil, nil
		}
	}
}
