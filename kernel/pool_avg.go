package kernel

import "github.com/gofx-dev/gofx/array"

// AvgPool is torch.nn.functional.avg_pool1d to 3d over the last len(Kernel)
// dimensions of in[0]. The divisor is DivisorOverride when not zero, else the
// window's size clipped to the padded input (CountIncludePad) or to the input.
// A nil Stride means Kernel, nil pads none. The output's shape carries
// ceil_mode. Element types: floats, and i64 (truncating) as in PyTorch.
type AvgPool struct {
	Kernel, Stride, PadLo, PadHi []int
	CountIncludePad              bool
	DivisorOverride              int
}

// Run implements Step.
func (s AvgPool) Run(w *Workspace, out, in []*array.Array) {
	switch out[0].DType() {
	case array.F64:
		avgPoolReal[float64](w, s, out[0], in[0])
	case array.I64:
		mark := w.Mark()
		avgPool(w, s, out[0], in[0], array.Data[int64](out[0]), loadSame[int64](w, in[0]))
		w.Release(mark)
	default:
		avgPoolReal[float32](w, s, out[0], in[0])
	}
}

// ScratchBytes implements Scratcher.
func (s AvgPool) ScratchBytes(out, in []*array.Array) int {
	g := s.geometry(out[0], in[0])
	return loadBytes(in[0]) + storeBytes(out[0]) + poolScratch(out[0], &g, true)
}

func (s AvgPool) geometry(out, x *array.Array) spatial {
	lead := x.Rank() - len(s.Kernel)
	return newSpatial(x.Shape()[lead:], out.Shape()[lead:], s.Kernel, strideOr(s.Stride, s.Kernel), s.PadLo, nil)
}

func avgPoolReal[T real](w *Workspace, s AvgPool, out, x *array.Array) {
	mark := w.Mark()
	dst := result[T](w, out)
	avgPool(w, s, out, x, dst, load[T](w, x))
	store(out, dst)
	w.Release(mark)
}

func avgPool[T real | int64](w *Workspace, s AvgPool, out, x *array.Array, dst, src []T) {
	if len(dst) == 0 {
		return
	}
	j := takeJob[avgPoolJob[T]](w)
	*j = avgPoolJob[T]{dst: dst, src: src, include: s.CountIncludePad, divisor: s.DivisorOverride}
	j.spatial = s.geometry(out, x)
	j.needPixels("avg_pool")
	hi := s.PadHi
	if hi == nil {
		hi = s.PadLo
	}
	j.end = j.in
	for i, p := range hi {
		j.end[3-len(hi)+i] += p
	}
	if p, ok := any(j).(*avgPoolJob[float32]); ok && hasWindows(cpu.level) && poolable(&j.spatial) {
		avgWindows(w, p)
	} else {
		w.Parallel(len(dst)/j.outPlane, max(1, gemmWork/(4*j.outPlane*max(j.taps, 1))), j)
	}
	putJob(w, j)
}

type avgPoolJob[T real | int64] struct {
	spatial
	dst, src []T
	end      [3]int // where the padding after the input ends
	include  bool
	divisor  int
}

// Do computes planes [lo, hi).
func (j *avgPoolJob[T]) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		src, dst := j.src[i*j.inPlane:(i+1)*j.inPlane], j.dst[i*j.outPlane:(i+1)*j.outPlane]
		for o := range dst {
			var from, to [3]int
			from[0], from[1], from[2] = j.origin(o)
			padded, own := 1, 1
			for d := range 3 {
				to[d] = min(from[d]+j.kernel[d], j.end[d])
				padded *= to[d] - from[d]
				from[d], to[d] = max(from[d], 0), min(to[d], j.in[d])
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
				dst[o] = boxSum(src, j.in, from, to) / T(divisor)
			}
		}
	}
}

