package lazy

import (
	"cmp"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/tensor"
)

// Laid returns the elements of an array as graphs of captures read them: as they lie in memory where an order of the axes has
// them there one after the other, else copied. Products of few rows are added up in another order where an operand lies
// turned, so the graph turns it, too, and has the bits of eager code.
func Laid(a *array.Array) *array.Array {
	if o := orderOf(a); o != nil {
		return array.Permute(a, o...)
	}
	return array.Contiguous(a)
}

// orderOf is the order of axes in which an array fills its memory, nil where that is their own, or there is none.
func orderOf(a *array.Array) []int {
	if a.IsContiguous() {
		return nil
	}
	order := make([]int, a.Rank())
	for i := range order {
		order[i] = i
	}
	strides := a.Strides()
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(strides[j], strides[i]) })
	if !array.Permute(a, order...).IsContiguous() {
		return nil
	}
	return order
}

// turn gives what lies in an order of axes its own.
func turn(at *graph.Cursor, n *graph.Node, order []int) *graph.Node {
	back := make([]int, len(order))
	for i, axis := range order {
		back[axis] = i
	}
	c := tensor.PermuteCall(back...)
	return at.Function(c.Op, c.Attrs, n)
}
