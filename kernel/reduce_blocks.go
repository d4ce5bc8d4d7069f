package kernel

import "github.com/gofx-dev/gofx/array"

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

// rawPart returns elements [lo, hi) of in, in row-major order: its own memory where
// they lie side by side, else scratch.
func rawPart[T array.Elem](w *Workspace, in *array.Array, lo, hi int) []T {
	if in.IsContiguous() || lo == 0 && hi == in.Len() {
		return rawDense[T](w, in)[lo:hi]
	}
	raw, buf := array.Raw[T](in), Scratch[T](w, hi-lo)
	shape, strides := in.Shape(), in.Strides()
	var at [maxRank]int
	o := in.Offset()
	for d, rest := len(shape)-1, lo; d >= 0; d-- {
		at[d], rest = rest%shape[d], rest/shape[d]
		o += at[d] * strides[d]
	}
	last := len(shape) - 1
	for k := 0; k < len(buf); {
		n := min(shape[last]-at[last], len(buf)-k)
		for i := range n {
			buf[k+i] = raw[o+i*strides[last]]
		}
		k += n
		o -= at[last] * strides[last]
		at[last] = 0
		for d := last - 1; d >= 0; d-- {
			if at[d]++; at[d] < shape[d] {
				o += strides[d]
				break
			}
			o -= (at[d] - 1) * strides[d]
			at[d] = 0
		}
	}
	return buf
}
