package attention

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Attention is torch.nn.functional.scaled_dot_product_attention without dropout
// (Vaswani et al., 2017): softmax(q·kᵀ·scale)·v of in[0] q [..., L, E], in[1] k
// [..., S, E] and in[2] v [..., S, V] to [..., L, V]; leading dimensions broadcast.
// in[3], when there, is a mask that broadcasts to [..., L, S]: of bool, keeping
// where true, or of floats that are added to the scores. A query that a mask of
// bool leaves no key gets zeros, and so it does when S is 0; one to whose scores
// a mask adds -Inf everywhere gets NaN, as softmax of them is. Float element types;
// the 16-bit ones are computed in float32 and rounded once.
//
// Operands may be strided, as heads of [B, L, H, E] transposed are, and so may the
// result. Scores are never stored in full: a block of queries meets the keys block
// by block, and the softmax is corrected when a higher score turns up (Milakov and
// Gimelshein, 2018; Dao et al., 2022).
//
//gofx:kernel
type Attention struct {
	IsCausal  bool    // query i meets keys up to i alone
	EnableGqa bool    // k and v may have fewer heads (dimension -3), by a whole factor
	HasScale  bool    // Scale is given; else it is 1/sqrt(E)
	Scale     float64 // of the products of queries and keys
	// HeadsLast lays the heads of a query side by side: the result of q [..., H, L, E], which
	// has all leading dimensions then, is [..., L, H·V].
	HeadsLast bool
}

// attentionShape has the sizes of an attention.
type attentionShape struct {
	queries, keys, depth, features int
	lead                           []int // of the result
}

// Run implements Step.
func (s Attention) Run(w *par.Workspace, out, in []*array.Array) {
	sh := s.check(out[0], in)
	y := out[0]
	if s.HeadsLast {
		y = par.TakeJob[array.Array](w)
		sh.split(y, out[0])
	}
	switch {
	case y.Len() == 0:
	case y.DType() == array.F64:
		runAttention[float64](w, s, sh, y, in)
	default:
		runAttention[float32](w, s, sh, y, in)
	}
	if s.HeadsLast {
		y.SetStorage(nil, 0)
		w.Jobs = append(w.Jobs, y)
	}
}

// split makes y the result [..., H, L, V] of one whose heads lie side by side.
func (sh *attentionShape) split(y, out *array.Array) {
	var dims, strides [operand.MaxRank]int
	n := len(sh.lead)
	copy(dims[:], sh.lead)
	copy(strides[:], out.Strides()[:n-1])
	dims[n], dims[n+1] = sh.queries, sh.features
	strides[n-1], strides[n], strides[n+1] = sh.features*out.Strides()[n], out.Strides()[n-1], out.Strides()[n]
	y.SetLayout(out, dims[:n+2], strides[:n+2], out.Offset())
}

// ScratchBytes implements Scratcher. Threads bring scratch of their own.
func (s Attention) ScratchBytes(out, in []*array.Array) int {
	sh := s.check(out[0], in)
	size, lanes := 4, attentionLanes(cpu.AVX512)
	if out[0].DType() == array.F64 {
		size, lanes = 8, attentionLanes(cpu.Generic)
	}
	return par.ScratchSize(sh.scratch(lanes, out[0], in), size)
}

// check returns the sizes and panics on operands that do not fit together.
func (s Attention) check(out *array.Array, in []*array.Array) attentionShape {
	const step = "attention"
	q, k, v := in[0], in[1], in[2]
	for _, a := range []*array.Array{out, q, k, v} {
		if a.Rank() < 2 || !a.DType().IsFloat() || a.DType() != out.DType() {
			operand.BadOperand(step, "an operand or the result is not a matrix of floats, or their element types differ")
		}
		operand.CheckRank(step, a)
	}
	sh := attentionShape{q.Dim(-2), k.Dim(-2), q.Dim(-1), v.Dim(-1), out.Shape()[:out.Rank()-2]}
	width := sh.features
	if s.HeadsLast {
		last := q.Rank() - 3
		if last < 0 || !slices.Equal(sh.lead, q.Shape()[:last]) {
			operand.BadOperand(step, "the result has not the leading dimensions of q but the last")
		}
		sh.lead = q.Shape()[:last+1]
		width *= sh.lead[last]
	}
	if k.Dim(-1) != sh.depth || v.Dim(-2) != sh.keys || out.Dim(-2) != sh.queries || out.Dim(-1) != width {
		operand.BadOperand(step, "the sizes are not those of q [L, E], k [S, E], v [S, V] and a result [L, V]")
	}
	sh.fit(step, s, out.DType(), in)
	return sh
}

