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

// LayerNorm normalises the last Axes dimensions of in[0] by their own mean and
// biased variance (Ba, Kiros and Hinton, "Layer Normalization", 2016), then
// scales by in[1] and adds in[2], both of the normalised shape or nil.
// Statistics are computed in float64. Float element types.
//
//gofx:kernel
type LayerNorm struct {
	Axes int
	Eps  float64
}

// Run implements Step.
func (s LayerNorm) Run(w *par.Workspace, out, in []*array.Array) {
	n := rowLen(in[0], in[0].Rank()-s.Axes)
	runRowNorm(w, rowNorm{size: n, inner: 1, chans: n, eps: s.Eps}, out[0], in[0], operand.At(in, 1), operand.At(in, 2))
}

// ScratchBytes implements Scratcher.
func (s LayerNorm) ScratchBytes(out, in []*array.Array) int {
	return operand.StoreBytes(out[0]) + operand.LoadAllBytes(in)
}

// RMSNorm divides the last Axes dimensions of in[0] by their root mean square,
// sqrt(mean(x²)+Eps) (Zhang and Sennrich, 2019), then scales by in[1], of the
// normalised shape or nil. Float element types.
//
//gofx:kernel
type RMSNorm struct {
	Axes int
	Eps  float64
}

// Run implements Step.
func (s RMSNorm) Run(w *par.Workspace, out, in []*array.Array) {
	n := rowLen(in[0], in[0].Rank()-s.Axes)
	runRowNorm(w, rowNorm{size: n, inner: 1, chans: n, eps: s.Eps, raw: true}, out[0], in[0], operand.At(in, 1), nil)
}

// ScratchBytes implements Scratcher.
func (s RMSNorm) ScratchBytes(out, in []*array.Array) int {
	return operand.StoreBytes(out[0]) + operand.LoadAllBytes(in)
}

// GroupNorm normalises each of Groups groups of channels of in[0] [N, C, ...]
// over its channels and all further dimensions (Wu and He, 2018), then scales
// by in[1] and adds in[2], both [C] or nil. Groups = C is instance
// normalisation, -1 stands for that. Float element types.
//
//gofx:kernel
type GroupNorm struct {
	Groups int
	Eps    float64
}

// Run implements Step.
func (s GroupNorm) Run(w *par.Workspace, out, in []*array.Array) {
	chans, plane := in[0].Dim(1), rowLen(in[0], 2)
	size := plane
	if s.Groups > 0 {
		size *= chans / s.Groups
	}
	g := rowNorm{size: size, inner: plane, chans: chans, eps: s.Eps}
	runRowNorm(w, g, out[0], in[0], operand.At(in, 1), operand.At(in, 2))
}

// ScratchBytes implements Scratcher.
func (s GroupNorm) ScratchBytes(out, in []*array.Array) int {
	return operand.StoreBytes(out[0]) + operand.LoadAllBytes(in)
}

// rowLen returns the product of the dimensions from d on.
func rowLen(a *array.Array, d int) int {
	n := 1
	for _, v := range a.Shape()[d:] {
		n *= v
	}
	return n
}

// streams reports whether a result of f32 goes past the caches.
func streams(out *array.Array) bool {
	return out.DType() == array.F32 && 4*out.Len() >= move.StreamBytes()
}

// rowNorm describes a normalisation of consecutive rows of size elements, where
// element i of the whole array has the weight at i/inner%chans.
type rowNorm struct {
	size, inner, chans int
	eps                float64
	raw                bool // do not subtract the mean
	stream             bool // see rowcol.AffineEach
}

func runRowNorm(w *par.Workspace, s rowNorm, out, x, weight, bias *array.Array) {
	if out.DType() == array.F64 {
		normRows[float64](w, s, out, x, weight, bias)
	} else {
		normRows[float32](w, s, out, x, weight, bias)
	}
}

func normRows[T operand.Real](w *par.Workspace, s rowNorm, out, x, weight, bias *array.Array) {
	if out.Len() == 0 {
		return
	}
	mark := w.Mark()
	dst := operand.Result[T](w, out)
	s.stream = streams(out)
	j := par.TakeJob[rowNormJob[T]](w)
	*j = rowNormJob[T]{rowNorm: s, dst: dst, src: operand.Load[T](w, x), weight: operand.Load[T](w, weight), bias: operand.Load[T](w, bias)}
	w.Parallel(len(dst)/s.size, max(1, par.GemmWork/(4*s.size)), j)
	par.PutJob(w, j)
	operand.Store(out, dst)
	w.Release(mark)
}

type rowNormJob[T operand.Real] struct {
	rowNorm
	dst, src, weight, bias []T
	first                  int // which row of all the first one is
}

