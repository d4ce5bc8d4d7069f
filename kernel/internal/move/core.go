package move

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Move copies elements of equal size as the nest says, from so and to do. It
// looks at the element size only, so it serves every type.
func Move(w *par.Workspace, out *array.Array, do int, in *array.Array, so int, m *Nest) {
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

// CopyInto copies in, of any layout, to out in row-major order.
func CopyInto(w *par.Workspace, out, in *array.Array) {
	if out.Len() != in.Len() {
		operand.BadOperand("copy", "operand and result hold different numbers of elements")
	}
	var m Nest
	m.pushDense(in.Shape(), in.Strides())
	Move(w, out, out.Offset(), in, in.Offset(), &m)
}

// Keep has out hold what in does: a copy, unless out lies where in does, as that of an Updater may.
func Keep(w *par.Workspace, out, in *array.Array) {
	if out.Storage() != in.Storage() || out.Offset() != in.Offset() || !in.IsContiguous() {
		CopyInto(w, out, in)
	}
}

// RawDense returns in's elements in row-major order as T, which has the size of
// the element type: in's own memory where it lies so, else a copy in scratch.
func RawDense[T array.Elem](w *par.Workspace, in *array.Array) []T {
	n := in.Len()
	if n == 0 {
		return nil
	}
	if in.IsContiguous() {
		return array.Raw[T](in)[in.Offset() : in.Offset()+n]
	}
	buf := par.Scratch[T](w, n)
	moveDense(operand.AsBytes(buf), in)
	return buf
}

// moveDense copies in's elements to dst in row-major order. It knows sizes of
// elements only: a package that has RawDense of a type compiles no copies for it.
func moveDense(dst []byte, in *array.Array) {
	var m Nest
	m.pushDense(in.Shape(), in.Strides())
	switch in.DType().Size() {
	case 1:
		moveElems(dst, 0, array.Raw[uint8](in), in.Offset(), &m)
	case 2:
		moveElems(wordsOf[uint16](dst), 0, array.Raw[uint16](in), in.Offset(), &m)
	case 4:
		moveElems(wordsOf[uint32](dst), 0, array.Raw[uint32](in), in.Offset(), &m)
	default:
		moveElems(wordsOf[uint64](dst), 0, array.Raw[uint64](in), in.Offset(), &m)
	}
}

// RawOut returns the elements of a contiguous output as T, which has their size.
func RawOut[T array.Elem](out *array.Array) []T {
	n := out.Len()
	if n == 0 {
		return nil
	}
	return array.Raw[T](out)[out.Offset() : out.Offset()+n]
}

// DenseBytes returns the scratch bytes that RawDense takes for a.
func DenseBytes(a *array.Array) int {
	if a == nil || a.IsContiguous() {
		return 0
	}
	return par.ScratchSize(a.Len(), a.DType().Size())
}
