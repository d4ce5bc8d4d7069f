package reduce

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/rowcol"
)

// Softmax computes exp(x)/Σexp(x) along dimension Dim (not negative) of in[0],
// after subtracting the maximum. Float element types.
//
//gofx:kernel
type Softmax struct{ Dim int }

// Run implements Step.
func (s Softmax) Run(w *par.Workspace, out, in []*array.Array) {
	runSoftmax(w, s.Dim, false, out[0], in[0])
}

// ScratchBytes implements Scratcher.
func (s Softmax) ScratchBytes(out, in []*array.Array) int {
	return operand.StoreBytes(out[0]) + operand.LoadBytes(in[0])
}

// LogSoftmax computes x - log Σexp(x) along dimension Dim (not negative) of
// in[0], after subtracting the maximum. Float element types.
//
//gofx:kernel
type LogSoftmax struct{ Dim int }

// Run implements Step.
func (s LogSoftmax) Run(w *par.Workspace, out, in []*array.Array) {
	runSoftmax(w, s.Dim, true, out[0], in[0])
}

// ScratchBytes implements Scratcher.
func (s LogSoftmax) ScratchBytes(out, in []*array.Array) int {
	return operand.StoreBytes(out[0]) + operand.LoadBytes(in[0])
}

func runSoftmax(w *par.Workspace, dim int, logs bool, out, x *array.Array) {
	if out.DType() == array.F64 {
		softmax[float64](w, dim, logs, out, x)
	} else {
		softmax[float32](w, dim, logs, out, x)
	}
}

func softmax[T operand.Real](w *par.Workspace, dim int, logs bool, out, x *array.Array) {
	if out.Len() == 0 {
		return
	}
	mark := w.Mark()
	dst, src := operand.Result[T](w, out), operand.Load[T](w, x)
	n, inner := 1, 1
	if x.Rank() > 0 {
		n, inner = x.Dim(dim), rowLen(x, dim+1)
	}
	if d, ok := any(dst).([]float32); ok && inner > 1 {
		s, _ := any(src).([]float32)
		j := par.TakeJob[softmaxColumns](w)
		*j = newSoftmaxColumns(d, s, n, inner, logs)
		w.Parallel(len(d)/(n*inner)*j.strips, max(1, par.GemmWork/(16*n*j.width)), j)
		par.PutJob(w, j)
	} else {
		j := par.TakeJob[softmaxJob[T]](w)
		*j = softmaxJob[T]{dst: dst, src: src, logs: logs, n: n, inner: inner, stream: streams(out)}
		w.Parallel(len(dst)/n, max(1, par.GemmWork/(16*n)), j)
		par.PutJob(w, j)
	}
	operand.Store(out, dst)
	w.Release(mark)
}

type softmaxJob[T operand.Real] struct {
	dst, src []T
	n, inner int
	logs     bool
	stream   bool // see rowcol.AffineEach
}

// Do computes rows [lo, hi): row i starts at i%inner of block i/inner. The rows of
// f32 that lie in order are one loop in assembly; this one, for other types and
// layouts, passes three times over a row, which stays in a cache: greatest,
// exponentials and their sum, quotients.
func (j *softmaxJob[T]) Do(lo, hi int) {
	if j.inner == 1 {
		if dst, ok := any(j.dst).([]float32); ok {
			src, _ := any(j.src).([]float32)
			rowcol.RowsSoftmax(cpu.Host.Level, dst[lo*j.n:hi*j.n], src[lo*j.n:hi*j.n], j.n, j.logs, j.stream)
			return
		}
	}
	for i := lo; i < hi; i++ {
		at := i/j.inner*j.n*j.inner + i%j.inner
		dst, src := j.dst[at:], j.src[at:]
		end := (j.n-1)*j.inner + 1
		high := src[0]
		for p := 0; p < end; p += j.inner {
			if src[p] > high {
				high = src[p]
			}
		}
		m, sum := float64(high), 0.0
		for p := 0; p < end; p += j.inner {
			e := math.Exp(float64(src[p]) - m)
			sum += e
			dst[p] = T(e)
		}
		if j.logs {
			less := math.Log(sum)
			for p := 0; p < end; p += j.inner {
				dst[p] = T(float64(src[p]) - m - less)
			}
			continue
		}
		for p := 0; p < end; p += j.inner {
			dst[p] = T(float64(dst[p]) / sum)
		}
	}
}
