package index

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// NonZero gives the indices of the elements that are not zero, a row of i64 for each,
// in the order of the elements. NaN is not zero.
//
//gofx:kernel
type NonZero struct{}

// Sizes implements Sizer.
func (NonZero) Sizes(shapes [][]int, in []*array.Array) {
	n := 0
	for i := range in[0].Len() {
		if nonzero(in[0], i) {
			n++
		}
	}
	shapes[0][0], shapes[0][1] = n, in[0].Rank()
}

// Run implements Step.
func (NonZero) Run(_ *par.Workspace, out, in []*array.Array) {
	x, rows := in[0], move.RawOut[int64](out[0])
	shape := x.Shape()
	for i := range x.Len() {
		if !nonzero(x, i) {
			continue
		}
		rest := i
		for d, n := range slices.Backward(shape) {
			rows[d] = int64(rest % n)
			rest /= n
		}
		rows = rows[len(shape):]
	}
}

func nonzero(x *array.Array, i int) bool {
	if x.DType().IsFloat() {
		return array.Float64At(x, i) != 0
	}
	return array.Int64At(x, i) != 0
}

// Sized makes sizes of the numbers in a vector: the result has no elements, and its sizes
// are these numbers followed by a 0.
//
//gofx:kernel
type Sized struct{}

// mostSized is a size beyond all memory; products of sizes are checked where they are made.
const mostSized = 1 << 48

// Sizes implements Sizer.
func (Sized) Sizes(shapes [][]int, in []*array.Array) {
	for i := range in[0].Len() {
		n := array.Int64At(in[0], i)
		if n < 0 || n > mostSized {
			operand.BadOperand("sized", "number "+strconv.Itoa(i)+" is "+strconv.FormatInt(n, 10)+", which is no size")
		}
		shapes[0][i] = int(n)
	}
	shapes[0][in[0].Len()] = 0
}

// Run implements Step; there is nothing to compute.
func (Sized) Run(*par.Workspace, []*array.Array, []*array.Array) {}

// Range counts from in[0] in steps of in[2] and stays on this side of in[1]: numbers of
// one type, whose number follows from the three.
//
//gofx:kernel
type Range struct{}

// Sizes implements Sizer.
func (Range) Sizes(shapes [][]int, in []*array.Array) { shapes[0][0] = count(in) }

// count is how many numbers there are.
func count(in []*array.Array) int {
	if in[0].DType().IsFloat() {
		start, limit, step := array.Float64At(in[0], 0), array.Float64At(in[1], 0), array.Float64At(in[2], 0)
		n := math.Ceil((limit - start) / step)
		if step == 0 || math.IsNaN(n) || n > math.MaxInt32<<10 {
			operand.BadOperand("range", "the step is zero, or the numbers are not finite")
		}
		return int(max(n, 0))
	}
	start, limit, step := array.Int64At(in[0], 0), array.Int64At(in[1], 0), array.Int64At(in[2], 0)
	if step == 0 {
		operand.BadOperand("range", "the step is zero, expected another number")
	}
	if (limit > start) != (step > 0) || limit == start {
		return 0
	}
	// The distance of two i64 fits a u64, and so does the size of the least step.
	far, by := uint64(limit)-uint64(start), uint64(step)
	if step < 0 {
		far, by = -far, -by
	}
	n := (far-1)/by + 1
	if n > math.MaxInt {
		operand.BadOperand("range", "there are more numbers than addresses")
	}
	return int(n)
}

// Run implements Step.
func (Range) Run(_ *par.Workspace, out, in []*array.Array) {
	if in[0].DType().IsFloat() {
		start, step := array.Float64At(in[0], 0), array.Float64At(in[2], 0)
		fill(out[0], func(i int) float64 { return start + float64(float64(i)*step) })
		return
	}
	start, step := array.Int64At(in[0], 0), array.Int64At(in[2], 0)
	fill(out[0], func(i int) int64 { return start + int64(i)*step })
}

// fill sets the elements of a vector, converted by the rules of array.Cast, which takes
// them by blocks.
func fill[T float64 | int64](out *array.Array, at func(int) T) {
	var block [1024]T
	for from := 0; from < out.Len(); from += len(block) {
		n := min(len(block), out.Len()-from)
		for i := range n {
			block[i] = at(from + i)
		}
		array.Copy(array.Slice(out, 0, from, from+n, 1), array.Cast(array.FromSlice(block[:n], n), out.DType()))
	}
}
