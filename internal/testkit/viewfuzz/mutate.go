package viewfuzz

import "github.com/gofx-dev/gofx/internal/testkit/capturefuzz"

// at is an expression of a size as it is for some sizes of the symbols, by which the
// decision was once made.
const at = `.Bind(func(string) shape.Dim { return shape.Const(13) })`

// Mutations are faults put into the decision of where views show elements: in the file Old,
// which occurs there once, is replaced by New, and the result compiles. TestMutationsApply
// checks the text, TestMutationsAreFound (nightly) that the chains notice.
var Mutations = []capturefuzz.Mutation{
	{Name: "order is asked of one set of sizes", File: "op/layout.go",
		Old: "!l.Strides[i].Equal(next)", New: "!l.Strides[i]" + at + ".Equal(next" + at + ")"},
	{Name: "a permutation is its inverse", File: "op/layout.go",
		Old: "l.Sizes, l.Strides = append(l.Sizes, at.Sizes[d]), append(l.Strides, at.Strides[d])",
		New: "if l.Sizes == nil {\n\t\t\tl.Sizes, l.Strides = make([]shape.Dim, len(dims)), make([]shape.Dim, len(dims))\n\t\t}\n\t\tl.Sizes[d], l.Strides[d] = at.Sizes[len(at.Sizes)-len(dims)+d], at.Strides[d]"},
	{Name: "expand keeps strides", File: "op/layout.go", Old: "case !n.Is(1):\n\t\t\treturn l, shape.Open", New: "default:\n\t\t\tl.Strides[lead+i] = at.Strides[i]\n\t\tcase !n.Is(1):\n\t\t\treturn l, shape.Open"},
	{Name: "a part is all, where it is for small sizes", File: "op/layout.go", Old: "n.Equal(at.Sizes[axis]) {", New: "n" + at + ".Equal(at.Sizes[axis]" + at + ") {"},
	{Name: "a slice forgets its step", File: "op/layout.go", Old: "l.Strides[axis] = l.Strides[axis].MulInt(step)\n", New: "_ = step\n"},
	{Name: "the index of select is 0", File: "op/layout.go", Old: "Moved:   at.Moved || !at.Sizes[axis].Is(1),", New: "Moved:   at.Moved,"},
	{Name: "a diagonal goes along one axis", File: "op/layout.go", Old: "at.Strides[d1].Add(at.Strides[d2])", New: "at.Strides[d1].Add(shape.Const(0))"},
	{Name: "all dimensions are one row", File: "op/regroup.go", Old: "k >= 0 && rows[k].stride.Equal(n.Mul(r.stride))", New: "k >= 0"},
	{Name: "rows are told by one set of sizes", File: "op/regroup.go",
		Old: "rows[k].stride.Equal(n.Mul(r.stride))", New: "rows[k].stride" + at + ".Equal(n.Mul(r.stride)" + at + ")"},
	{Name: "groups are told by one set of sizes", File: "op/regroup.go",
		Old: "for i := len(sizes) - 1; i >= 0; i-- {\n\t\tif n = n.Mul(sizes[i]); n.Equal(total)", New: "for i := len(sizes) - 1; i >= 0; i-- {\n\t\tif n = n.Mul(sizes[i]); n" + at + ".Equal(total" + at + ")"},
	{Name: "what is left of two rows is one", File: "op/regroup.go", Old: "return l, at.torn(rows[first:last+1], l.Sizes[lo:hi])", New: "break"},
	{Name: "strides grow from the left", File: "op/regroup.go", Old: "stride = stride.Mul(sizes[i])", New: "stride = stride.Mul(sizes[len(sizes)-1-i])"},
	{Name: "a size that may be 1 is more", File: "op/regroup.go", Old: "return shape.AtLeast(n, shape.Const(2)).Truth() == shape.True", New: "return true"},
	{Name: "views of less restore what there was", File: "passes/simplify/layout.go", Old: "return ok && at.IsInOrder()", New: "return ok && at.Sizes != nil"},
	{Name: "a view of unknown layout is in order", File: "passes/simplify/layout.go", Old: "if truth != shape.True || len(out) != 1 {\n\t\t\treturn at, false", New: "if truth != shape.True || len(out) != 1 {\n\t\t\treturn op.InOrder(n.Type().Dims()), true"},
	{Name: "a permutation is told by sizes", File: "passes/arrange/moves.go", Old: "(size.Is(1) || from.Strides[k].Equal(at.Strides[i]))", New: "len(at.Strides) > 0"},
	{Name: "one reshape, whatever is shown", File: "passes/arrange/moves.go", Old: "return ok && at.IsInOrder() && count", New: "return ok && !at.Moved && count"},
	{Name: "what does not permute does", File: "passes/arrange/moves.go", Old: "if !found {\n\t\t\treturn nil\n\t\t}", New: "if !found {\n\t\t\tperm[i] = i\n\t\t}"},
}
