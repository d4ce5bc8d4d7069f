package effects

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// sizeless are the functions of package tensor that are written by hand and do the same for all sizes.
const sizeless = "Scalar FromSlice Number Ints Floats RunScope Tensor.Rank Tensor.DType"

// looksAtSizes reports whether a function of the trusted rooms tells code a size, or does to tensors what depends on
// sizes. Generated functions make one call of their operator, whose attributes are the arguments; those with a list of
// results tell its length.
func looksAtSizes(fn *ssa.Function) bool {
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
