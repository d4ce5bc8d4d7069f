package effects

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// untold are the functions of package tensor that look at sizes, or do what depends on them, without a word to the engine
// that follows sizes. All others ask it for them (tensor.Follower), and lists of results are as long as attributes say. Cond, While and Scan look where
// they are not recorded: see flows.
const untold = "Grad GradWith Tensor.Type"

func looksAtSizes(fn *ssa.Function) bool {
	return pathOf(fn) == tensorPath && slices.Contains(strings.Fields(untold), key(fn))
}

// sizeless are the functions of package tensor that are written by hand, tell code no size and do the same for all.
const sizeless = "Scalar FromSlice Number Ints Floats RunScope Tensor.Rank Tensor.DType"

// tellsSizes reports whether a function of the trusted rooms tells code a size, as a number or otherwise, or does to tensors what
// depends on sizes. Generated functions make one call of their operator, whose attributes are the arguments; those with a list
// of results tell its length.
func tellsSizes(fn *ssa.Function) bool {
	if pathOf(fn) != tensorPath {
		return false
	}
	k := key(fn)
	if slices.Contains(strings.Fields(sizeless), k) {
		return false
	}
	if handwritten(k) || treatment(fn) != operates {
		return true
	}
	for v := range fn.Signature.Results().Variables() {
		p, ok := v.Type().Underlying().(*types.Pointer)
		if !ok || !isNamed(p.Elem(), tensorPath, "Tensor") {
			return true
		}
	}
	return false
}

// keepsSizes finds the places that hold sizes longer than a call: what is there would be a number for all calls.
func (w *walk) keepsSizes() (list []Place) {
	has := func(t types.Type) bool {
		names := map[string]bool{}
		Within(t, names)
		return names[tensorPath+".Size"]
	}
	keep := func(line, what string) {
		list = append(list, Place{Line: line, What: what, Why: "a size is kept there"})
	}
	for v := range w.root.Signature.Results().Variables() {
		if !has(v.Type()) {
			continue
		}
		keep(w.p.of(w.root).line(w.root.Pos()), "a result of "+w.root.Name())
	}
	a := w.all
	for k, acc := range a.fields {
		if t := a.kinds[k.owner]; acc&Store != 0 && t != nil && has(t) {
			keep(a.lines[k], "the field "+k.owner+"."+k.name)
		}
	}
	for k, acc := range a.elems {
		if t := a.kinds[k]; acc&Store != 0 && t != nil && has(t) {
			keep(a.lines[k], "an element of "+k)
		}
	}
	for g, acc := range a.globals {
		if acc&Store != 0 && has(g.Type()) {
			keep(a.lines[g], "the variable "+g.Name())
		}
	}
	return list
}
