package effects

import (
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// world is what all loaded code does: the types and functions that memory may hold when a
// function is called, and the globals that nobody changes.
type world struct {
	boxings  []boxing        // sorted
	values   []*ssa.Function // functions that some code uses as values, by name
	captured map[*ssa.Function][]ssa.Value
	makes    map[string][]*ssa.Function // what makes a type, by its name
	callers  map[*ssa.Function][]*ssa.Function
	callees  map[*ssa.Function][]*ssa.Function
	assigned map[*ssa.Global]bool // stored, or whose address is taken, after initialisation
	compiled trampolines
}

func (p *Loaded) look() *world {
	w := &world{captured: map[*ssa.Function][]ssa.Value{}, assigned: map[*ssa.Global]bool{}, makes: map[string][]*ssa.Function{},
		callers: map[*ssa.Function][]*ssa.Function{}, callees: map[*ssa.Function][]*ssa.Function{},
		compiled: trampolines{map[string][]*ssa.Function{}, map[*ssa.Function]int{}}}
	values := map[*ssa.Function]bool{}
	for fn := range ssautil.AllFunctions(p.ssa) {
		if generic(fn) {
			continue
		}
		starts := fn.Pkg != nil && (fn == fn.Pkg.Func("init") || strings.HasPrefix(fn.Name(), "init#"))
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				w.instruction(fn, i, starts, values)
				w.compiled.instruction(i)
			}
		}
	}
	for fn := range values {
		w.values = append(w.values, fn)
	}
	slices.SortFunc(w.values, func(a, b *ssa.Function) int { return strings.Compare(a.String(), b.String()) })
	slices.SortFunc(w.boxings, func(a, b boxing) int {
		return strings.Compare(TypeName(a.typ)+"\x00"+a.by.String(), TypeName(b.typ)+"\x00"+b.by.String())
	})
	return w
}

// generic reports whether a function is the code of no instance.
func generic(fn *ssa.Function) bool {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	return fn.TypeParams().Len() > len(fn.TypeArgs())
}

// instruction notes what one instruction does.
func (w *world) instruction(fn *ssa.Function, i ssa.Instruction, starts bool, values map[*ssa.Function]bool) {
	switch i := i.(type) {
	case *ssa.MakeInterface:
		if fn.Signature.Recv() == nil || i.X != ssa.Value(fn.Params[0]) { // a method's own receiver was made elsewhere
			w.boxings = append(w.boxings, boxing{i.X.Type(), fn})
		}
	case *ssa.MakeClosure:
		made := i.Fn.(*ssa.Function)
		values[made] = true
		w.captured[made] = append(w.captured[made], i.Bindings...)
	case *ssa.Alloc:
		if fn.Synthetic == "" {
			k := TypeName(pointee(i.Type()))
			w.makes[k] = append(w.makes[k], fn)
		}
	case *ssa.DebugRef:
		return
	}
	var rands [8]*ssa.Value
	plain := own(i)
	if s, ok := i.(*ssa.Store); ok && !starts && plain == &s.Addr {
		plain = nil
	}
	for _, r := range i.Operands(rands[:0]) {
		switch v := (*r).(type) {
		case *ssa.Function:
			w.callees[fn] = append(w.callees[fn], v)
			if _, call := i.(ssa.CallInstruction); call && r == plain {
				w.callers[v] = append(w.callers[v], fn)
			}
			if r != plain {
				values[v] = true
			}
		case *ssa.Global:
			_, load := i.(*ssa.UnOp)
			_, store := i.(*ssa.Store)
			if r != plain || !load && !store {
				w.assigned[v] = true
			}
		}
	}
}

// constant reports whether a global has one value for good: it is of a basic type or a string, or a compiled
// function, of which calls read nothing, or, in gofx's own rooms, a list of those, and only initialisation assigns it.
func (w *world) constant(g *ssa.Global) bool {
	if w.assigned[g] || g.Object() != nil && g.Object().Exported() {
		return false
	}
	t := pointee(g.Type()).Underlying()
	if s, ok := t.(*types.Slice); ok && g.Pkg.Pkg.Path() == nnPath {
		t = s.Elem().Underlying()
	}
	_, basic := t.(*types.Basic)
	return basic || holdsCompiled(t)
}

// settled reports whether all calls of a function value of this code, whichever of its closures,
// give the same for the same arguments and memory: its captured variables are of basic types and
// are assigned once, before the closure is made.
func (w *world) settled(fn *ssa.Function) bool {
	if len(fn.FreeVars) > 0 && fn.Parent() == nil {
		return false // a method value, whose receiver no walk sees
	}
	for _, v := range w.captured[fn] {
		a, ok := v.(*ssa.Alloc)
		if !ok || !once(a) {
			return false
		}
		if _, basic := pointee(a.Type()).Underlying().(*types.Basic); !basic || isUnsafe(pointee(a.Type()).Underlying()) {
			return false
		}
	}
	return true
}

// once reports whether a captured variable is assigned at most once, in the function that has
// it, before any closure is made.
func once(a *ssa.Alloc) bool {
	var store *ssa.Store
	var closures []*ssa.MakeClosure
	for _, r := range *a.Referrers() {
		switch r := r.(type) {
		case *ssa.Store:
			if store != nil || r.Val == ssa.Value(a) {
				return false
			}
			store = r
		case *ssa.MakeClosure:
			closures = append(closures, r)
			for k, b := range r.Bindings {
				if b == ssa.Value(a) && !onlyLoaded(r.Fn.(*ssa.Function).FreeVars[k]) {
					return false
				}
			}
		case *ssa.UnOp, *ssa.DebugRef:
		default:
			return false
		}
	}
	for _, c := range closures {
		if store != nil && !before(store, c) {
			return false
		}
	}
	return true
}

// onlyLoaded reports whether a captured variable is only read, by closures within the
// closure, too.
func onlyLoaded(v *ssa.FreeVar) bool {
	for _, r := range *v.Referrers() {
		switch r := r.(type) {
		case *ssa.UnOp, *ssa.DebugRef:
		case *ssa.MakeClosure:
			for k, b := range r.Bindings {
				if b == ssa.Value(v) && !onlyLoaded(r.Fn.(*ssa.Function).FreeVars[k]) {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}

// before reports whether a is run before b whenever b is.
func before(a, b ssa.Instruction) bool {
	if a.Block() != b.Block() {
		return a.Block().Dominates(b.Block())
	}
	for _, i := range a.Block().Instrs {
		switch i {
		case a:
			return true
		case b:
			return false
		}
	}
	return false
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
