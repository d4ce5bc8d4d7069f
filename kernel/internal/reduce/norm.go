package reduce

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/rowcol"
)

// BatchNorm normalises each channel (dimension 1) of in[0] with given
// statistics: (x-mean)/sqrt(var+Eps)·weight + bias. Operands: x, mean, var,
// weight or nil, bias or nil, the last four [C]. Float element types.
//
//gofx:kernel
type BatchNorm struct{ Eps float64 }

// Run implements Step.
func (s BatchNorm) Run(w *par.Workspace, out, in []*array.Array) {
	if out[0].DType() == array.F64 {
		batchNorm[float64](w, s.Eps, out[0], in)
	} else {
		batchNorm[float32](w, s.Eps, out[0], in)
	}
}

// ScratchBytes implements Scratcher.
func (s BatchNorm) ScratchBytes(out, in []*array.Array) int {
	return operand.StoreBytes(out[0]) + operand.LoadAllBytes(in) + 2*par.ScratchSize(out[0].Dim(1), operand.ComputeSize(out[0].DType()))
}

func batchNorm[T operand.Real](w *par.Workspace, eps float64, out *array.Array, in []*array.Array) {
	if out.Len() == 0 {
		return
	}
	mark := w.Mark()
	dst := operand.Result[T](w, out)
	chans := out.Dim(1)
	scale, add := par.Scratch[T](w, chans), par.Scratch[T](w, chans)
	mean, variance, weight := operand.Load[T](w, in[1]), operand.Load[T](w, in[2]), operand.Load[T](w, operand.At(in, 3))
	clear(add)
	copy(add, operand.Load[T](w, operand.At(in, 4)))
	for c := range scale {
		s := 1 / math.Sqrt(float64(variance[c])+eps)
		if weight != nil {
			s *= float64(weight[c])
		}
		scale[c] = T(s)
	}
	j := par.TakeJob[batchNormJob[T]](w)
	*j = batchNormJob[T]{dst: dst, src: operand.Load[T](w, in[0]), mean: mean, scale: scale, add: add,
		plane: out.Len() / out.Dim(0) / chans, stream: streams(out)}
	if j.plane == 1 {
		w.Parallel(out.Dim(0), max(1, par.GemmWork/(2*chans)), j)
	} else {
		w.Parallel(out.Dim(0)*chans, max(1, par.GemmWork/(2*j.plane)), j)
	}
	par.PutJob(w, j)
	operand.Store(out, dst)
	w.Release(mark)
}

type batchNormJob[T operand.Real] struct {
	dst, src, mean, scale, add []T
	plane                      int
	stream                     bool
}

// Do normalises planes [lo, hi) of N·C, or images of N where a plane is one
// element. One pass: each plane has one mean and scale, which stay in registers.
func (j *batchNormJob[T]) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		if j.plane == 1 {
			n := len(j.mean)
			affineLanes(j.dst[i*n:(i+1)*n], j.src[i*n:(i+1)*n], j.mean, j.scale, j.add)
			continue
		}
		c := i % len(j.mean)
		dst, src := j.dst[i*j.plane:(i+1)*j.plane], j.src[i*j.plane:(i+1)*j.plane]
		mean, mul, add := j.mean[c], j.scale[c], j.add[c]
		if d, ok := any(dst).([]float32); ok {
			s, _ := any(src).([]float32)
			rowcol.AffineEach(cpu.Host.Level, d, s, float32(mean), float32(mul), float32(add), j.stream)
			continue
		}
		for x, v := range src {
			dst[x] = T((v-mean)*mul) + add
		}
	}
	if j.stream {
		move.OrderStores()
	}
}

