package kernel

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// maxRank bounds the dimensions that one array may have; it is PyTorch's limit.
const maxRank = 64

// indexCode is the code of an index value that lies outside its dimension.
const indexCode diag.Code = "FX2030"

// emptyCode is the code of a reduction without identity over no elements.
const emptyCode diag.Code = "FX2031"

// operandCode is the code of operands whose layout a kernel cannot serve.
const operandCode diag.Code = "FX2032"

// badOperand panics with a diagnostic about operands that the type rule of an
// operator would have refused.
func badOperand(step, msg string) {
	panic(&diag.Error{Code: operandCode, Op: step, Msg: msg})
}

// badIndex panics because index i is not in [0, size) of dimension dim.
func badIndex(i int64, dim, size int) {
	panic(diag.New(indexCode, "index "+strconv.FormatInt(i, 10)+" is out of range for dimension "+
		strconv.Itoa(dim)+" of size "+strconv.Itoa(size)))
}

// axis returns dim counted from the front and panics when it is not one of rank.
func axis(step string, dim, rank int) int {
	d := dim
	if d < 0 {
		d += rank
	}
	if d < 0 || d >= rank {
		badOperand(step, "dimension "+strconv.Itoa(dim)+" does not exist, the operand has rank "+strconv.Itoa(rank))
	}
	return d
}

// axes marks the dimensions that dims names in set. A 0-dimensional operand
// counts as one dimension, as in PyTorch.
func axes(step string, set *[maxRank]bool, dims []int, rank int) {
	for _, d := range dims {
		set[axis(step, d, max(rank, 1))] = true
	}
}

// checkRank panics when a's rank exceeds what the fixed-size tables hold.
func checkRank(step string, a *array.Array) int {
	if a.Rank() > maxRank {
		badOperand(step, "operand has rank "+strconv.Itoa(a.Rank())+", the limit is "+strconv.Itoa(maxRank))
	}
	return a.Rank()
}

// split returns the products of the dimensions before d, of d, and after d.
func split(shape []int, d int) (outer, n, inner int) {
	outer, inner = 1, 1
	for _, s := range shape[:d] {
		outer *= s
	}
	for _, s := range shape[d+1:] {
		inner *= s
	}
	return outer, shape[d], inner
}

// prod returns the product of s.
func prod(s []int) int {
	n := 1
	for _, v := range s {
		n *= v
	}
	return n
}

// move copies elements of equal size as the nest says, from so and to do. It
// looks at the element size only, so it serves every type.
func move(w *Workspace, out *array.Array, do int, in *array.Array, so int, m *moveNest) {
	if m.empty {
		return
	}
	switch out.DType().Size() {
	case 1:
		moveSplit(w, array.Raw[uint8](out), do, array.Raw[uint8](in), so, m)
	case 2:
		moveSplit(w, array.Raw[uint16](out), do, array.Raw[uint16](in), so, m)
	case 4:
		moveSplit(w, array.Raw[uint32](out), do, array.Raw[uint32](in), so, m)
	default:
		moveSplit(w, array.Raw[uint64](out), do, array.Raw[uint64](in), so, m)
	}
}

// copyInto copies in, of any layout, to out in row-major order.
func copyInto(w *Workspace, out, in *array.Array) {
	if out.Len() != in.Len() {
		badOperand("copy", "operand and result hold different numbers of elements")
	}
	var m moveNest
	m.pushDense(in.Shape(), in.Strides())
	move(w, out, out.Offset(), in, in.Offset(), &m)
}

// rawDense returns in's elements in row-major order as T, which has the size of
// the element type: in's own memory where it lies so, else a copy in scratch.
func rawDense[T array.Elem](w *Workspace, in *array.Array) []T {
	n := in.Len()
	if n == 0 {
		return nil
	}
	raw := array.Raw[T](in)
	if in.IsContiguous() {
		return raw[in.Offset() : in.Offset()+n]
	}
	buf := Scratch[T](w, n)
	var m moveNest
	m.pushDense(in.Shape(), in.Strides())
	moveElems(buf, 0, raw, in.Offset(), &m)
	return buf
}

// rawOut returns the elements of a contiguous output as T, which has their size.
func rawOut[T array.Elem](out *array.Array) []T {
	n := out.Len()
	if n == 0 {
		return nil
	}
	return array.Raw[T](out)[out.Offset() : out.Offset()+n]
}

// denseBytes returns the scratch bytes that rawDense takes for a.
func denseBytes(a *array.Array) int {
	if a == nil || a.IsContiguous() {
		return 0
	}
	return scratchSize(a.Len(), a.DType().Size())
}

// scratchSize returns the scratch bytes that Scratch takes for n elements.
func scratchSize(n, size int) int { return (n*size + array.Align - 1) &^ (array.Align - 1) }
