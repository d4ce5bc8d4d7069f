package reduce

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Stores is the kind of an output that is not reduced.
const Stores = -1

// FusedSink is where an output of the program goes: accumulators of one type.
type FusedSink struct {
	Kind   int
	Elem   array.DType // of the program's output
	as     array.DType // the type in which its elements are reduced
	f32    []float32
	f64    []float64
	i64    []int64
	cursor reduceCursor
}

// NewFusedSink returns where output o of a program goes: to accumulators, or nowhere
// with the kind "".
func NewFusedSink(w *par.Workspace, kind string, o *array.Array, elem array.DType, g *Groups) FusedSink {
	if kind == "" {
		return FusedSink{Kind: Stores, Elem: elem}
	}
	s := FusedSink{Kind: KindOf(kind), Elem: elem, as: reduceType(o.DType(), elem)}
	s.Accumulate(w, g.OutLen)
	return s
}

// Accumulate gives s its n accumulators.
func (s *FusedSink) Accumulate(w *par.Workspace, n int) {
	switch {
	case s.Kind == Stores:
	case s.as == array.F32 && (s.Kind == RedMax || s.Kind == RedMin):
		s.f32 = identities[float32](w, s.Kind, n)
	case s.as == array.I64:
		s.i64 = identities[int64](w, s.Kind, n)
	default:
		s.f64 = identities[float64](w, s.Kind, n)
	}
}

func identities[A accumulator](w *par.Workspace, kind, n int) []A {
	acc := par.Scratch[A](w, n)
	operand.FillSlice(acc, identity[A](kind))
	return acc
}

// Part is s for the accumulators [lo, hi) alone, from the start of a reduction of g.
func (s *FusedSink) Part(lo, hi int, g *Groups) FusedSink {
	p := FusedSink{Kind: s.Kind, Elem: s.Elem, as: s.as, cursor: newReduceCursor(g)}
	switch {
	case s.f32 != nil:
		p.f32 = s.f32[lo:hi]
	case s.f64 != nil:
		p.f64 = s.f64[lo:hi]
	case s.i64 != nil:
		p.i64 = s.i64[lo:hi]
	}
	return p
}

// Take reduces elements [lo, hi) of a, which follow those that it took before.
func (s *FusedSink) Take(w *par.Workspace, a *array.Array, lo, hi int) {
	defer w.Release(w.Mark())
	switch {
	case s.f32 != nil:
		feed(&s.cursor, s.Kind, s.f32, move.LoadPart[float32](w, a, lo, hi))
	case s.i64 != nil:
		x := move.LoadPart[int64](w, a, lo, hi)
		if a.DType() == array.U64 && (s.Kind == RedMax || s.Kind == RedMin) {
			moved := par.Scratch[int64](w, len(x))
			copy(moved, x)
			move.Unorder(array.U64, moved)
			x = moved
		}
		feed(&s.cursor, s.Kind, s.i64, x)
	case s.as == array.F32:
		feed(&s.cursor, s.Kind, s.f64, move.LoadPart[float32](w, a, lo, hi))
	case s.f64 != nil:
		feed(&s.cursor, s.Kind, s.f64, move.LoadPart[float64](w, a, lo, hi))
	}
}

// Combine adds the one accumulator of each of n parts, in order.
func (s *FusedSink) Combine(parts *FusedSink, n int) {
	for i := range n {
		switch {
		case s.f32 != nil:
			s.f32[0] = reduceRun(s.Kind, s.f32[0], parts.f32[i:i+1])
		case s.f64 != nil:
			s.f64[0] = reduceRun(s.Kind, s.f64[0], parts.f64[i:i+1])
		case s.i64 != nil:
			s.i64[0] = reduceRun(s.Kind, s.i64[0], parts.i64[i:i+1])
		}
	}
}

// Finish stores the accumulated results in o, count elements to each.
func (s *FusedSink) Finish(o *array.Array, count int) {
	switch {
	case s.f32 != nil:
		finishReduce(s.Kind, o, s.Elem, s.f32, count)
	case s.f64 != nil:
		finishReduce(s.Kind, o, s.Elem, s.f64, count)
	case s.i64 != nil:
		finishReduce(s.Kind, o, s.Elem, s.i64, count)
	}
}

// takeAll takes the elements [lo, hi) of a, the first of which begins a reduction
// of g, block by block: blocks end where reduced rows or spans of them do.
func (s *FusedSink) takeAll(w *par.Workspace, a *array.Array, lo, hi int, g *Groups) {
	row, _, kept, _ := g.Block()
	for at := lo; at < hi; {
		n := min(RowSpan, hi-at)
		switch {
		case !kept && row <= RowSpan:
			n = min(n, RowSpan/row*row)
		case !kept:
			n = min(n, row-(at-lo)%row)
		}
		s.Take(w, a, at, at+n)
		at += n
	}
}