// boxSum adds the elements of a box of a plane, row sums first.
func boxSum[T real | int64](src []T, dims, from, to [3]int) T {
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
type AdaptiveAvgPool struct{ Spatial int }

// Run implements Step.
func (s AdaptiveAvgPool) Run(w *Workspace, out, in []*array.Array) {
	if out[0].DType() == array.F64 {
		adaptivePool[float64](w, s.Spatial, out, in[0], false)
	} else {
		adaptivePool[float32](w, s.Spatial, out, in[0], false)
	}
}

// ScratchBytes implements Scratcher.
func (s AdaptiveAvgPool) ScratchBytes(out, in []*array.Array) int {
	return loadBytes(in[0]) + storeBytes(out[0])
}

// AdaptiveMaxPool is torch.nn.functional.adaptive_max_pool1d to 3d; dimensions
// as in AdaptiveAvgPool, the optional out[1] as in MaxPool. Float element types.
type AdaptiveMaxPool struct{ Spatial int }

// Run implements Step.
func (s AdaptiveMaxPool) Run(w *Workspace, out, in []*array.Array) {
	if out[0].DType() == array.F64 {
		adaptivePool[float64](w, s.Spatial, out, in[0], true)
	} else {
		adaptivePool[float32](w, s.Spatial, out, in[0], true)
	}
}

// ScratchBytes implements Scratcher.
func (s AdaptiveMaxPool) ScratchBytes(out, in []*array.Array) int {
	return loadBytes(in[0]) + storeBytes(out[0])
}

func adaptivePool[T real](w *Workspace, dims int, out []*array.Array, x *array.Array, greatest bool) {
	if out[0].Len() == 0 {
		return
	}
	mark := w.Mark()
	lead := x.Rank() - dims
	dst := result[T](w, out[0])
	j := takeJob[adaptiveJob[T]](w)
	*j = adaptiveJob[T]{dst: dst, src: load[T](w, x), greatest: greatest, at: indices(out), level: cpu.level}
	j.spatial = newSpatial(x.Shape()[lead:], out[0].Shape()[lead:], nil, nil, nil, nil)
	j.needPixels("adaptive_pool")
	w.Parallel(len(dst)/j.outPlane, max(1, gemmWork/(4*max(j.inPlane, 1))), j)
	putJob(w, j)
	store(out[0], dst)
	w.Release(mark)
}

type adaptiveJob[T real] struct {
	spatial
	dst, src []T
	at       []int64
	greatest bool
	level    cpuLevel
}

// Do computes planes [lo, hi). Output o of n reads [⌊o·in/n⌋, ⌈(o+1)·in/n⌉).
func (j *adaptiveJob[T]) Do(lo, hi int) {
	if hasWindows(j.level) && isFloat32[T]() && !j.greatest && j.outPlane == 1 && j.inPlane > 0 {
		meanPlanes(j.level, asFloat32(j.dst[lo:hi]), asFloat32(j.src[lo*j.inPlane:hi*j.inPlane]), j.inPlane)
		return
	}
	for i := lo; i < hi; i++ {
		src, dst := j.src[i*j.inPlane:(i+1)*j.inPlane], j.dst[i*j.outPlane:(i+1)*j.outPlane]
		for o := range dst {
			pos := [3]int{o / j.out[2] / j.out[1], o / j.out[2] % j.out[1], o % j.out[2]}
			var from, to [3]int
			size := 1
			for d := range 3 {
				from[d] = pos[d] * j.in[d] / j.out[d]
				to[d] = ((pos[d]+1)*j.in[d] + j.out[d] - 1) / j.out[d]
				size *= to[d] - from[d]
			}
			if !j.greatest {
				dst[o] = boxSum(src, j.in, from, to) / T(size)
				continue
			}
			// No window is empty where the plane is not.
			best := greatest(src, j.in, from[0], to[0], 1, from[1], to[1], 1, from[2], to[2], 1)
			dst[o] = src[best]
			if j.at != nil {
				j.at[i*j.outPlane+o] = int64(best)
			}
		}
	}
}
