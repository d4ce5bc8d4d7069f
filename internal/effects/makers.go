package effects

import (
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

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
