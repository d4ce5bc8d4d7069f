package index

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// EmbeddingBag reduces bags of rows of the matrix in[1] with Mode "sum", "mean"
// or "max". in[0] (i32 or i64) names the rows: as a matrix every row of it is a
// bag; as a vector the optional in[2] has the position where each bag starts,
// and one more position, the end, when it is one longer than the result. The
// optional in[3], of in[0]'s shape, scales the rows in mode "sum". An empty bag
// gives zeros. Sums accumulate in float64.
//
//gofx:kernel
type EmbeddingBag struct{ Mode string }

// ScratchBytes implements Scratcher.
func (b EmbeddingBag) ScratchBytes(_, in []*array.Array) int {
	n := move.AsBytes(in[0], array.I64) + 2*par.ScratchSize(in[1].Dim(1), 8)
	if a := operand.At(in, 2); a != nil {
		n += move.AsBytes(a, array.I64)
	}
	if a := operand.At(in, 3); a != nil {
		n += move.AsBytes(a, array.F64)
	}
	return n
}

// Run implements Step.
func (b EmbeddingBag) Run(w *par.Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	o, a, ix := out[0], in[1], in[0]
	if a.Rank() != 2 || o.Rank() != 2 || ix.Rank() < 1 || ix.Rank() > 2 {
		operand.BadOperand("embedding_bag", "the weight is not a matrix or the indices are neither vector nor matrix")
	}
	idx := loadIndex(w, ix, 0, a.Dim(0))
	var offsets []int64
	if x := operand.At(in, 2); x != nil {
		offsets = loadIndex(w, x, 0, len(idx)+1)
		if extra := len(offsets) - o.Dim(0); extra != 0 && extra != 1 {
			operand.BadOperand("embedding_bag", "the number of starts is neither that of the bags nor one more")
		}
		if len(offsets) > 0 && offsets[0] != 0 {
			operand.BadOperand("embedding_bag", "the first bag starts at "+strconv.FormatInt(offsets[0], 10)+", expected 0")
		}
	}
	var scale []float64
	if x := operand.At(in, 3); x != nil {
		scale = move.LoadAs[float64](w, x)
		if len(scale) != len(idx) {
			operand.BadOperand("embedding_bag", "the numbers of indices and of weights per index differ")
		}
	}
	acc, row := par.Scratch[float64](w, a.Dim(1)), par.Scratch[float64](w, a.Dim(1))
	for bag := range o.Dim(0) {
		lo, hi := b.bounds(bag, ix, offsets, len(idx))
		b.reduce(acc, row, a, idx, scale, lo, hi)
		saveRow(o, bag, acc)
	}
}

// bounds returns the range of positions in the index list that make a bag.
func (b EmbeddingBag) bounds(bag int, ix *array.Array, offsets []int64, n int) (lo, hi int) {
	if ix.Rank() == 2 {
		return bag * ix.Dim(1), (bag + 1) * ix.Dim(1)
	}
	if offsets == nil {
		operand.BadOperand("embedding_bag", "a vector of indices needs the starts of the bags")
	}
	lo, hi = int(offsets[bag]), n
	if bag+1 < len(offsets) {
		hi = int(offsets[bag+1])
	}
	if hi < lo {
		operand.BadOperand("embedding_bag", "the starts of the bags are not in ascending order")
	}
	return lo, hi
}

// reduce sets acc to the reduction of the rows that idx[lo:hi] names. Rows are
// read once, from anywhere in the table; the sums stay in the first cache.
func (b EmbeddingBag) reduce(acc, row []float64, a *array.Array, idx []int64, scale []float64, lo, hi int) {
	clear(acc)
	for p := lo; p < hi; p++ {
		loadRow(row, a, int(idx[p]))
		switch {
		case b.Mode == "max":
			for i, v := range row {
				if p == lo || v > acc[i] || math.IsNaN(v) {
					acc[i] = v
				}
			}
		case scale != nil:
			for i, v := range row {
				acc[i] += float64(v * scale[p])
			}
		default:
			for i, v := range row {
				acc[i] += v
			}
		}
	}
	switch b.Mode {
	case "sum", "max":
	case "mean":
		for i := range acc {
			acc[i] /= float64(max(hi-lo, 1))
		}
	default:
		operand.BadOperand("embedding_bag", "unknown mode "+b.Mode)
	}
}

// loadRow reads row r of a matrix of floats.
func loadRow(dst []float64, a *array.Array, r int) {
	at, step := a.Offset()+r*a.Strides()[0], a.Strides()[1]
	switch a.DType() {
	case array.F32:
		x := array.Raw[float32](a)
		for i := range dst {
			dst[i] = float64(x[at+i*step])
		}
	case array.F64:
		x := array.Raw[float64](a)
		for i := range dst {
			dst[i] = x[at+i*step]
		}
	case array.F16:
		x := array.Raw[array.Half](a)
		for i := range dst {
			dst[i] = float64(x[at+i*step].Float32())
		}
	case array.BF16:
		x := array.Raw[array.BFloat](a)
		for i := range dst {
			dst[i] = float64(x[at+i*step].Float32())
		}
	default:
		operand.BadOperand("embedding_bag", "the weight is "+a.DType().String()+", expected a float type")
	}
}

// saveRow rounds x into row r of a contiguous matrix of floats.
func saveRow(a *array.Array, r int, x []float64) {
	lo, hi := r*len(x), (r+1)*len(x)
	if len(x) == 0 {
		return
	}
	switch a.DType() {
	case array.F32:
		move.Convert(move.RawOut[float32](a)[lo:hi], x)
	case array.F64:
		copy(move.RawOut[float64](a)[lo:hi], x)
	case array.F16:
		for i, o := 0, move.RawOut[array.Half](a)[lo:hi]; i < len(o); i++ {
			o[i] = array.HalfFromFloat64(x[i])
		}
	case array.BF16:
		for i, o := 0, move.RawOut[array.BFloat](a)[lo:hi]; i < len(o); i++ {
			o[i] = array.BFloatFromFloat64(x[i])
		}
	}
}
