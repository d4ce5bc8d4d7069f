package index

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Scatter copies in[0] and then, for every element of in[1] (i32 or i64),
// combines the element of in[2] at the same multi-index into the element that
// has this multi-index except in dimension Dim, whose index in[1] gives. Reduce
// is "" (the later one in row-major order wins), "add", "multiply", "amax" or
// "amin"; NaN wins both of the latter.
//
//gofx:kernel
type Scatter struct {
	Dim    int
	Reduce string
}

// ScratchBytes implements Scratcher.
func (s Scatter) ScratchBytes(out, in []*array.Array) int {
	n := move.AsBytes(in[1], array.I64)
	if s.Reduce == "" {
		return n
	}
	d := move.ScalarOf(out[0].DType())
	n += move.OrderedBytes(in[2], d)
	if out[0].DType() != d && out[0].DType() != array.U64 {
		n += move.AsBytes(out[0], d)
	}
	return n
}

// Updates implements Updater.
func (Scatter) Updates() {}

// Indexes implements Indexer.
func (s Scatter) Indexes() (index, of, dim int) { return 1, 0, s.Dim }

// Run implements Step.
func (s Scatter) Run(w *par.Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	o := out[0]
	move.Keep(w, o, in[0])
	var to along
	to.init("scatter", s.Dim, o, in[1])
	idx := loadIndex(w, in[1], to.dim, to.size)
	if len(idx) == 0 {
		return
	}
	if s.Reduce == "" {
		s.set(o, in[2], idx, in[1], &to)
		return
	}
	switch move.ScalarOf(o.DType()) {
	case array.F32:
		scatterWith[float32](w, s.Reduce, o, in[2], idx, in[1], &to)
	case array.F64:
		scatterWith[float64](w, s.Reduce, o, in[2], idx, in[1], &to)
	default:
		scatterWith[int64](w, s.Reduce, o, in[2], idx, in[1], &to)
	}
}

// through starts a walk over ix's shape through all dimensions of src.
func (t *along) through(step string, src, ix *array.Array) {
	if src.Rank() != ix.Rank() {
		operand.BadOperand(step, "the source has another rank than the index")
	}
	t.rank = operand.CheckRank(step, ix)
	for i, n := range ix.Shape() {
		if n > src.Dim(i) {
			operand.BadOperand(step, "the index is larger than the source")
		}
		t.shape[i], t.strides[i] = n, src.Strides()[i]
	}
}

func (s Scatter) set(o, src *array.Array, idx []int64, ix *array.Array, to *along) {
	var of along
	of.through("scatter", src, ix)
	switch o.DType().Size() {
	case 1:
		scatter(move.RawOut[uint8](o), array.Raw[uint8](src), src.Offset(), idx, to, &of)
	case 2:
		scatter(move.RawOut[uint16](o), array.Raw[uint16](src), src.Offset(), idx, to, &of)
	case 4:
		scatter(move.RawOut[uint32](o), array.Raw[uint32](src), src.Offset(), idx, to, &of)
	default:
		scatter(move.RawOut[uint64](o), array.Raw[uint64](src), src.Offset(), idx, to, &of)
	}
}

func scatter[T array.Elem](dst, src []T, off int, idx []int64, to, of *along) {
	for _, v := range idx {
		dst[to.pos+int(v)*to.step] = src[off+of.pos]
		to.next()
		of.next()
	}
}

// scatterWith is scatter with arithmetic, on all of o as scalars. It combines
// into o itself if o's elements are already scalars.
func scatterWith[T move.Scalar](w *par.Workspace, how string, o, src *array.Array, idx []int64, ix *array.Array, to *along) {
	var of along
	of.through("scatter", src, ix)
	// The loaded source is dense, whatever the layout of src was.
	n := 1
	for i := of.rank - 1; i >= 0; i-- {
		of.strides[i] = n
		n *= src.Dim(i)
	}
	ordered := how == "amax" || how == "amin"
	dst := move.LoadAs[T](w, o)
	var x []T
	if ordered {
		x = move.LoadOrdered[T](w, src)
		move.Unorder(o.DType(), dst)
	} else {
		x = move.LoadAs[T](w, src)
	}
	if how == "add" && to.rank > 0 {
		addRows(dst, x, idx, to, &of)
	} else {
		for _, v := range idx {
			p := &dst[to.pos+int(v)*to.step]
			*p = combine(how, *p, x[of.pos])
			to.next()
			of.next()
		}
	}
	if ordered {
		move.Unorder(o.DType(), dst)
	}
	move.SaveAs(o, dst)
}

// addRows adds the elements of x to those of dst, along the last dimension of the index without
// asking where the next element is: gradients of pools and embeddings are such sums.
func addRows[T move.Scalar](dst, x []T, idx []int64, to, of *along) {
	last := to.rank - 1
	n, stride, from := to.shape[last], to.strides[last], of.strides[last]
	to.rank, of.rank = last, last
	for ; len(idx) > 0; idx = idx[n:] {
		p, q := to.pos, of.pos
		for _, v := range idx[:n] {
			dst[p+int(v)*to.step] += x[q]
			p, q = p+stride, q+from
		}
		to.next()
		of.next()
	}
}

// combine applies one of the named reductions to two values.
func combine[T move.Scalar](how string, a, b T) T {
	switch how {
	case "add":
		return a + b
	case "multiply":
		return a * b
	case "amax":
		if b > a || b != b {
			return b
		}
		return a
	case "amin":
		if b < a || b != b {
			return b
		}
		return a
	}
	operand.BadOperand("scatter", "unknown reduction "+how)
	return a
}
