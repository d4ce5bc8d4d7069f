package effects

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// call enters a call.
func (f *facts) call(i ssa.CallInstruction, pos token.Pos) {
	c := i.Common()
	switch v := c.Value.(type) {
	case *ssa.Builtin:
		f.builtin(v.Name(), c, pos)
		return
	case *ssa.Function:
		f.callee(v, i, pos)
		return
	case *ssa.MakeClosure: // whose function is entered where it is made
		return
	}
	if c.IsInvoke() {
		f.invokes = append(f.invokes, invoke{c.Value.Type(), c.Method, f.line(pos), f.spot(Place{})})
		return
	}
	if !f.iterates(c.Value) {
		f.dynamic = append(f.dynamic, dynamic{c.Signature(), f.line(pos)})
	}
}

// iterates reports whether a function value is a standard iterator: it calls the function that
// it is given, which is entered where that is made, and reads what its own maker was given.
func (f *facts) iterates(v ssa.Value) bool {
	c, ok := v.(*ssa.Call)
	if !ok {
		return false
	}
	fn := c.Call.StaticCallee()
	return fn != nil && f.p.outside(fn) && standard(fn).iterator
}

// callee enters a call of a known function; i is nil where it is made to a value.
func (f *facts) callee(fn *ssa.Function, i ssa.CallInstruction, pos token.Pos) {
	path := pathOf(fn)
	switch {
	case path == nnPath && (fn.Name() == "Run" || fn.Name() == "RunAll") && fn.Signature.Recv() == nil:
		f.module(fn, i, pos)
	case len(fn.Blocks) > 0: // also what the compiler makes of methods of other packages
		f.calling(fn)
	case f.p.trusted[path]:
		f.operator(fn, i, pos)
	case path == compilePath && f.replays(fn):
	case f.p.outside(fn):
		f.library(fn, i, pos)
	default:
		f.calling(fn)
	}
}

const nnPath = gofx + "/nn"

// pathOf is the path of the package that a function is declared in, "" for none.
func pathOf(fn *ssa.Function) string {
	if o := fn.Origin(); o != nil {
		fn = o
	}
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	switch {
	case fn.Object() != nil && fn.Object().Pkg() != nil:
		return fn.Object().Pkg().Path()
	case fn.Pkg != nil:
		return fn.Pkg.Pkg.Path()
	}
	return ""
}

// outside reports whether a function is one of the standard library, whose code is not loaded.
func (p *Loaded) outside(fn *ssa.Function) bool {
	return len(fn.Blocks) == 0 && p.isStandard(pathOf(fn))
}

// module enters a call of nn.Run, which calls Forward of its first argument.
func (f *facts) module(fn *ssa.Function, i ssa.CallInstruction, pos token.Pos) {
	if i == nil {
		f.unknown(pos, "nn."+fn.Name()+" as a value", "the modules that it will run are not known")
		return
	}
	args := i.Common().Args
	t := args[0].Type()
	if m, ok := args[0].(*ssa.MakeInterface); ok {
		t = m.X.Type()
	}
	f.elem(args[1].Type(), Load|Len, pos)
	if types.IsInterface(t) {
		f.runs = append(f.runs, run{t, f.line(pos)})
		return
	}
	if !f.forward(t) {
		f.unknown(pos, "nn."+fn.Name()+" of a "+TypeName(t), "the type has no method Forward")
	}
}

// forward enters a call of the method Forward of a type, whose results are flattened.
func (f *facts) forward(t types.Type) bool {
	fn := f.p.method(t, "Forward", nil)
	if fn == nil {
		return false
	}
	f.made = append(f.made, t)
	f.calling(fn)
	f.reach(fn.Signature.Results(), Load, fn.Pos())
	return true
}

// method is the method of a concrete type with its code, nil for none.
func (p *Loaded) method(t types.Type, name string, pkg *types.Package) *ssa.Function {
	if types.IsInterface(t) {
		return nil
	}
	sel := p.ssa.MethodSets.MethodSet(t).Lookup(pkg, name)
	if sel == nil {
		return nil
	}
	return p.ssa.MethodValue(sel)
}

func (f *facts) builtin(name string, c *ssa.CallCommon, pos token.Pos) {
	arg := func(i int) types.Type { return c.Args[i].Type() }
	switch name {
	case "len":
		f.sized(arg(0), Len, pos)
	case "cap":
		f.sized(arg(0), Cap, pos)
	case "append":
		f.sized(arg(0), Load|Store|Len|Cap, pos)
		if len(c.Args) > 1 {
			f.sized(arg(1), Load|Len, pos)
		}
	case "copy":
		f.sized(arg(0), Store|Len, pos)
		f.sized(arg(1), Load|Len, pos)
	case "delete", "clear":
		f.sized(arg(0), Store|Len, pos)
	case "min", "max", "real", "imag", "complex", "ssa:wrapnilchk", "panic":
	case "print", "println":
		f.apart(pos, "a call of "+name, "what it prints is not printed again", true)
	case "recover":
		f.unknown(pos, "a call of recover", "a panic that is caught leaves no record")
	default:
		f.unknown(pos, "a call of "+name, "the analysis does not know what it does")
	}
}

// sized enters an access of a slice or map; that of an array needs no memory, nor that of a string.
func (f *facts) sized(t types.Type, a Access, pos token.Pos) {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		f.elem(t, a, pos)
		if a&(Load|Store) != 0 {
			f.whole(u.Elem(), a&(Load|Store), pos)
		}
	case *types.Map:
		f.elem(t, a, pos)
		if a&Store != 0 {
			f.compare(u.Key(), pos)
		}
	case *types.Chan:
		f.unknown(pos, "a channel", "other goroutines send and receive in an order that no record has")
	}
}