// Do normalises rows [lo, hi). Rows are measured in groups that stay in the first
// cache until they are scaled: memory sees them once read and once written.
func (j *rowNormJob[T]) Do(lo, hi int) {
	group := min(max(normStrip()/j.size, 1), normRowsMost)
	var mean, squares [normRowsMost]float64
	if j.together(lo, hi) {
		lo = hi
	}
	for i := lo; i < hi; i += group {
		rows := min(group, hi-i)
		j.measure(mean[:rows], squares[:rows], j.src[i*j.size:(i+rows)*j.size])
		for r := range rows {
			j.scale(i+r, mean[r], 1/math.Sqrt(squares[r]/float64(j.size)+j.eps))
		}
	}
	if j.stream {
		move.OrderStores()
	}
}

// together normalises rows of f32 that have weights and biases of their own,
// where there is assembly that does.
func (j *rowNormJob[T]) together(lo, hi int) bool {
	dst, ok := any(j.dst[lo*j.size : hi*j.size]).([]float32)
	if !ok || j.raw || j.inner != 1 || j.chans != j.size || j.weight == nil || j.bias == nil {
		return false
	}
	src, _ := any(j.src[lo*j.size : hi*j.size]).([]float32)
	weight, _ := any(j.weight).([]float32)
	bias, _ := any(j.bias).([]float32)
	return rowcol.RowsNormed(cpu.Host.Level, dst, src, weight, bias, j.eps, j.stream)
}

// measure sets mean to the means of rows, or to zero where they are not subtracted,
// and squares to the sums of the squares of the differences.
func (j *rowNormJob[T]) measure(mean, squares []float64, src []T) {
	clear(mean)
	clear(squares)
	x, ok := any(src).([]float32)
	for r := 0; !ok && r < len(mean); r++ {
		row := src[r*j.size : (r+1)*j.size]
		if !j.raw {
			mean[r] = total(row) / float64(j.size)
		}
		squares[r] = deviation(row, mean[r])
	}
	if !ok {
		return
	}
	if !j.raw {
		ahead := 0
		if len(j.src) >= rowcol.FarLen() {
			ahead = min(4*len(x), 4*normStrip()) // the next rows
		}
		rowcol.RowsTotal(cpu.Host.Level, mean, x, j.size, ahead)
		for r := range mean {
			mean[r] /= float64(j.size)
		}
	}
	rowcol.RowsSquares(cpu.Host.Level, squares, mean, x, j.size, 0)
}

// scale normalises row i.
func (j *rowNormJob[T]) scale(i int, mean, scale float64) {
	dst, src := j.dst[i*j.size:(i+1)*j.size], j.src[i*j.size:(i+1)*j.size]
	if j.inner == 1 && j.chans == j.size && j.whole(dst, src, mean, scale) {
		return
	}
	for x := 0; x < len(src); x += j.inner {
		mul, add := 1.0, 0.0
		c := ((j.first+i)*j.size + x) / j.inner % j.chans
		if j.weight != nil {
			mul = float64(j.weight[c])
		}
		if j.bias != nil {
			add = float64(j.bias[c])
		}
		normPlane(dst[x:x+j.inner], src[x:x+j.inner], mean, scale*mul, add, j.stream)
	}
}

// normPlane sets dst to (src-mean)*scale + add.
func normPlane[T operand.Real](dst, src []T, mean, scale, add float64, stream bool) {
	if d, ok := any(dst).([]float32); ok {
		s, _ := any(src).([]float32)
		rowcol.RowAffine(cpu.Host.Level, d, s, mean, scale, add, stream)
		return
	}
	for p, v := range src {
		dst[p] = T(float64((float64(v)-mean)*scale) + add)
	}
}

// whole normalises a row of f32 whose elements have weights and biases of their
// own. It reports false for other types.
func (j *rowNormJob[T]) whole(dst, src []T, mean, scale float64) bool {
	d, ok := any(dst).([]float32)
	if !ok {
		return false
	}
	s, _ := any(src).([]float32)
	w, _ := any(j.weight).([]float32)
	b, _ := any(j.bias).([]float32)
	switch {
	case w == nil && b == nil:
		rowcol.RowAffine(cpu.Host.Level, d, s, mean, scale, 0, j.stream)
		return true
	case w != nil && b != nil:
		rowcol.RowNormed(cpu.Host.Level, d, s, w, b, mean, scale, j.stream)
		return true
	}
	var same [256]float32
	if w == nil {
		operand.FillBlock(same[:], 1)
	}
	for lo := 0; lo < len(s); lo += len(same) {
		hi := min(lo+len(same), len(s))
		weight, bias := same[:hi-lo], same[:hi-lo]
		if w != nil {
			weight = w[lo:hi]
		} else {
			bias = b[lo:hi]
		}
		rowcol.RowNormed(cpu.Host.Level, d[lo:hi], s[lo:hi], weight, bias, mean, scale, j.stream)
	}
	return true
}
