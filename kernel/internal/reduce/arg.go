package reduce

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/rowcol"
)

// NoElements panics because a reduction without identity has nothing to reduce.
func NoElements(kind string) {
	panic(&diag.Error{Code: operand.EmptyCode, Op: kind, Msg: "the reduced dimension has no elements, expected at least one"})
}

// ArgReduce gives the i64 index along Dim of the first greatest (Kind "argmax")
// or least ("argmin") element; NaN counts as both. Flat reduces all dimensions
// and gives the index in row-major order.
//
//gofx:kernel
type ArgReduce struct {
	Kind string
	Dim  int
	Flat bool
}

// ScratchBytes implements Scratcher.
func (r ArgReduce) ScratchBytes(_, in []*array.Array) int { return bestBytes(in[0]) }

// Run implements Step.
func (r ArgReduce) Run(w *par.Workspace, out, in []*array.Array) {
	least := r.Kind == "argmin"
	if !least && r.Kind != "argmax" {
		operand.BadOperand("argreduce", "unknown kind "+r.Kind)
	}
	outer, n, inner := 1, in[0].Len(), 1
	if !r.Flat {
		outer, n, inner = SplitAt(r.Kind, in[0], r.Dim)
	}
	bestIndex(w, r.Kind, least, move.RawOut[int64](out[0]), in[0], outer, n, inner)
}

// SplitAt is split at a dimension that may be negative; a 0-dimensional operand
// counts as one dimension of one element.
func SplitAt(step string, a *array.Array, dim int) (outer, n, inner int) {
	if a.Rank() == 0 {
		operand.Axis(step, dim, 1)
		return 1, 1, 1
	}
	return operand.Split(a.Shape(), operand.Axis(step, dim, operand.CheckRank(step, a)))
}

// OwnBytes returns the scratch bytes that move.LoadOrdered takes in a's own scalar type.
func OwnBytes(a *array.Array) int { return move.OrderedBytes(a, move.ScalarOf(a.DType())) }

func bestIndex(w *par.Workspace, step string, least bool, idx []int64, a *array.Array, outer, n, inner int) {
	defer w.Release(w.Mark())
	if len(idx) == 0 {
		return
	}
	if n == 0 {
		NoElements(step)
	}
	switch a.DType() {
	case array.F64:
		bestSplit(w, least, idx, move.RawDense[float64](w, a), n, inner)
	case array.I8:
		bestSplit(w, least, idx, move.RawDense[int8](w, a), n, inner)
	case array.U8, array.Bool:
		bestSplit(w, least, idx, move.RawDense[uint8](w, a), n, inner)
	case array.I16:
		bestSplit(w, least, idx, move.RawDense[int16](w, a), n, inner)
	case array.U16:
		bestSplit(w, least, idx, move.RawDense[uint16](w, a), n, inner)
	case array.I32:
		bestSplit(w, least, idx, move.RawDense[int32](w, a), n, inner)
	case array.U32:
		bestSplit(w, least, idx, move.RawDense[uint32](w, a), n, inner)
	case array.I64:
		bestSplit(w, least, idx, move.RawDense[int64](w, a), n, inner)
	case array.U64:
		bestSplit(w, least, idx, move.RawDense[uint64](w, a), n, inner)
	default:
		bestSplit(w, least, idx, move.LoadAs[float32](w, a), n, inner)
	}
}

// bestBytes is the scratch that bestIndex takes: only f16 and bf16 are converted.
func bestBytes(a *array.Array) int {
	if a.DType().IsFloat() && a.DType().Size() == 2 {
		return move.AsBytes(a, array.F32)
	}
	return move.DenseBytes(a)
}

// bestJob finds the extremes of a range of the outer dimension.
type bestJob[T move.Number] struct {
	least    bool
	idx      []int64
	x        []T
	n, inner int
}