// affineLanes sets dst to (src-mean)*scale + add, element by element.
func affineLanes[T operand.Real](dst, src, mean, scale, add []T) {
	if d, ok := any(dst).([]float32); ok {
		s, _ := any(src).([]float32)
		m, _ := any(mean).([]float32)
		f, _ := any(scale).([]float32)
		a, _ := any(add).([]float32)
		rowcol.AffineColumns(cpu.Host.Level, d, s, m, f, a)
		return
	}
	for i, v := range src {
		dst[i] = T((v-mean[i])*scale[i]) + add[i]
	}
}

// BatchNormStats computes the mean (out[0]) and the biased variance (out[1]) of
// each channel (dimension 1) of in[0]. Float element types.
//
//gofx:kernel
type BatchNormStats struct{}

// Run implements Step.
func (s BatchNormStats) Run(w *par.Workspace, out, in []*array.Array) {
	if in[0].DType() == array.F64 {
		batchStats[float64](w, out, in[0])
	} else {
		batchStats[float32](w, out, in[0])
	}
}

// ScratchBytes implements Scratcher.
func (s BatchNormStats) ScratchBytes(out, in []*array.Array) int {
	return operand.LoadBytes(in[0]) + operand.StoreBytes(out[0]) + operand.StoreBytes(out[1])
}

func batchStats[T operand.Real](w *par.Workspace, out []*array.Array, x *array.Array) {
	if x.Dim(1) == 0 {
		return
	}
	mark := w.Mark()
	mean, variance := operand.Result[T](w, out[0]), operand.Result[T](w, out[1])
	j := par.TakeJob[batchStatsJob[T]](w)
	*j = batchStatsJob[T]{mean: mean, variance: variance, src: operand.Load[T](w, x), chans: x.Dim(1), plane: 1}
	for _, d := range x.Shape()[2:] {
		j.plane *= d
	}
	w.Parallel(j.chans, max(1, par.GemmWork/max(1, len(j.src)/j.chans)), j)
	par.PutJob(w, j)
	operand.Store(out[0], mean)
	operand.Store(out[1], variance)
	w.Release(mark)
}

type batchStatsJob[T operand.Real] struct {
	mean, variance, src []T
	chans, plane        int
}

// Do computes channels [lo, hi). No element at all gives NaN, as 0/0 does. A
// channel's planes of all images are read twice, for the mean and for the
// deviations from it: two passes keep the digits that a sum of squares loses.
func (j *batchStatsJob[T]) Do(lo, hi int) {
	step := j.chans * j.plane
	for c := lo; c < hi; c++ {
		var sum, squares float64
		for at := c * j.plane; at < len(j.src); at += step {
			sum += total(j.src[at : at+j.plane])
		}
		count := float64(len(j.src) / j.chans)
		mean := sum / count
		for at := c * j.plane; at < len(j.src); at += step {
			squares += deviation(j.src[at:at+j.plane], mean)
		}
		j.mean[c], j.variance[c] = T(mean), T(squares/count)
	}
}

// total returns the sum of x in float64.
func total[T operand.Real](x []T) float64 {
	if f, ok := any(x).([]float32); ok {
		return rowcol.RowTotal(cpu.Host.Level, f)
	}
	var s0, s1 float64
	i := 0
	for ; i+2 <= len(x); i += 2 {
		s0 += float64(x[i])
		s1 += float64(x[i+1])
	}
	for ; i < len(x); i++ {
		s0 += float64(x[i])
	}
	return s0 + s1
}

// deviation returns Σ (x-mean)² in float64.
func deviation[T operand.Real](x []T, mean float64) float64 {
	if f, ok := any(x).([]float32); ok {
		return rowcol.RowSquares(cpu.Host.Level, f, mean)
	}
	var s0, s1 float64
	i := 0
	for ; i+2 <= len(x); i += 2 {
		a, b := float64(x[i])-mean, float64(x[i+1])-mean
		s0 += float64(a * a)
		s1 += float64(b * b)
	}
	for ; i < len(x); i++ {
		a := float64(x[i]) - mean
		s0 += float64(a * a)
	}
	return s0 + s1
}
