package reduce

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Scan is the running sum (Kind "cumsum") or product ("cumprod") along Dim:
// element i combines elements 0 to i. Floats accumulate in float64, integers in
// int64 with wrap around; out[0]'s type decides the type of the result.
//
//gofx:kernel
type Scan struct {
	Kind string
	Dim  int
}

// ScratchBytes implements Scratcher.
func (s Scan) ScratchBytes(out, in []*array.Array) int {
	o, d := out[0], scanType(out[0].DType(), in[0].DType())
	n := move.AsBytes(in[0], d)
	if o.DType() != d && (o.DType() != array.U64 || d != array.I64) {
		n += par.ScratchSize(o.Len(), d.Size())
	}
	_, _, inner := SplitAt(s.Kind, in[0], s.Dim)
	return n + par.ScratchSize(inner, 8)
}

// Run implements Step.
func (s Scan) Run(w *par.Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	if s.Kind != "cumsum" && s.Kind != "cumprod" {
		operand.BadOperand("scan", "unknown kind "+s.Kind)
	}
	o, a := out[0], in[0]
	_, n, inner := SplitAt(s.Kind, a, s.Dim)
	product := s.Kind == "cumprod"
	switch scanType(o.DType(), a.DType()) {
	case array.F32:
		scanTo[float32, float64](w, product, o, a, n, inner)
	case array.F64:
		scanTo[float64, float64](w, product, o, a, n, inner)
	default:
		scanTo[int64, int64](w, product, o, a, n, inner)
	}
}

// scanType is reduceType, but an f64 result of any type is computed in f64:
// unlike a reduction, a scan stores results in the type in which it reads.
func scanType(out, in array.DType) array.DType {
	if out == array.F64 {
		return out
	}
	return reduceType(out, in)
}

func scanTo[T move.Scalar, A accumulator](w *par.Workspace, product bool, o, a *array.Array, n, inner int) {
	y := move.OutAs[T](w, o)
	scan(y, move.LoadAs[T](w, a), par.Scratch[A](w, inner), product, n)
	move.SaveAs(o, y)
}

// scan walks x, seen as [?, n, len(acc)], with one accumulator per inner position.
// Elements are read and written once, in order; the accumulators stay in the first
// cache for the next elements along n.
func scan[T move.Scalar, A accumulator](y, x []T, acc []A, product bool, n int) {
	start := A(0)
	if product {
		start = 1
	}
	inner := len(acc)
	for i := 0; len(x) > 0; i, x, y = i+1, x[inner:], y[inner:] {
		if i%n == 0 {
			operand.FillSlice(acc, start)
		}
		for j, v := range x[:inner] {
			if product {
				acc[j] *= A(v)
			} else {
				acc[j] += A(v)
			}
			y[j] = T(acc[j])
		}
	}
}