// Do implements Job.
func (j *bestJob[T]) Do(lo, hi int) {
	best(j.least, j.idx[lo*j.inner:hi*j.inner], j.x[lo*j.n*j.inner:hi*j.n*j.inner], j.n, j.inner)
}

// bestSplit is best, on several threads where that pays.
func bestSplit[T move.Number](w *par.Workspace, least bool, idx []int64, x []T, n, inner int) {
	j := par.TakeJob[bestJob[T]](w)
	*j = bestJob[T]{least, idx, x, n, inner}
	w.Parallel(len(idx)/inner, max(1, move.Grain/(n*inner)), j)
	par.PutJob(w, j)
}

// best sets idx to the positions of the extremes of x, seen as [?, n, inner]. Rows
// pass in order; the positions found so far, one a column, stay in the first
// cache, and the values at them are read again from a row that is seldom far.
func best[T move.Number](least bool, idx []int64, x []T, n, inner int) {
	if f, ok := any(x).([]float32); ok && cpu.X86 && rowcol.BestFast(cpu.Host.Level, least, idx, f, n, inner) {
		return
	}
	clear(idx)
	for ; len(x) > 0; x, idx = x[n*inner:], idx[inner:] {
		for k := 1; k < n; k++ {
			row := x[k*inner : (k+1)*inner]
			for j, v := range row {
				b := x[int(idx[j])*inner+j]
				if b != b {
					continue
				}
				if v != v || least && v < b || !least && v > b {
					idx[j] = int64(k)
				}
			}
		}
	}
}

// MinMaxDim gives the greatest (Kind "max") or least ("min") elements along Dim
// as out[0] and their i64 indices, as of ArgReduce, as out[1].
//
//gofx:kernel
type MinMaxDim struct {
	Kind string
	Dim  int
}

// ScratchBytes implements Scratcher.
func (r MinMaxDim) ScratchBytes(_, in []*array.Array) int {
	return bestBytes(in[0])
}

// Run implements Step.
func (r MinMaxDim) Run(w *par.Workspace, out, in []*array.Array) {
	if r.Kind != "max" && r.Kind != "min" {
		operand.BadOperand("minmax", "unknown kind "+r.Kind)
	}
	outer, n, inner := SplitAt(r.Kind, in[0], r.Dim)
	idx := move.RawOut[int64](out[1])
	bestIndex(w, r.Kind, r.Kind == "min", idx, in[0], outer, n, inner)
	TakeAlong(w, out[0], in[0], idx, n, inner)
}

// TakeAlong sets out, seen as [?, k, inner], to the elements of a, seen as
// [?, n, inner], that idx (of out's size) names along the middle dimension; k
// is len(idx)/(outer*inner).
func TakeAlong(w *par.Workspace, out, a *array.Array, idx []int64, n, inner int) {
	defer w.Release(w.Mark())
	if len(idx) == 0 {
		return
	}
	outer := a.Len() / (n * inner)
	k := len(idx) / (outer * inner)
	switch out.DType().Size() {
	case 1:
		take(move.RawOut[uint8](out), move.RawDense[uint8](w, a), idx, k, n, inner)
	case 2:
		take(move.RawOut[uint16](out), move.RawDense[uint16](w, a), idx, k, n, inner)
	case 4:
		take(move.RawOut[uint32](out), move.RawDense[uint32](w, a), idx, k, n, inner)
	default:
		take(move.RawOut[uint64](out), move.RawDense[uint64](w, a), idx, k, n, inner)
	}
}

// take sets dst to the elements of src at the positions idx, along the dimension
// of n.
func take[T array.Elem](dst, src []T, idx []int64, k, n, inner int) {
	for ; len(idx) > 0; dst, idx, src = dst[k*inner:], idx[k*inner:], src[n*inner:] {
		for r := 0; r < k*inner; r += inner {
			to := dst[r : r+inner]
			for i, at := range idx[r : r+inner] {
				to[i] = src[int(at)*inner+i]
			}
		}
	}
}
