package index

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// loadIndex returns an integer index array as dense int64, every value checked
// to be in [0, size); dim is the dimension that the message names.
func loadIndex(w *par.Workspace, a *array.Array, dim, size int) []int64 {
	idx := move.LoadAs[int64](w, a)
	for _, v := range idx {
		if uint64(v) >= uint64(size) {
			operand.BadIndex(v, dim, size)
		}
	}
	return idx
}

// IndexSelect takes the slices of in[0] along Dim that the one-dimensional
// in[1] (i32 or i64) names.
//
//gofx:kernel
type IndexSelect struct{ Dim int }

// ScratchBytes implements Scratcher.
func (s IndexSelect) ScratchBytes(_, in []*array.Array) int { return move.AsBytes(in[1], array.I64) }

// Indexes implements Indexer.
func (s IndexSelect) Indexes() (index, of, dim int) { return 1, 0, s.Dim }

// Run implements Step.
func (s IndexSelect) Run(w *par.Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	o, a := out[0], in[0]
	d, size := 0, 1
	if a.Rank() > 0 {
		d = operand.Axis("index_select", s.Dim, operand.CheckRank("index_select", a))
		size = a.Dim(d)
	}
	idx := loadIndex(w, in[1], d, size)
	if o.Len() == 0 {
		return
	}
	var v move.View
	v.Of("index_select", a)
	step, ostep := 0, 0
	if v.Rank > 0 {
		step, ostep = v.Strides[d], o.Strides()[d]
		v.Drop(d)
	}
	// The loop nest of one slice; only its origin moves from index to index.
	var m move.Nest
	for i := range v.Rank {
		j := i
		if i >= d {
			j++
		}
		m.Push(v.Shape[i], o.Strides()[j], v.Strides[i])
	}
	for i, at := range idx {
		move.Move(w, o, o.Offset()+i*ostep, a, a.Offset()+int(at)*step, &m)
	}
}

// Embedding takes the rows of the matrix in[1] that in[0] (i32 or i64, any
// shape) names: the result has in[0]'s shape and the row length.
//
//gofx:kernel
type Embedding struct{}

// ScratchBytes implements Scratcher.
func (Embedding) ScratchBytes(_, in []*array.Array) int { return move.AsBytes(in[0], array.I64) }

// Indexes implements Indexer.
func (Embedding) Indexes() (index, of, dim int) { return 0, 1, 0 }

// Run implements Step.
func (Embedding) Run(w *par.Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	o, a := out[0], in[1]
	if a.Rank() != 2 {
		operand.BadOperand("embedding", "the weight is not a matrix")
	}
	idx := loadIndex(w, in[0], 0, a.Dim(0))
	n := a.Dim(1)
	if size := o.DType().Size(); a.Strides()[1] == 1 && o.Len() > 0 && a.DType() == o.DType() {
		j := par.TakeJob[rowsJob](w)
		*j = rowsJob{dst: o.Storage().Bytes()[o.Offset()*size:], src: a.Storage().Bytes(), idx: idx, first: a.Offset() * size, row: n * size, step: a.Strides()[0] * size}
		w.Parallel(len(idx), max(1, rowsWork/j.row), j)
		par.PutJob(w, j)
		return
	}
	var m move.Nest
	m.Push(n, 1, a.Strides()[1])
	for i, at := range idx {
		move.Move(w, o, o.Offset()+i*n, a, a.Offset()+int(at)*a.Strides()[0], &m)
	}
}

// rowsWork is the bytes of a chunk of rows, most of which come from memory.
const rowsWork = 1 << 14

// rowsJob copies rows of so many bytes, step bytes apart from the first one on.
type rowsJob struct {
	dst, src         []byte
	idx              []int64
	first, row, step int
}

// Do copies rows [lo, hi) of the result.
func (j *rowsJob) Do(lo, hi int) {
	for i, at := range j.idx[lo:hi] {
		copy(j.dst[(lo+i)*j.row:(lo+i+1)*j.row], j.src[j.first+int(at)*j.step:])
	}
}

// Gather takes, for every element of in[1] (i32 or i64), the element of in[0]
// at the same multi-index except in dimension Dim, whose index in[1] gives.
// in[1] may be smaller than in[0] in the other dimensions.
//
//gofx:kernel
type Gather struct{ Dim int }

// ScratchBytes implements Scratcher.
func (g Gather) ScratchBytes(_, in []*array.Array) int { return move.AsBytes(in[1], array.I64) }

// Indexes implements Indexer.
func (g Gather) Indexes() (index, of, dim int) { return 1, 0, g.Dim }

// Run implements Step.
func (g Gather) Run(w *par.Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	o, a, ix := out[0], in[0], in[1]
	var t along
	t.init("gather", g.Dim, a, ix)
	idx := loadIndex(w, ix, t.dim, t.size)
	switch o.DType().Size() {
	case 1:
		gather(move.RawOut[uint8](o), array.Raw[uint8](a), idx, a, &t)
	case 2:
		gather(move.RawOut[uint16](o), array.Raw[uint16](a), idx, a, &t)
	case 4:
		gather(move.RawOut[uint32](o), array.Raw[uint32](a), idx, a, &t)
	default:
		gather(move.RawOut[uint64](o), array.Raw[uint64](a), idx, a, &t)
	}
}

// along walks the multi-indices of an index array and keeps the position that
// all dimensions but one have in another array.
type along struct {
	dim, size, step int // the dimension that the index replaces
	rank            int
	shape           [operand.MaxRank]int // of the index array
	strides         [operand.MaxRank]int // of the other array, 0 in dimension dim
	at              [operand.MaxRank]int
	pos             int
}

// init starts a walk over ix's shape through a.
func (t *along) init(step string, dim int, a, ix *array.Array) {
	t.rank = operand.CheckRank(step, a)
	if ix.Rank() != t.rank && ix.Len() > 0 {
		operand.BadOperand(step, "the index has another rank than the operand")
	}
	t.size = 1
	if t.rank == 0 {
		operand.Axis(step, dim, 1)
		return
	}
	t.dim = operand.Axis(step, dim, t.rank)
	t.size, t.step = a.Dim(t.dim), a.Strides()[t.dim]
	if ix.Len() == 0 {
		return
	}
	for i, n := range ix.Shape() {
		t.shape[i], t.strides[i] = n, a.Strides()[i]
		if i == t.dim {
			t.strides[i] = 0
		} else if n > a.Dim(i) {
			operand.BadOperand(step, "the index is larger than the operand in another dimension")
		}
	}
}

// next moves to the next multi-index in row-major order.
func (t *along) next() {
	for i := t.rank - 1; i >= 0; i-- {
		t.at[i]++
		t.pos += t.strides[i]
		if t.at[i] < t.shape[i] {
			return
		}
		t.pos -= t.strides[i] * t.shape[i]
		t.at[i] = 0
	}
}

func gather[T array.Elem](dst, src []T, idx []int64, a *array.Array, t *along) {
	for i, v := range idx {
		dst[i] = src[a.Offset()+t.pos+int(v)*t.step]
		t.next()
	}
}
