package kernel

import (
	"math"

	"github.com/gofx-dev/gofx/array"
)

// BatchNorm normalises each channel (dimension 1) of in[0] with given
// statistics: (x-mean)/sqrt(var+Eps)·weight + bias. Operands: x, mean, var,
// weight or nil, bias or nil, the last four [C]. Float element types.
type BatchNorm struct{ Eps float64 }

// Run implements Step.
func (s BatchNorm) Run(w *Workspace, out, in []*array.Array) {
	if out[0].DType() == array.F64 {
		batchNorm[float64](w, s.Eps, out[0], in)
	} else {
		batchNorm[float32](w, s.Eps, out[0], in)
	}
}

// ScratchBytes implements Scratcher.
func (s BatchNorm) ScratchBytes(out, in []*array.Array) int {
	return storeBytes(out[0]) + loadAllBytes(in)
}

func batchNorm[T real](w *Workspace, eps float64, out *array.Array, in []*array.Array) {
	if out.Len() == 0 {
		return
	}
	mark := w.Mark()
	dst := result[T](w, out)
	j := takeJob[batchNormJob[T]](w)
	*j = batchNormJob[T]{
		dst: dst, src: load[T](w, in[0]), mean: load[T](w, in[1]), variance: load[T](w, in[2]),
		weight: load[T](w, operand(in, 3)), bias: load[T](w, operand(in, 4)),
		chans: out.Dim(1), plane: out.Len() / out.Dim(0) / out.Dim(1), eps: eps,
	}
	w.Parallel(out.Dim(0)*out.Dim(1), max(1, gemmWork/(2*j.plane)), j)
	putJob(w, j)
	store(out, dst)
	w.Release(mark)
}

type batchNormJob[T real] struct {
	dst, src, mean, variance, weight, bias []T
	chans, plane                           int
	eps                                    float64
}

// Do normalises planes [lo, hi) of N·C.
func (j *batchNormJob[T]) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		c := i % j.chans
		scale := 1 / math.Sqrt(float64(j.variance[c])+j.eps)
		if j.weight != nil {
			scale *= float64(j.weight[c])
		}
		mean, mul, add := j.mean[c], T(scale), T(0)
		if j.bias != nil {
			add = j.bias[c]
		}
		dst, src := j.dst[i*j.plane:(i+1)*j.plane], j.src[i*j.plane:(i+1)*j.plane]
		for x, v := range src {
			dst[x] = T((v-mean)*mul) + add
		}
	}
}

// BatchNormStats computes the mean (out[0]) and the biased variance (out[1]) of
// each channel (dimension 1) of in[0]. Float element types.
type BatchNormStats struct{}

// Run implements Step.
func (s BatchNormStats) Run(w *Workspace, out, in []*array.Array) {
	if in[0].DType() == array.F64 {
		batchStats[float64](w, out, in[0])
	} else {
		batchStats[float32](w, out, in[0])
	}
}

// ScratchBytes implements Scratcher.
func (s BatchNormStats) ScratchBytes(out, in []*array.Array) int {
	return loadBytes(in[0]) + storeBytes(out[0]) + storeBytes(out[1])
}

func batchStats[T real](w *Workspace, out []*array.Array, x *array.Array) {
	if x.Dim(1) == 0 {
		return
	}
	mark := w.Mark()
	mean, variance := result[T](w, out[0]), result[T](w, out[1])
	j := takeJob[batchStatsJob[T]](w)
	*j = batchStatsJob[T]{mean: mean, variance: variance, src: load[T](w, x), chans: x.Dim(1), plane: 1}
	for _, d := range x.Shape()[2:] {
		j.plane *= d
	}
	w.Parallel(j.chans, max(1, gemmWork/max(1, len(j.src)/j.chans)), j)
	putJob(w, j)
	store(out[0], mean)
	store(out[1], variance)
	w.Release(mark)
}

type batchStatsJob[T real] struct {
	mean, variance, src []T
	chans, plane        int
}

// Do computes channels [lo, hi). No element at all gives NaN, as 0/0 does.
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
func total[T real](x []T) float64 {
	if f, ok := any(x).([]float32); ok {
		return rowTotal(cpu.level, f)
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
func deviation[T real](x []T, mean float64) float64 {
	if f, ok := any(x).([]float32); ok {
		return rowSquares(cpu.level, f, mean)
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
