package pool

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// AvgPool is torch.nn.functional.avg_pool1d to 3d over the last len(Kernel)
// dimensions of in[0]. The divisor is DivisorOverride when not zero, else the
// window's size clipped to the padded input (CountIncludePad) or to the input.
// A nil Stride means Kernel, nil pads none. The output's shape carries
// ceil_mode. Element types: floats, and i64 (truncating) as in PyTorch.
//
//gofx:kernel
type AvgPool struct {
	Kernel, Stride, PadLo, PadHi []int
	CountIncludePad              bool
	DivisorOverride              int
}

// Run implements Step.
func (s AvgPool) Run(w *par.Workspace, out, in []*array.Array) {
	switch out[0].DType() {
	case array.F64:
		avgPoolReal[float64](w, s, out[0], in[0])
	case array.I64:
		mark := w.Mark()
		avgPool(w, s, out[0], in[0], array.Data[int64](out[0]), operand.LoadSame[int64](w, in[0]))
		w.Release(mark)
	default:
		avgPoolReal[float32](w, s, out[0], in[0])
	}
}

// ScratchBytes implements Scratcher.
func (s AvgPool) ScratchBytes(out, in []*array.Array) int {
	g := s.geometry(out[0], in[0])
	return operand.LoadBytes(in[0]) + operand.StoreBytes(out[0]) + poolScratch(out[0], &g, true)
}

func (s AvgPool) geometry(out, x *array.Array) geom.Spatial {
	lead := x.Rank() - len(s.Kernel)
	return geom.NewSpatial(x.Shape()[lead:], out.Shape()[lead:], s.Kernel, geom.StrideOr(s.Stride, s.Kernel), s.PadLo, nil)
}

func avgPoolReal[T operand.Real](w *par.Workspace, s AvgPool, out, x *array.Array) {
	mark := w.Mark()
	dst := operand.Result[T](w, out)
	avgPool(w, s, out, x, dst, operand.Load[T](w, x))
	operand.Store(out, dst)
	w.Release(mark)
}

func avgPool[T operand.Real | int64](w *par.Workspace, s AvgPool, out, x *array.Array, dst, src []T) {
	if len(dst) == 0 {
		return
	}
	j := par.TakeJob[avgPoolJob[T]](w)
	*j = avgPoolJob[T]{dst: dst, src: src, include: s.CountIncludePad, divisor: s.DivisorOverride}
	j.Spatial = s.geometry(out, x)
	j.NeedPixels("avg_pool")
	hi := s.PadHi
	if hi == nil {
		hi = s.PadLo
	}
	j.end = j.In
	for i, p := range hi {
		j.end[3-len(hi)+i] += p
	}
	if p, ok := any(j).(*avgPoolJob[float32]); ok && geom.HasWindows(cpu.Host.Level) && poolable(&j.Spatial) {
		avgWindows(w, p)
	} else {
		w.Parallel(len(dst)/j.OutPlane, max(1, par.GemmWork/(4*j.OutPlane*max(j.Taps, 1))), j)
	}
	par.PutJob(w, j)
}

type avgPoolJob[T operand.Real | int64] struct {
	geom.Spatial
	dst, src []T
	end      [3]int // where the padding after the input ends
	include  bool
	divisor  int
}

// Do computes planes [lo, hi). It serves the types and windows that have no
// assembly: a window at a time, from a plane that stays in a cache.
func (j *avgPoolJob[T]) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		src, dst := j.src[i*j.InPlane:(i+1)*j.InPlane], j.dst[i*j.OutPlane:(i+1)*j.OutPlane]
		for o := range dst {
			var from, to [3]int
			from[0], from[1], from[2] = j.Origin(o)
			padded, own := 1, 1
			for d := range 3 {
				to[d] = min(from[d]+j.Kernel[d], j.end[d])
				padded *= to[d] - from[d]
				from[d], to[d] = max(from[d], 0), min(to[d], j.In[d])
				own *= max(to[d]-from[d], 0)
			}
			divisor := j.divisor
			switch {
			case divisor != 0:
			case j.include:
				divisor = padded
			default:
				divisor = own
			}
			dst[o] = 0
			if own > 0 {
				dst[o] = boxSum(src, j.In, from, to) / T(divisor)
			}
		}
	}
}

// boxSum adds the elements of a box of a plane, row sums first.
func boxSum[T operand.Real | int64](src []T, dims, from, to [3]int) T {
	var sum T
	for z := from[0]; z < to[0]; z++ {
		var slab T
		for y := from[1]; y < to[1]; y++ {
			at := (z*dims[1] + y) * dims[2]
			var row T
			for _, v := range src[at+from[2] : at+to[2]] {
				row += v
			}
			slab += row
		}
		sum += slab
	}
	return sum
}

