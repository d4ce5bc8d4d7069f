package pool

import (
	"math"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// MaxPool is torch.nn.functional.max_pool1d to 3d over the last len(Kernel)
// dimensions of in[0]. out[1], when given, receives the i64 index within the
// input plane of each maximum, the first one among equals; NaN counts as the
// greatest, and then the last one is taken. A window that lies in the padding has
// the least value of the type, minus infinity for floats, and as its index that of
// its first tap which is not before the input. A nil Stride means Kernel, other nil
// lists as in Conv. The output's shape carries ceil_mode and PadHi. Element types:
// numbers.
//
//gofx:kernel
type MaxPool struct {
	Kernel, Stride, PadLo, PadHi, Dilation []int
}

// Run implements Step.
func (s MaxPool) Run(w *par.Workspace, out, in []*array.Array) {
	switch out[0].DType() {
	case array.F16, array.BF16, array.F32:
		maxPoolReal[float32](w, s, out, in[0])
	case array.F64:
		maxPoolReal[float64](w, s, out, in[0])
	case array.I8:
		maxPoolSame[int8](w, s, out, in[0])
	case array.U8:
		maxPoolSame[uint8](w, s, out, in[0])
	case array.I16:
		maxPoolSame[int16](w, s, out, in[0])
	case array.U16:
		maxPoolSame[uint16](w, s, out, in[0])
	case array.I32:
		maxPoolSame[int32](w, s, out, in[0])
	case array.U32:
		maxPoolSame[uint32](w, s, out, in[0])
	case array.I64:
		maxPoolSame[int64](w, s, out, in[0])
	case array.U64:
		maxPoolSame[uint64](w, s, out, in[0])
	default:
		panic("kernel: max_pool: element type " + out[0].DType().String() + ", expected a number")
	}
}

// ScratchBytes implements Scratcher.
func (s MaxPool) ScratchBytes(out, in []*array.Array) int {
	g := s.geometry(out[0], in[0])
	return operand.LoadBytes(in[0]) + operand.StoreBytes(out[0]) + poolScratch(out[0], &g, false)
}

func (s MaxPool) geometry(out, x *array.Array) geom.Spatial {
	lead := x.Rank() - len(s.Kernel)
	return geom.NewSpatial(x.Shape()[lead:], out.Shape()[lead:], s.Kernel, geom.StrideOr(s.Stride, s.Kernel), s.PadLo, s.Dilation)
}

func maxPoolReal[T operand.Real](w *par.Workspace, s MaxPool, out []*array.Array, x *array.Array) {
	mark := w.Mark()
	dst := operand.Result[T](w, out[0])
	g, at, src := s.geometry(out[0], x), indices(out), operand.Load[T](w, x)
	if geom.HasWindows(cpu.Host.Level) && operand.IsFloat32[T]() && poolable(&g) {
		maxWindows(w, g, operand.AsFloat32(dst), at, operand.AsFloat32(src))
	} else {
		maxPool(w, g, dst, at, src)
	}
	operand.Store(out[0], dst)
	w.Release(mark)
}

func maxPoolSame[T operand.Integer](w *par.Workspace, s MaxPool, out []*array.Array, x *array.Array) {
	mark := w.Mark()
	maxPool(w, s.geometry(out[0], x), array.Data[T](out[0]), indices(out), operand.LoadSame[T](w, x))
	w.Release(mark)
}

// indices returns the memory of the optional second output.
func indices(out []*array.Array) []int64 {
	if a := operand.At(out, 1); a != nil {
		return array.Data[int64](a)
	}
	return nil
}

func maxPool[T operand.Real | operand.Integer](w *par.Workspace, g geom.Spatial, dst []T, at []int64, src []T) {
	if len(dst) == 0 {
		return
	}
	g.NeedPixels("max_pool")
	j := par.TakeJob[maxPoolJob[T]](w)
	*j = maxPoolJob[T]{Spatial: g, dst: dst, at: at, src: src}
	w.Parallel(len(dst)/g.OutPlane, max(1, par.GemmWork/(4*g.OutPlane*max(g.Taps, 1))), j)
	par.PutJob(w, j)
}

type maxPoolJob[T operand.Real | operand.Integer] struct {
	geom.Spatial
	dst []T
	at  []int64
	src []T
}

// Do computes planes [lo, hi). It serves types and windows that have no assembly, and planes
// with NaN: a window at a time, from a plane that stays in a cache.
func (j *maxPoolJob[T]) Do(lo, hi int) {
	least := lowest[T]()
	for i := lo; i < hi; i++ {
		src, dst := j.src[i*j.InPlane:(i+1)*j.InPlane], j.dst[i*j.OutPlane:(i+1)*j.OutPlane]
		for o := range dst {
			z, y, x := j.Origin(o)
			z0, y0, x0 := geom.FirstTap(z, j.Dilate[0]), geom.FirstTap(y, j.Dilate[1]), geom.FirstTap(x, j.Dilate[2])
			best := greatest(src, j.In, z0, min(z+j.Kernel[0]*j.Dilate[0], j.In[0]), j.Dilate[0],
				y0, min(y+j.Kernel[1]*j.Dilate[1], j.In[1]), j.Dilate[1],
				x0, min(x+j.Kernel[2]*j.Dilate[2], j.In[2]), j.Dilate[2])
			if best >= 0 {
				dst[o] = src[best]
			} else {
				dst[o], best = least, (z0*j.In[1]+y0)*j.In[2]+x0
			}
			if j.at != nil {
				j.at[i*j.OutPlane+o] = int64(best)
			}
		}
	}
}

// lowest returns the value of the type that no other is less than.
func lowest[T operand.Real | operand.Integer]() T {
	zero := T(0)
	switch {
	case T(1)/T(2) != zero:
		return T(math.Inf(-1))
	case zero-1 > zero:
		return zero
	}
	least := int64(-1) << (8*unsafe.Sizeof(zero) - 1)
	return T(least)
}

// greatest returns the index of the greatest element of a box of a plane, -1
// for an empty box. The first among equals, but the last NaN, as in PyTorch.
func greatest[T operand.Real | operand.Integer](src []T, dims [3]int, z0, z1, dz, y0, y1, dy, x0, x1, dx int) int {
	best := -1
	var m T
	for z := z0; z < z1; z += dz {
		for y := y0; y < y1; y += dy {
			at := (z*dims[1] + y) * dims[2]
			for x := x0; x < x1; x += dx {
				if v := src[at+x]; best < 0 || v > m || v != v {
					best, m = at+x, v
				}
			}
		}
	}
	return best
}
