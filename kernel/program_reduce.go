package kernel

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
)

// ElementwiseReduce runs Program over the elements of Shape, to which the inputs
// broadcast as for Elementwise, and reduces the dimensions Dims (all when empty)
// of its outputs: output i by Kinds[i], one of the kinds of Reduce, into out[i],
// whose type decides the type of the result; the kind "" stores the elements.
// What the program gives stays in a cache. The bits are those of Elementwise
// and, on its outputs, Reduce.
type ElementwiseReduce struct {
	Program Program
	Shape   []int
	Kinds   []string
	Dims    []int
}

// ScratchBytes implements Scratcher. What goroutines need they bring.
func (s ElementwiseReduce) ScratchBytes(out, _ []*array.Array) int {
	n := 0
	for i, o := range out {
		if s.Kinds[i] != "" {
			n += scratchSize(o.Len(), 8) + partBytes(prod(s.Shape))
		}
	}
	return n
}

// Run implements Step. It panics with a *diag.Error when the operands do not fit
// the program; it allocates nothing once w has the scratch that it needs.
func (s ElementwiseReduce) Run(w *Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	j := takeJob[fusedJob](w)
	*j = fusedJob{program: s.Program, shape: s.Shape, in: in, out: out, sinks: j.sinks[:0], parts: j.parts[:0]}
	j.g.init("elementwise_reduce", s.Shape, s.Dims)
	s.check(out, in, &j.g)
	total := prod(s.Shape)
	for i, o := range out {
		j.sinks = append(j.sinks, newFusedSink(w, s.Kinds[i], o, s.Program.Outputs[i], &j.g))
	}
	j.run(w, total)
	for i := range j.sinks {
		j.sinks[i].finish(out[i], j.g.count)
	}
	clear(j.sinks)
	clear(j.parts)
	*j = fusedJob{sinks: j.sinks[:0], parts: j.parts[:0]}
	w.jobs = append(w.jobs, j)
}

func (s *ElementwiseReduce) check(out, in []*array.Array, g *groups) {
	p := &s.Program
	if len(p.Outputs) == 0 || len(out) != len(p.Outputs) || len(s.Kinds) != len(out) || len(in) < len(p.Inputs) {
		panic(programBug("the number of operands does not match the program"))
	}
	checkInputs(p, s.Shape, in)
	for i, o := range out {
		switch kind := s.Kinds[i]; {
		case !o.IsContiguous():
			panic(programBug("an output is not contiguous"))
		case kind == "":
			if o.DType() != p.Outputs[i] || !equalShapes(o.Shape(), s.Shape) {
				panic(programBug("a stored output does not have the type and shape of the elements"))
			}
		case o.Len() != g.outLen:
			panic(programBug("a reduced output has " + strconv.Itoa(o.Len()) + " elements, expected " + strconv.Itoa(g.outLen)))
		default:
			if k := kindOf(kind); g.count == 0 && g.outLen > 0 && (k == redMax || k == redMin) {
				noElements(kind)
			}
		}
	}
}

// fusedJob is such a step in progress: units are those of the outermost group,
// where it is kept, or spans of the only row.
type fusedJob struct {
	program Program
	shape   []int
	in, out []*array.Array
	g       groups
	inner   int // elements of a unit
	spans   bool
	sinks   []fusedSink
	parts   []fusedSink // with spans: an accumulator for each
}

func (j *fusedJob) run(w *Workspace, total int) {
	g := &j.g
	grain := j.program.grain()
	switch {
	case total == 0:
	case w.Threads > 1 && g.n == 1 && g.step[0] == 0 && total > rowSpan:
		j.spans, j.inner = true, rowSpan
		n := (total-1)/rowSpan + 1
		for i := range j.sinks {
			p := j.sinks[i]
			p.accumulate(w, n)
			j.parts = append(j.parts, p)
		}
		w.Parallel(n, max(1, grain/rowSpan), j)
		for i := range j.sinks {
			j.sinks[i].combine(&j.parts[i], n)
		}
	case w.Threads > 1 && g.step[0] != 0 && total > grain:
		j.inner = total / g.size[0]
		w.Parallel(g.size[0], max(1, grain/j.inner), j)
	default:
		j.inner = total / g.size[0]
		j.Do(0, g.size[0])
	}
}

// Do computes units [lo, hi).
func (j *fusedJob) Do(lo, hi int) {
	w := spareWorkspaces.take()
	r := takeJob[fusedRun](w)
	if j.spans {
		total := prod(j.shape)
		for i := lo; i < hi; i++ {
			g := j.g
			g.size[0] = min(rowSpan, total-i*rowSpan)
			r.start(j, j.parts, i, i+1, &g)
			r.over(w, j, i*rowSpan, i*rowSpan+g.size[0])
		}
	} else {
		g := j.g
		g.size[0] = hi - lo
		first, end := lo*g.step[0], hi*g.step[0]
		if g.step[0] == 0 {
			end = g.outLen
		}
		r.start(j, j.sinks, first, end, &g)
		r.over(w, j, lo*j.inner, hi*j.inner)
	}
	clear(r.sinks)
	r.sinks = r.sinks[:0]
	w.jobs = append(w.jobs, r)
	spareWorkspaces.put(w)
}

// fusedRun is what a goroutine computes: blocks of elements go to slabs.
type fusedRun struct {
	sinks []fusedSink
	slabs []*array.Array
	n     int  // elements of a row
	whole bool // rows are reduced, so that slabs end where they or spans of them do
}

// start begins a reduction of g into the accumulators [lo, hi) of the sinks.
func (r *fusedRun) start(j *fusedJob, sinks []fusedSink, lo, hi int, g *groups) {
	n, _, kept, _ := g.block()
	r.n, r.whole = n, !kept
	r.sinks = r.sinks[:0]
	for i := range sinks {
		r.sinks = append(r.sinks, sinks[i].part(lo, hi, g))
		if d := sinks[i].elem; i == len(r.slabs) {
			r.slabs = append(r.slabs, array.New(d, rowSpan+programBlock))
		} else if r.slabs[i].DType() != d {
			r.slabs[i] = array.New(d, rowSpan+programBlock)
		}
	}
}

// over computes the elements [lo, hi), slab by slab.
func (r *fusedRun) over(w *Workspace, j *fusedJob, lo, hi int) {
	for at := lo; at < hi; {
		n := min(rowSpan, hi-at)
		switch {
		case r.whole && r.n <= rowSpan:
			n = min(n, rowSpan/r.n*r.n)
		case r.whole:
			n = min(n, r.n-(at-lo)%r.n)
		}
		from := at / programBlock * programBlock
		j.program.run(cpu.level, w, programOut{r.slabs[:len(r.sinks)], j.shape, from}, j.in, from, at+n)
		for i := range r.sinks {
			if s := &r.sinks[i]; s.kind == stores {
				copyBytes(j.out[i], at, r.slabs[i], at-from, n)
			} else {
				s.take(w, r.slabs[i], at-from, at-from+n)
			}
		}
		at += n
	}
}

// copyBytes copies n elements of a contiguous array to another of its type.
func copyBytes(dst *array.Array, at int, src *array.Array, from, n int) {
	size := dst.DType().Size()
	at += dst.Offset()
	copy(dst.Storage().Bytes()[at*size:(at+n)*size], src.Storage().Bytes()[from*size:])
}