// AdaptiveAvgPool is torch.nn.functional.adaptive_avg_pool1d to 3d over the
// last Spatial dimensions of in[0]; the output's shape gives the target size.
// Float element types.
//
//gofx:kernel
type AdaptiveAvgPool struct{ Spatial int }

// Run implements Step.
func (s AdaptiveAvgPool) Run(w *par.Workspace, out, in []*array.Array) {
	if out[0].DType() == array.F64 {
		adaptivePool[float64](w, s.Spatial, out, in[0], false)
	} else {
		adaptivePool[float32](w, s.Spatial, out, in[0], false)
	}
}

// ScratchBytes implements Scratcher.
func (s AdaptiveAvgPool) ScratchBytes(out, in []*array.Array) int {
	return operand.LoadBytes(in[0]) + operand.StoreBytes(out[0])
}

// AdaptiveMaxPool is torch.nn.functional.adaptive_max_pool1d to 3d; dimensions
// as in AdaptiveAvgPool, the optional out[1] as in MaxPool. Float element types.
//
//gofx:kernel
type AdaptiveMaxPool struct{ Spatial int }

// Run implements Step.
func (s AdaptiveMaxPool) Run(w *par.Workspace, out, in []*array.Array) {
	if out[0].DType() == array.F64 {
		adaptivePool[float64](w, s.Spatial, out, in[0], true)
	} else {
		adaptivePool[float32](w, s.Spatial, out, in[0], true)
	}
}

// ScratchBytes implements Scratcher.
func (s AdaptiveMaxPool) ScratchBytes(out, in []*array.Array) int {
	return operand.LoadBytes(in[0]) + operand.StoreBytes(out[0])
}

func adaptivePool[T operand.Real](w *par.Workspace, dims int, out []*array.Array, x *array.Array, greatest bool) {
	if out[0].Len() == 0 {
		return
	}
	mark := w.Mark()
	lead := x.Rank() - dims
	dst := operand.Result[T](w, out[0])
	j := par.TakeJob[adaptiveJob[T]](w)
	*j = adaptiveJob[T]{dst: dst, src: operand.Load[T](w, x), greatest: greatest, at: indices(out), level: cpu.Host.Level}
	j.Spatial = geom.NewSpatial(x.Shape()[lead:], out[0].Shape()[lead:], nil, nil, nil, nil)
	j.NeedPixels("adaptive_pool")
	w.Parallel(len(dst)/j.OutPlane, max(1, par.GemmWork/(4*max(j.InPlane, 1))), j)
	par.PutJob(w, j)
	operand.Store(out[0], dst)
	w.Release(mark)
}

type adaptiveJob[T operand.Real] struct {
	geom.Spatial
	dst, src []T
	at       []int64
	greatest bool
	level    cpu.Level
}

// Do computes planes [lo, hi). Output o of n reads [⌊o·in/n⌋, ⌈(o+1)·in/n⌉).
// Windows differ in size, so each is a box of its own in a plane that stays in a
// cache.
func (j *adaptiveJob[T]) Do(lo, hi int) {
	if geom.HasWindows(j.level) && operand.IsFloat32[T]() && !j.greatest && j.OutPlane == 1 && j.InPlane > 0 {
		meanPlanes(j.level, operand.AsFloat32(j.dst[lo:hi]), operand.AsFloat32(j.src[lo*j.InPlane:hi*j.InPlane]), j.InPlane)
		return
	}
	for i := lo; i < hi; i++ {
		src, dst := j.src[i*j.InPlane:(i+1)*j.InPlane], j.dst[i*j.OutPlane:(i+1)*j.OutPlane]
		for o := range dst {
			pos := [3]int{o / j.Out[2] / j.Out[1], o / j.Out[2] % j.Out[1], o % j.Out[2]}
			var from, to [3]int
			size := 1
			for d := range 3 {
				from[d] = pos[d] * j.In[d] / j.Out[d]
				to[d] = ((pos[d]+1)*j.In[d] + j.Out[d] - 1) / j.Out[d]
				size *= to[d] - from[d]
			}
			if !j.greatest {
				dst[o] = boxSum(src, j.In, from, to) / T(size)
				continue
			}
			// No window is empty where the plane is not.
			best := greatest(src, j.In, from[0], to[0], 1, from[1], to[1], 1, from[2], to[2], 1)
			dst[o] = src[best]
			if j.at != nil {
				j.at[i*j.OutPlane+o] = int64(best)
			}
		}
	}
}
