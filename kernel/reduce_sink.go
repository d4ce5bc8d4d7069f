package kernel

import "github.com/gofx-dev/gofx/array"

// stores is the kind of an output that is not reduced.
const stores = -1

// fusedSink is where an output of the program goes: accumulators of one type.
type fusedSink struct {
	kind   int
	elem   array.DType // of the program's output
	as     array.DType // what its elements are reduced as
	f32    []float32
	f64    []float64
	i64    []int64
	cursor reduceCursor
}

func newFusedSink(w *Workspace, kind string, o *array.Array, elem array.DType, g *groups) fusedSink {
	if kind == "" {
		return fusedSink{kind: stores, elem: elem}
	}
	s := fusedSink{kind: kindOf(kind), elem: elem, as: reduceType(o.DType(), elem)}
	s.accumulate(w, g.outLen)
	return s
}

// accumulate gives s its n accumulators.
func (s *fusedSink) accumulate(w *Workspace, n int) {
	switch {
	case s.kind == stores:
	case s.as == array.F32 && (s.kind == redMax || s.kind == redMin):
		s.f32 = identities[float32](w, s.kind, n)
	case s.as == array.I64:
		s.i64 = identities[int64](w, s.kind, n)
	default:
		s.f64 = identities[float64](w, s.kind, n)
	}
}

func identities[A accumulator](w *Workspace, kind, n int) []A {
	acc := Scratch[A](w, n)
	fillSlice(acc, identity[A](kind))
	return acc
}

// part is s for the accumulators [lo, hi) alone, from the start of a reduction of g.
func (s *fusedSink) part(lo, hi int, g *groups) fusedSink {
	p := fusedSink{kind: s.kind, elem: s.elem, as: s.as, cursor: newReduceCursor(g)}
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

// take reduces elements [lo, hi) of a, which follow those that it took before.
func (s *fusedSink) take(w *Workspace, a *array.Array, lo, hi int) {
	defer w.Release(w.Mark())
	switch {
	case s.f32 != nil:
		feed(&s.cursor, s.kind, s.f32, loadPart[float32](w, a, lo, hi))
	case s.i64 != nil:
		x := loadPart[int64](w, a, lo, hi)
		if a.DType() == array.U64 && (s.kind == redMax || s.kind == redMin) {
			moved := Scratch[int64](w, len(x))
			copy(moved, x)
			unorder(array.U64, moved)
			x = moved
		}
		feed(&s.cursor, s.kind, s.i64, x)
	case s.as == array.F32:
		feed(&s.cursor, s.kind, s.f64, loadPart[float32](w, a, lo, hi))
	case s.f64 != nil:
		feed(&s.cursor, s.kind, s.f64, loadPart[float64](w, a, lo, hi))
	}
}

// combine adds the one accumulator of each of n parts, in order.
func (s *fusedSink) combine(parts *fusedSink, n int) {
	for i := range n {
		switch {
		case s.f32 != nil:
			s.f32[0] = reduceRun(s.kind, s.f32[0], parts.f32[i:i+1])
		case s.f64 != nil:
			s.f64[0] = reduceRun(s.kind, s.f64[0], parts.f64[i:i+1])
		case s.i64 != nil:
			s.i64[0] = reduceRun(s.kind, s.i64[0], parts.i64[i:i+1])
		}
	}
}

func (s *fusedSink) finish(o *array.Array, count int) {
	switch {
	case s.f32 != nil:
		finishReduce(s.kind, o, s.elem, s.f32, count)
	case s.f64 != nil:
		finishReduce(s.kind, o, s.elem, s.f64, count)
	case s.i64 != nil:
		finishReduce(s.kind, o, s.elem, s.i64, count)
	}
}

// takeAll takes the elements [lo, hi) of a, the first of which begins a reduction
// of g, block by block: blocks end where reduced rows or spans of them do.
func (s *fusedSink) takeAll(w *Workspace, a *array.Array, lo, hi int, g *groups) {
	row, _, kept, _ := g.block()
	for at := lo; at < hi; {
		n := min(rowSpan, hi-at)
		switch {
		case !kept && row <= rowSpan:
			n = min(n, rowSpan/row*row)
		case !kept:
			n = min(n, row-(at-lo)%row)
		}
		s.take(w, a, at, at+n)
		at += n
	}
}
