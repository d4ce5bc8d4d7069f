package program

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/reduce"
)

// ElementwiseRows is a softmax or a norm between elementwise calls: Before makes f32 of
// its operands, Kind is the operation on the rows of that, and After makes the result
// of the rows and further operands. Each of the two may be nil. Kind is "softmax" or
// "log_softmax", over the last dimension, "layer_norm" or "rms_norm", over the last
// Axes, or "group_norm" of Groups; Eps is that of norms. Operands are those of Before,
// or the rows themselves, then weight and bias of a norm, each nil when absent, then
// those of After from its second one on: its first are the rows. They broadcast to the
// shape of out[0]. Rows stay in a cache from Before to After; the bits are those of
// three steps.
//
//gofx:kernel
type ElementwiseRows struct {
	Before       *Program
	Kind         string
	Axes, Groups int
	Eps          float64
	After        *Program
}

// inputs returns the operands of the three parts.
func (s *ElementwiseRows) inputs(in []*array.Array) (before, norm, after []*array.Array) {
	n := 1
	if s.Before != nil {
		n = len(s.Before.Inputs)
	}
	before, in = in[:n], in[n:]
	n = min(2, len(in))
	return before, in[:n], in[n:]
}

// ScratchBytes implements Scratcher. Goroutines bring the memory that they need.
func (s ElementwiseRows) ScratchBytes(_, in []*array.Array) int {
	before, norm, _ := s.inputs(in)
	n := operand.LoadAllBytes(norm)
	if s.Before == nil {
		n += operand.LoadBytes(before[0])
	}
	return n
}

// Run implements Step. It panics with a *diag.Error when the operands do not fit
// the programs; it allocates nothing once w has the scratch that it needs.
func (s ElementwiseRows) Run(w *par.Workspace, out, in []*array.Array) {
	if out[0].Len() == 0 {
		return
	}
	defer w.Release(w.Mark())
	before, norm, after := s.inputs(in)
	s.check(out[0], before, after)
	j := par.TakeJob[rowsJob](w)
	*j = rowsJob{ElementwiseRows: s, out: out, before: before, after: after}
	j.rows = reduce.NewRows(s.Kind, out[0].Shape(), s.Axes, s.Groups, s.Eps,
		operand.Load[float32](w, operand.At(norm, 0)), operand.Load[float32](w, operand.At(norm, 1)))
	if s.Before == nil {
		j.src = operand.Load[float32](w, before[0])
	}
	if s.After == nil {
		j.dst, j.stream = array.Data[float32](out[0]), 4*out[0].Len() >= move.StreamBytes()
	}
	size := j.rows.Size()
	w.Parallel(out[0].Len()/size, max(1, reduce.RowSpan/size), j)
	par.PutJob(w, j)
}

func (s *ElementwiseRows) check(out *array.Array, before, after []*array.Array) {
	if s.Before != nil {
		if len(s.Before.Outputs) != 1 || s.Before.Outputs[0] != array.F32 {
			panic(programBug("what comes before rows does not give one f32"))
		}
		checkInputs(s.Before, out.Shape(), before)
	}
	switch p := s.After; {
	case !out.IsContiguous() || p == nil && out.DType() != array.F32:
		panic(programBug("the result of rows has gaps or is no f32"))
	case p == nil:
	case len(p.Inputs) != len(after)+1 || p.Inputs[0] != array.F32 || len(p.Outputs) != 1 || p.Outputs[0] != out.DType():
		panic(programBug("what comes behind rows takes f32 and " + strconv.Itoa(len(after)) + " operands and gives one " + out.DType().String()))
	default:
		others := *p
		others.Inputs = p.Inputs[1:]
		checkInputs(&others, out.Shape(), after)
	}
}

// rowsJob is such a step in progress.
type rowsJob struct {
	ElementwiseRows
	out, before, after []*array.Array
	rows               reduce.Rows
	src                []float32 // the rows, where nothing comes before them
	dst                []float32 // the result, where no program follows
	stream             bool
}

// rowsRun is a goroutine's memory: for the rows of a block before and after the
// operation of its kind, and for the result. All have room for the rest of a block
// of the preceding program.
type rowsRun struct {
	before, rows, result []*array.Array // one each
	in                   []*array.Array // After's operands
	header               array.Array    // the rows, as an operand of the result's shape
}

// slab returns a list of one array of n elements or more.
func slab(list []*array.Array, d array.DType, n int) []*array.Array {
	if len(list) == 0 || list[0].DType() != d || list[0].Len() < n {
		return []*array.Array{array.New(d, n)}
	}
	return list
}

// Do computes rows [lo, hi), as many at a time as the second cache holds from the first
// program to the second: programs begin at a multiple of programBlock, so the elements
// between such a multiple and the first row are computed again, and dropped.
func (j *rowsJob) Do(lo, hi int) {
	w := par.SpareWorkspaces.Take()
	r := par.TakeJob[rowsRun](w)
	size := j.rows.Size()
	per := max(1, reduce.RowSpan/size)
	room := per*size + programBlock
	if j.Before != nil {
		r.before = slab(r.before, array.F32, room)
	}
	if j.After != nil {
		r.rows = slab(r.rows, array.F32, room)
		r.result = slab(r.result, j.out[0].DType(), room)
		r.in = append(append(r.in[:0], &r.header), j.after...)
		r.header.Reset(array.F32, j.out[0].Shape())
	}
	for i := lo; i < hi; i += per {
		j.block(w, r, i, i*size, min(per, hi-i)*size)
	}
	clear(r.in)
	w.Jobs = append(w.Jobs, r)
	par.SpareWorkspaces.Put(w)
}

// block computes n elements from element at on, where row first begins.
func (j *rowsJob) block(w *par.Workspace, r *rowsRun, first, at, n int) {
	level, shape := cpu.Host.Level, j.out[0].Shape()
	from := at / programBlock * programBlock
	part := func(a *array.Array) []float32 { return array.Data[float32](a)[at-from:][:n] }
	var src, dst []float32
	if j.Before != nil {
		j.Before.run(level, w, programOut{r.before, shape, from}, j.before, from, at+n)
		src = part(r.before[0])
	} else {
		src = j.src[at : at+n]
	}
	if j.After == nil {
		j.rows.Run(first, j.dst[at:at+n], src, j.stream)
		return
	}
	dst = part(r.rows[0])
	j.rows.Run(first, dst, src, false)
	// Element i of the operand lies at i-from of the slab.
	r.header.SetStorage(r.rows[0].Storage(), -from)
	if from == at {
		j.After.run(level, w, wholeOut(j.out), r.in, at, at+n)
		return
	}
	j.After.run(level, w, programOut{r.result, shape, from}, r.in, from, at+n)
	copyBytes(j.out[0], at, r.result[0], at-from, n)
}