// fit panics on leading dimensions and a mask that do not fit to the sizes.
func (sh *attentionShape) fit(step string, s Attention, d array.DType, in []*array.Array) {
	q, mask := in[0], operand.At(in, 3)
	for _, a := range in[:3] {
		if !sh.leads(a, s.EnableGqa && a != q) {
			operand.BadOperand(step, "leading dimensions of an operand do not broadcast to those of the result")
		}
	}
	if mask == nil {
		return
	}
	if mask.DType() != array.Bool && mask.DType() != d {
		operand.BadOperand(step, "the mask is neither of bool nor of the element type of q")
	}
	rows, cols := fromEnd(mask.Shape(), 2, 1), fromEnd(mask.Shape(), 1, 1)
	if !sh.leads(mask, false) || rows != 1 && rows != sh.queries || cols != 1 && cols != sh.keys {
		operand.BadOperand(step, "the mask does not broadcast to the scores")
	}
}

// fromEnd returns list[len(list)-n], or none where the list is shorter.
func fromEnd(list []int, n, none int) int {
	if n > len(list) {
		return none
	}
	return list[len(list)-n]
}

// leads reports whether the leading dimensions of a broadcast to those of the
// result, that of the heads by repetition where grouped.
func (sh *attentionShape) leads(a *array.Array, grouped bool) bool {
	if a.Rank()-2 > len(sh.lead) {
		return false
	}
	for i := 1; i <= a.Rank()-2; i++ {
		n, want := a.Dim(-2-i), sh.lead[len(sh.lead)-i]
		if n != 1 && n != want && !(grouped && i == 1 && n > 0 && want%n == 0) {
			return false
		}
	}
	return true
}

// offset returns where matrix i of the result's lies in a, whose dimensions may
// be fewer or 1, or a whole factor fewer heads.
func (sh *attentionShape) offset(a *array.Array, i int) int {
	at := a.Offset()
	for d := 1; d <= len(sh.lead); d++ {
		n := sh.lead[len(sh.lead)-d]
		x := i % n
		i /= n
		if d <= a.Rank()-2 {
			if m := a.Dim(-2 - d); m != n {
				x /= n / m
			}
			at += x * a.Strides()[a.Rank()-2-d]
		}
	}
	return at
}

// direct reports whether the rows of a are read where they lie.
func (sh *attentionShape) direct(a *array.Array) bool {
	r := a.Rank()
	return !operand.IsHalf(a.DType()) && (a.Strides()[r-1] == 1 || a.Dim(-1) == 1) && a.Strides()[r-2] >= 0
}

// scratch returns the elements of scratch that one thread takes.
func (sh *attentionShape) scratch(lanes int, out *array.Array, in []*array.Array) int {
	n := lanes * (sh.depth + sh.features + operand.RoundUp(sh.features, attentionPad) + 3*attentionKeys + 5)
	for i, rows := range []int{lanes, attentionKeys, attentionKeys} {
		if !sh.direct(in[i]) {
			n += rows * in[i].Dim(-1)
		}
	}
	return n
}

func runAttention[T operand.Real](w *par.Workspace, s Attention, sh attentionShape, out *array.Array, in []*array.Array) {
	mark := w.Mark()
	j := par.TakeJob[attentionJob[T]](w)
	*j = attentionJob[T]{Attention: s, attentionShape: sh, level: cpu.Host.Level, lanes: attentionLanes(cpu.Host.Level),
		out: out, q: in[0], k: in[1], v: in[2], mask: operand.At(in, 3), scale: T(s.Scale)}
	if !operand.IsFloat32[T]() {
		j.level, j.lanes = cpu.Generic, attentionLanes(cpu.Generic)
	}
	if !s.HasScale {
		j.scale = T(1 / math.Sqrt(float64(sh.depth)))
	}
	j.need = sh.scratch(j.lanes, out, in)
	j.start(w)
	par.PutJob(w, j)
	w.Release(mark)
}

// start computes the blocks of queries on the threads of w.
func (j *attentionJob[T]) start(w *par.Workspace) {
	if w.Threads <= 1 {
		j.buf = par.Scratch[T](w, j.need)
	}
	j.blocks = (j.queries + j.lanes - 1) / j.lanes
	work := par.SimdWork
	if j.level == cpu.Generic {
		work = par.GemmWork
	}
	n := operand.Prod(j.lead) * j.blocks
	grain := max(1, work/(j.lanes*max(1, j.keys*(j.depth+j.features))))
	if (j.queries <= attentionFew || j.bytes && j.blocks == 1) && j.EnableGqa && j.k.Rank() > 2 { // which are taken together
		group := j.lead[len(j.lead)-1] / max(1, j.k.Dim(-3))
		grain = max(grain, min(group, (n-1)/max(1, w.Threads)+1))
	}
	w.Parallel(n, grain, j)
}
