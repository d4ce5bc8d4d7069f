package kernel

import (
	"github.com/gofx-dev/gofx/array"
)

// blocksJob reduces an array whose elements must be converted, some at a time, so
// that the converted ones never are in memory all together. Units are those of the
// outermost group, where it is kept, or spans of the only row.
type blocksJob struct {
	a     *array.Array
	g     groups
	inner int // elements of a unit
	spans bool
	sink  fusedSink
	parts fusedSink // with spans: an accumulator for each
}

// reducesAsStored reports whether elements of type d are reduced as they lie in
// memory for a result of type out.
func reducesAsStored(kind int, out, d array.DType) bool {
	if d == array.U64 {
		return kind != redMax && kind != redMin && !out.IsFloat()
	}
	return d == reduceType(out, d)
}

// reduceBlocks reduces a to o in blocks.
func reduceBlocks(w *Workspace, kind int, o, a *array.Array, g *groups) {
	j := takeJob[blocksJob](w)
	*j = blocksJob{a: a, g: *g, sink: fusedSink{kind: kind, elem: a.DType(), as: reduceType(o.DType(), a.DType())}}
	j.sink.accumulate(w, g.outLen)
	j.run(w, a.Len())
	j.sink.finish(o, g.count)
	putJob(w, j)
}

func (j *blocksJob) run(w *Workspace, total int) {
	g := &j.g
	switch {
	case total == 0:
	case w.Threads > 1 && g.n == 1 && g.step[0] == 0 && total >= 2*moveGrain:
		j.spans, j.inner, j.parts = true, rowSpan, j.sink
		n := (total-1)/rowSpan + 1
		j.parts.accumulate(w, n)
		w.Parallel(n, 1, j)
		j.sink.combine(&j.parts, n)
	case w.Threads > 1 && g.step[0] != 0 && total >= 2*moveGrain:
		j.inner = total / g.size[0]
		w.Parallel(g.size[0], max(1, moveGrain/j.inner), j)
	default:
		j.inner = total / g.size[0]
		j.Do(0, g.size[0])
	}
}

// Do implements Job: it reduces units [lo, hi).
func (j *blocksJob) Do(lo, hi int) {
	w := spareWorkspaces.take()
	g := j.g
	if j.spans {
		total := j.a.Len()
		for i := lo; i < hi; i++ {
			g.size[0] = min(rowSpan, total-i*rowSpan)
			s := j.parts.part(i, i+1, &g)
			s.takeAll(w, j.a, i*rowSpan, i*rowSpan+g.size[0], &g)
		}
	} else {
		g.size[0] = hi - lo
		first, end := lo*g.step[0], hi*g.step[0]
		if g.step[0] == 0 {
			end = g.outLen
		}
		s := j.sink.part(first, end, &g)
		s.takeAll(w, j.a, lo*j.inner, hi*j.inner, &g)
	}
	spareWorkspaces.put(w)
}
