package reduce

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// blocksJob reduces an array whose elements must be converted, some at a time, so
// that the converted ones never are in memory all together. Units are those of the
// outermost group, where it is kept, or spans of the only row.
type blocksJob struct {
	a     *array.Array
	g     Groups
	inner int // elements of a unit
	spans bool
	sink  FusedSink
	parts FusedSink // with spans: an accumulator for each
}

// reducesAsStored reports whether elements of type d are reduced as they lie in
// memory for a result of type out.
func reducesAsStored(kind int, out, d array.DType) bool {
	if d == array.U64 {
		return kind != RedMax && kind != RedMin && !out.IsFloat()
	}
	return d == reduceType(out, d)
}

// reduceBlocks reduces a to o in blocks.
func reduceBlocks(w *par.Workspace, kind int, o, a *array.Array, g *Groups) {
	j := par.TakeJob[blocksJob](w)
	*j = blocksJob{a: a, g: *g, sink: FusedSink{Kind: kind, Elem: a.DType(), as: reduceType(o.DType(), a.DType())}}
	j.sink.Accumulate(w, g.OutLen)
	j.run(w, a.Len())
	j.sink.Finish(o, g.Count)
	par.PutJob(w, j)
}

func (j *blocksJob) run(w *par.Workspace, total int) {
	g := &j.g
	switch {
	case total == 0:
	case w.Threads > 1 && g.N == 1 && g.Step[0] == 0 && total >= 2*move.Grain:
		j.spans, j.inner, j.parts = true, RowSpan, j.sink
		n := (total-1)/RowSpan + 1
		j.parts.Accumulate(w, n)
		w.Parallel(n, 1, j)
		j.sink.Combine(&j.parts, n)
	case w.Threads > 1 && g.Step[0] != 0 && total >= 2*move.Grain:
		j.inner = total / g.Size[0]
		w.Parallel(g.Size[0], max(1, move.Grain/j.inner), j)
	default:
		j.inner = total / g.Size[0]
		j.Do(0, g.Size[0])
	}
}

// Do implements Job: it reduces units [lo, hi). Elements are converted a block at
// a time into the scratch of this goroutine and reduced from there while a near
// cache holds them.
func (j *blocksJob) Do(lo, hi int) {
	w := par.SpareWorkspaces.Take()
	g := j.g
	if j.spans {
		total := j.a.Len()
		for i := lo; i < hi; i++ {
			g.Size[0] = min(RowSpan, total-i*RowSpan)
			s := j.parts.Part(i, i+1, &g)
			s.takeAll(w, j.a, i*RowSpan, i*RowSpan+g.Size[0], &g)
		}
	} else {
		g.Size[0] = hi - lo
		first, end := lo*g.Step[0], hi*g.Step[0]
		if g.Step[0] == 0 {
			end = g.OutLen
		}
		s := j.sink.Part(first, end, &g)
		s.takeAll(w, j.a, lo*j.inner, hi*j.inner, &g)
	}
	par.SpareWorkspaces.Put(w)
}
