package effects

import (
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// trampolines are the functions that constructors give compile.New. A call of a compiled function in a call that
// is recorded runs its trampoline, so that the analysis goes on there: the function itself, of any package.
type trampolines struct {
	of   map[string][]*ssa.Function // by the name of the type *compile.Func[I, O]; a nil one is not known
	uses map[*ssa.Function]int      // of function literals, as values
}

// instruction notes what one instruction says of compiled functions.
func (t *trampolines) instruction(i ssa.Instruction) {
	var rands [8]*ssa.Value
	plain := own(i)
	for _, r := range i.Operands(rands[:0]) {
		fn, ok := (*r).(*ssa.Function)
		switch {
		case !ok:
		case isCompiler(fn) && r == plain:
			run, _ := i.(ssa.CallInstruction).Common().Args[1].(*ssa.Function)
			t.add(fn, run)
		case isCompiler(fn): // who calls it is not known
			t.add(fn, nil)
		case fn.Parent() != nil:
			t.uses[fn]++
		}
	}
}

func (t *trampolines) add(compiler, run *ssa.Function) {
	k := TypeName(compiler.Signature.Results().At(0).Type())
	t.of[k] = append(t.of[k], run)
}

// isCompiler reports whether a function is an instance of compile.New.
func isCompiler(fn *ssa.Function) bool {
	return fn.Object() != nil && fn.Object().Name() == "New" && fn.Signature.Recv() == nil && pathOf(fn) == compilePath
}

// frames reports whether the parameters of a function lead to a frame, which compile has made for the call:
// it is a literal that stands in a call of compile.New and nowhere else.
func (t *trampolines) frames(fn *ssa.Function) bool {
	if fn.Parent() == nil || t.uses[fn] != 1 {
		return false
	}
	for _, list := range t.of {
		if slices.Contains(list, fn) {
			return true
		}
	}
	return false
}

// replays enters a call of a compiled function, as a call of its trampoline. It reports whether all functions are known
// that calls of the type may run.
func (f *facts) replays(fn *ssa.Function) bool {
	r := fn.Signature.Recv()
	if r == nil || fn.Object() == nil || fn.Object().Name() != "Call" || !f.p.private(r.Type()) {
		return false
	}
	runs := f.p.world.compiled.of[TypeName(r.Type())]
	if len(runs) == 0 || slices.Contains(runs, nil) {
		return false
	}
	for _, r := range runs {
		f.calling(r)
	}
	return true
}

// private reports whether only one package can make compiled functions of a type *compile.Func[I, O], one that is
// analysed: it alone can name the type.
func (p *Loaded) private(t types.Type) bool {
	n := compiledFunc(t)
	if n == nil {
		return false
	}
	for a := range n.TypeArgs().Types() {
		frame, ok := types.Unalias(a).(*types.Named)
		if ok && !frame.Obj().Exported() && frame.Obj().Pkg() != nil && p.sources[frame.Obj().Pkg().Path()] != nil && local(frame) == "" {
			return true
		}
	}
	return false
}

// compiledFunc returns the type compile.Func[I, O] that a pointer points to, nil for other types.
func compiledFunc(t types.Type) *types.Named {
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return nil
	}
	n, ok := types.Unalias(p.Elem()).(*types.Named)
	if !ok || n.Obj().Name() != "Func" || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != compilePath {
		return nil
	}
	return n
}

// holdsCompiled reports whether a type is that of a pointer to a struct with a compiled function alone, as the
// constructors return it.
func holdsCompiled(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	s, ok := p.Elem().Underlying().(*types.Struct)
	return ok && s.NumFields() == 1 && compiledFunc(s.Field(0).Type()) != nil
}

// boxing is a conversion of a concrete type to an interface.
type boxing struct {
	typ types.Type
	by  *ssa.Function
}

// candidates lists the types that interfaces may hold when a function is called. Of this module's
// own packages, which have a network of every kind, only code counts that has to do with the
// making of the function's receiver and parameters: what makes one of their types, what calls
// that, and all that those call. A type that is missing costs no more than a record: the walk at
// run time refuses what the table lacks.
func (w *world) candidates(root *ssa.Function) (list []types.Type) {
	near := w.makers(root)
	seen := map[string]bool{}
	for _, b := range w.boxings {
		path := pathOf(b.by)
		library := path == "" || path == gofx || strings.HasPrefix(path, gofx+"/")
		if k := TypeName(b.typ); !seen[k] && (!library || near == nil || near[b.by]) {
			seen[k] = true
			list = append(list, b.typ)
		}
	}
	return list
}

// makers finds the functions of which candidates speaks, nil where no function makes any of the
// types.
func (w *world) makers(root *ssa.Function) map[*ssa.Function]bool {
	var queue []*ssa.Function
	for _, t := range handed(root) {
		if q, ok := t.Underlying().(*types.Pointer); ok {
			t = q.Elem()
		}
		if !sealed(t) {
			queue = append(queue, w.makes[TypeName(t)]...)
		}
	}
	if len(queue) == 0 {
		return nil
	}
	return closure(slices.Collect(maps.Keys(closure(queue, w.callers))), w.callees)
}

// handed are the types of what a function is given: its parameters, and the variables that it has captured.
func handed(fn *ssa.Function) (list []types.Type) {
	for _, p := range fn.Params {
		list = append(list, p.Type())
	}
	for _, v := range fn.FreeVars {
		if fn.Parent() != nil {
			list = append(list, pointee(v.Type()))
		}
	}
	return list
}

// closure is what a relation leads to from some functions.
func closure(queue []*ssa.Function, to map[*ssa.Function][]*ssa.Function) (found map[*ssa.Function]bool) {
	found = map[*ssa.Function]bool{}
	for len(queue) > 0 {
		fn := queue[0]
		queue = queue[1:]
		if !found[fn] {
			found[fn] = true
			queue = append(queue, to[fn]...)
		}
	}
	return found
}
