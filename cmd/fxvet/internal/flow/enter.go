package flow

import (
	"go/ast"
	"go/constant"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// entry are the slots of a function that the trace gives something in, at one of the calls
// that begin with a captured function.
type entry struct {
	flow uint64 // traced values
	same uint64 // inputs, or views of them
	held uint64 // the captured module, or what it holds
	root bool
}

// Traced reports whether bits of a function are those of a value that a trace has no data of.
func (f *Func) Traced(b Bits) bool { return b.Flow&f.entry.flow != 0 }

// Input reports whether bits are those of memory of an input.
func (f *Func) Input(b Bits) bool { return b.Same&f.entry.same != 0 }

// Held reports whether bits are those of the captured module or of what it holds.
func (f *Func) Held(b Bits) bool { return b.Same&f.entry.held != 0 }

// Own reports whether bits of a method are those of its receiver, or of what that holds.
func (f *Func) Own(b Bits) bool { return b.Same&f.slotsOf(0) != 0 }

// Reached reports whether a captured function calls the function.
func (f *Func) Reached() bool { return f.entry.root || f.entry.flow|f.entry.held != 0 }

// Root reports whether the function is a captured one itself.
func (f *Func) Root() bool { return f.entry.root }

// enter finds the captured functions of the package and follows their calls.
func (r *Result) enter() {
	for range maxDepth { // all slots exist before they are given something
		for _, f := range r.Funcs {
			for _, e := range f.edges {
				for i := range e.to.slots.list {
					e.given(i)
				}
			}
		}
	}
	for _, f := range r.Funcs {
		if obj := Object(f.Fn); obj != nil && obj.Name() == "Forward" && receiver(obj) != "" && f.Fn.Parent() == nil && !r.Test(f.Fn.Pos()) {
			r.root(f)
		}
		for _, b := range f.Fn.Blocks {
			for _, in := range b.Instrs {
				if c, ok := in.(ssa.CallInstruction); ok {
					if arg := Captures(c); arg != nil {
						r.captured(c, arg)
					}
				}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, f := range r.Funcs {
			if f.Reached() {
				for _, e := range f.edges {
					changed = f.pass(e) || changed
				}
			}
		}
	}
}

// capturing are the functions that capture one of their arguments: its index, a receiver
// counted.
var capturing = map[string]int{"fx.Trace": 1, "lazy.Session.Program": 1, "tracer.Tracer.Trace": 2, "tracer.Tracer.TraceSteady": 2}

// Captures returns the function or module that a call captures, nil when it captures none.
func Captures(c ssa.CallInstruction) ssa.Value {
	fn, args := Callee(c)
	obj := Object(fn)
	if obj == nil || obj.Pkg() == nil {
		return nil
	}
	for name, i := range capturing {
		if Is(obj, name) && i < len(args) {
			return args[i]
		}
	}
	return nil
}

// captured makes a root of what a call captures.
func (r *Result) captured(c ssa.CallInstruction, arg ssa.Value) {
	if f, _ := r.Literal(arg); f != nil {
		if f.Fn.Object() != nil && f.Fn.Signature.Recv() != nil {
			r.root(f) // a method value
			return
		}
		f.entry.root = true
		r.inputs(f, 0)
		return
	}
	v := arg
	if m, ok := v.(*ssa.MakeInterface); ok {
		v = m.X
	}
	name := "Forward"
	if call := r.Exprs[c.Pos()]; call != nil {
		name = r.method(call)
	}
	sel, _, _ := types.LookupFieldOrMethod(v.Type(), true, r.pass.Pkg, name)
	if obj, ok := sel.(*types.Func); ok && obj.Pkg() == r.pass.Pkg {
		if f := r.byCode[c.Parent().Prog.FuncValue(obj.Origin())]; f != nil {
			r.root(f)
		}
	}
}

// method returns the name of the method that a call of Trace captures, which fx.Method sets.
func (r *Result) method(call *ast.CallExpr) string {
	for _, a := range call.Args {
		o, ok := a.(*ast.CallExpr)
		if !ok || len(o.Args) != 1 {
			continue
		}
		if fn, ok := r.Callee(o); ok && Is(fn, "fx.Method") {
			if v := r.pass.TypesInfo.Types[o.Args[0]].Value; v != nil {
				return constant.StringVal(v)
			}
		}
	}
	return "Forward"
}

// Callee returns the declared function that an expression calls.
func (r *Result) Callee(call *ast.CallExpr) (*types.Func, bool) {
	fun := ast.Unparen(call.Fun)
	if ix, ok := fun.(*ast.IndexExpr); ok {
		fun = ix.X
	}
	var id *ast.Ident
	switch f := fun.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return nil, false
	}
	fn, ok := r.pass.TypesInfo.Uses[id].(*types.Func)
	return fn, ok
}

// root makes a method of a module a captured one. Modules that are leaves, because they have
// a type rule, are not looked into by a trace.
func (r *Result) root(f *Func) {
	recv := f.Fn.Signature.Recv()
	if recv == nil || r.Generated(f.Fn.Pos()) {
		return
	}
	if m, _, _ := types.LookupFieldOrMethod(recv.Type(), true, r.pass.Pkg, "TypeRule"); m != nil {
		return
	}
	f.entry.root = true
	f.entry.held |= f.slotsOf(0)
	r.inputs(f, 1)
}

// inputs makes the parameters that are made of tensors inputs, from one on.
func (r *Result) inputs(f *Func, from int) {
	for i := from; i < len(f.Fn.Params); i++ {
		if MadeOfTensors(f.Fn.Params[i].Type()) {
			s := f.slotsOf(i)
			f.entry.flow |= s
			f.entry.same |= s
		}
	}
}

// slotsOf returns the slots of a parameter and of all below it.
func (f *Func) slotsOf(param int) (set uint64) {
	for i, s := range f.slots.list {
		if s.Param == param {
			set |= 1 << i
		}
	}
	return set
}

// MadeOfTensors reports whether a trace makes inputs of an argument of a type: tensors, lists
// and structs of them that are no modules.
func MadeOfTensors(t types.Type) bool { return madeOfTensors(t, 3) }

func madeOfTensors(t types.Type, structs int) bool {
	for range 8 {
		if IsTensor(t) {
			return true
		}
		if m, _, _ := types.LookupFieldOrMethod(t, true, nil, "Forward"); m != nil {
			return false
		}
		switch u := t.Underlying().(type) {
		case *types.Slice:
			t = u.Elem()
		case *types.Array:
			t = u.Elem()
		case *types.Map:
			t = u.Elem()
		case *types.Pointer:
			t = u.Elem()
		case *types.Struct:
			for f := range u.Fields() {
				if structs > 0 && f.Exported() && madeOfTensors(f.Type(), structs-1) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}

// IsTensor reports whether a type is *tensor.Tensor.
func IsTensor(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	n, ok := types.Unalias(p.Elem()).(*types.Named)
	return ok && n.Obj().Name() == "Tensor" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == tensorPath
}

// pass hands on, to a function that is called, what the trace gives the caller.
func (f *Func) pass(e edge) bool {
	before := e.to.entry
	to := &e.to.entry
	for i, s := range e.to.slots.list {
		t := e.given(i)
		all := t.flat()
		if f.Traced(all) {
			to.flow |= 1 << i
		}
		if f.Input(all) {
			to.same |= 1 << i
		}
		if f.Held(t.self()) && (s.Path != nil || !e.local[s.Param]) {
			to.held |= 1 << i
		}
	}
	return *to != before
}

// InCapture reports whether a call stands in a function that a captured one calls.
func (r *Result) InCapture(call *ast.CallExpr) bool {
	for _, f := range r.Funcs {
		if s := f.Fn.Syntax(); s != nil && f.Reached() && s.Pos() <= call.Pos() && call.End() <= s.End() {
			return true
		}
	}
	return false
}
