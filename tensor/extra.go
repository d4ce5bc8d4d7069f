package tensor

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// End is the stop of a slice that runs to the end of its dimension:
// x.Slice(0, 1, tensor.End) is Python's x[1:].
var End = Size{d: std.End}

// SplitSize cuts dimension dim, whose size must be known, into pieces of the
// given size; the last one takes what is left. [Split] takes the size of every
// piece.
func SplitSize(x *Tensor, size, dim int) []*Tensor {
	return Split(x, pieces(x.Dim(dim), size), dim)
}

// SplitSize cuts dimension dim, whose size must be known, into pieces of the
// given size; the last one takes what is left. [Tensor.Split] takes the size of
// every piece.
func (x *Tensor) SplitSize(size, dim int) []*Tensor {
	return x.Split(pieces(x.Dim(dim), size), dim)
}

// pieces returns the sizes of the pieces of n; no elements are one empty piece.
func pieces(n, size int) []int {
	if size < 1 {
		panic((&diag.Error{Code: op.BadAttr, Op: std.Split.Name, Msg: "size is " + strconv.Itoa(size) + ", expected at least 1"}).At(diag.Here()))
	}
	var out []int
	for ; n > size; n -= size {
		out = append(out, size)
	}
	return append(out, n)
}

// UnbindDim takes every index of dimension dim, whose size must be known and not
// 0; the dimension vanishes. [Tensor.Unbind] takes the size as an argument.
func (x *Tensor) UnbindDim(dim int) []*Tensor { return x.Unbind(dim, x.Dim(dim)) }

// At takes one index of each of the leading dimensions, which vanish: x.At(1, 2)
// is Python's x[1, 2]. Negative indices count from the end. The result is a view.
func (x *Tensor) At(index ...int) *Tensor {
	for _, i := range index {
		x = x.Select(0, i)
	}
	return x
}
