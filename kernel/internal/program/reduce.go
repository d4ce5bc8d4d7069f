package program

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/reduce"
)

// ElementwiseReduce runs Program over the elements of Shape, to which the inputs
// broadcast as for Elementwise, and reduces the dimensions Dims (all when empty)
// of its outputs: output i by Kinds[i], one of the kinds of Reduce, into out[i],
// whose type decides the type of the result; the kind "" stores the elements.
// The results of the program stay in a cache. The bits are those of Elementwise
// and, on its outputs, Reduce.
//
//gofx:kernel
type ElementwiseReduce struct {
	Program Program
	Shape   []int
	Kinds   []string
	Dims    []int
}

// ScratchBytes implements Scratcher. Goroutines bring the memory that they need.
func (s ElementwiseReduce) ScratchBytes(out, _ []*array.Array) int {
	n := 0
	for i, o := range out {
		if s.Kinds[i] != "" {
			n += par.ScratchSize(o.Len(), 8) + reduce.PartBytes(operand.Prod(s.Shape))
		}
	}
	return n
}

// Run implements Step. It panics with a *diag.Error when the operands do not fit
// the program; it allocates nothing once w has the scratch that it needs.
func (s ElementwiseReduce) Run(w *par.Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	j := par.TakeJob[fusedJob](w)
	*j = fusedJob{program: s.Program, shape: s.Shape, in: in, out: out, sinks: j.sinks[:0], parts: j.parts[:0]}
	j.g.Init("elementwise_reduce", s.Shape, s.Dims)
	s.check(out, in, &j.g)
	total := operand.Prod(s.Shape)
	for i, o := range out {
		j.sinks = append(j.sinks, reduce.NewFusedSink(w, s.Kinds[i], o, s.Program.Outputs[i], &j.g))
	}
	j.run(w, total)
	for i := range j.sinks {
		j.sinks[i].Finish(out[i], j.g.Count)
	}
	clear(j.sinks)
	clear(j.parts)
	*j = fusedJob{sinks: j.sinks[:0], parts: j.parts[:0]}
	w.Jobs = append(w.Jobs, j)
}

func (s *ElementwiseReduce) check(out, in []*array.Array, g *reduce.Groups) {
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
			if o.DType() != p.Outputs[i] || !slices.Equal(o.Shape(), s.Shape) {
				panic(programBug("a stored output does not have the type and shape of the elements"))
			}
		case o.Len() != g.OutLen:
			panic(programBug("a reduced output has " + strconv.Itoa(o.Len()) + " elements, expected " + strconv.Itoa(g.OutLen)))
		default:
			if k := reduce.KindOf(kind); g.Count == 0 && g.OutLen > 0 && (k == reduce.RedMax || k == reduce.RedMin) {
				reduce.NoElements(kind)
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
	g       reduce.Groups
	inner   int // elements of a unit
	spans   bool
	sinks   []reduce.FusedSink
	parts   []reduce.FusedSink // with spans: an accumulator for each
}

func (j *fusedJob) run(w *par.Workspace, total int) {
	g := &j.g
	grain := j.program.grain()
	switch {
	case total == 0:
	case w.Threads > 1 && g.N == 1 && g.Step[0] == 0 && total > reduce.RowSpan:
		j.spans, j.inner = true, reduce.RowSpan
		n := (total-1)/reduce.RowSpan + 1
		for i := range j.sinks {
			p := j.sinks[i]
			p.Accumulate(w, n)
			j.parts = append(j.parts, p)
		}
		w.Parallel(n, max(1, grain/reduce.RowSpan), j)
		for i := range j.sinks {
			j.sinks[i].Combine(&j.parts[i], n)
		}
	case w.Threads > 1 && g.Step[0] != 0 && total > grain:
		j.inner = total / g.Size[0]
		w.Parallel(g.Size[0], max(1, grain/j.inner), j)
	default:
		j.inner = total / g.Size[0]
		j.Do(0, g.Size[0])
	}
}

// Do computes units [lo, hi). A unit is whole results, or a span of one long row:
// the results of the program are reduced before they leave the cache.
func (j *fusedJob) Do(lo, hi int) {
	w := par.SpareWorkspaces.Take()
	r := par.TakeJob[fusedRun](w)
	if j.spans {
		total := operand.Prod(j.shape)
		for i := lo; i < hi; i++ {
			g := j.g
			g.Size[0] = min(reduce.RowSpan, total-i*reduce.RowSpan)
			r.start(j, j.parts, i, i+1, &g)
			r.over(w, j, i*reduce.RowSpan, i*reduce.RowSpan+g.Size[0])
		}
	} else {
		g := j.g
		g.Size[0] = hi - lo
		first, end := lo*g.Step[0], hi*g.Step[0]
		if g.Step[0] == 0 {
			end = g.OutLen
		}
		r.start(j, j.sinks, first, end, &g)
		r.over(w, j, lo*j.inner, hi*j.inner)
	}
	clear(r.sinks)
	r.sinks = r.sinks[:0]
	w.Jobs = append(w.Jobs, r)
	par.SpareWorkspaces.Put(w)
}

// fusedRun is a goroutine's state: blocks of elements go to slabs.
type fusedRun struct {
	sinks []reduce.FusedSink
	slabs []*array.Array
	n     int  // elements of a row
	whole bool // rows are reduced, so that slabs end where they or spans of them do
}

// start begins a reduction of g into the accumulators [lo, hi) of the sinks.
func (r *fusedRun) start(j *fusedJob, sinks []reduce.FusedSink, lo, hi int, g *reduce.Groups) {
	n, _, kept, _ := g.Block()
	r.n, r.whole = n, !kept
	r.sinks = r.sinks[:0]
	for i := range sinks {
		r.sinks = append(r.sinks, sinks[i].Part(lo, hi, g))
		if d := sinks[i].Elem; i == len(r.slabs) {
			r.slabs = append(r.slabs, array.New(d, reduce.RowSpan+programBlock))
		} else if r.slabs[i].DType() != d {
			r.slabs[i] = array.New(d, reduce.RowSpan+programBlock)
		}
	}
}

// over computes the elements [lo, hi), slab by slab. A slab, of RowSpan elements
// at most and of whole rows where they are short, is computed and then reduced
// while the second cache holds it.
func (r *fusedRun) over(w *par.Workspace, j *fusedJob, lo, hi int) {
	for at := lo; at < hi; {
		n := min(reduce.RowSpan, hi-at)
		switch {
		case r.whole && r.n <= reduce.RowSpan:
			n = min(n, reduce.RowSpan/r.n*r.n)
		case r.whole:
			n = min(n, r.n-(at-lo)%r.n)
		}
		from := at / programBlock * programBlock
		j.program.run(cpu.Host.Level, w, programOut{r.slabs[:len(r.sinks)], j.shape, from}, j.in, from, at+n)
		for i := range r.sinks {
			if s := &r.sinks[i]; s.Kind == reduce.Stores {
				copyBytes(j.out[i], at, r.slabs[i], at-from, n)
			} else {
				s.Take(w, r.slabs[i], at-from, at-from+n)
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
