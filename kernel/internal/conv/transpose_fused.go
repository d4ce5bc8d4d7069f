package conv

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/winograd"
)

// ConvTransposeFused is ConvTranspose of a weight that is another one in each run, with the
// same operands. Where it takes less time for images of the expected sizes, the transform of
// the filters included, one of 3x3 and stride 1 goes by Winograd's algorithm: it is a
// convolution with the filters turned. ConvPacked states the bounds. Element types f32, f16,
// bf16.
//
//gofx:kernel
type ConvTransposeFused struct {
	ConvTranspose
	In []int // the expected images and their spatial sizes; nil when unknown
}

// turnedGeometry returns the convolution with turned filters of 3x3 that a transposed one of
// stride 1 over images of these sizes is, and whether it is one.
func (s ConvTranspose) turnedGeometry(in []int) (g geom.Spatial, ok bool) {
	var kernel, pad, out [2]int
	for d := range 2 {
		p := pick(s.Padding, d, 0)
		if pick(s.Stride, d, 1) != 1 || pick(s.Dilation, d, 1) != 1 || pick(s.OutputPadding, d, 0) != 0 || p < 0 || p > 2 {
			return g, false
		}
		kernel[d], pad[d], out[d] = 3, 2-p, in[d]+2-2*p
		if in[d] <= 0 || out[d] <= 0 {
			return g, false
		}
	}
	return geom.NewSpatial(in, out[:], kernel[:], nil, pad[:], nil), true
}

// pick returns element d of a list, or the default of one that is too short.
func pick(list []int, d, absent int) int {
	if d < len(list) {
		return list[d]
	}
	return absent
}

// tile returns the side of Winograd's tiles, zero for direct sums.
func (s ConvTransposeFused) tile(weight *array.Array) int {
	if weight.Rank() != 4 || weight.Dim(2) != 3 || weight.Dim(3) != 3 || len(s.In) != 3 || !cpu.Assembly() {
		return 0
	}
	g, ok := s.turnedGeometry(s.In[1:])
	if !ok {
		return 0
	}
	return winograd.TileOnce(cpu.Host.Level, &g, weight.Dim(1), weight.Dim(0)/max(s.Groups, 1), s.In[0])
}

// winograd returns the convolution without its operands.
func (s ConvTransposeFused) winograd(x, weight *array.Array) winograd.Conv {
	lead := x.Rank() - 2
	v := winograd.Conv{Batch: 1, Groups: max(s.Groups, 1), OutPerGroup: weight.Dim(1)}
	v.PerGroup = weight.Dim(0) / v.Groups
	if lead == 2 {
		v.Batch = x.Dim(0)
	}
	v.G, _ = s.turnedGeometry(x.Shape()[lead:])
	return v
}

// Run implements Step.
func (s ConvTransposeFused) Run(w *par.Workspace, out, in []*array.Array) {
	e := s.tile(in[1])
	if e == 0 || out[0].Len() == 0 {
		s.ConvTranspose.Run(w, out, in)
		return
	}
	mark := w.Mark()
	v := s.winograd(in[0], in[1])
	v.Dst, v.Src = operand.Result[float32](w, out[0]), operand.Load[float32](w, in[0])
	v.End = gemm.Finish{Ldr: v.G.OutPlane, BiasRow: operand.Load[float32](w, operand.At(in, 2))}.With(operand.Epilogue{})
	v.Packed = par.Scratch[float32](w, winograd.Len(cpu.Host.Level, e, v.Groups, v.OutPerGroup, v.PerGroup))
	winograd.PackTurned(w, cpu.Host.Level, e, v.Packed, operand.Load[float32](w, in[1]), v.Groups, v.OutPerGroup, v.PerGroup)
	v.Run(w, e)
	operand.Store(out[0], v.Dst)
	w.Release(mark)
}

// ScratchBytes implements Scratcher.
func (s ConvTransposeFused) ScratchBytes(out, in []*array.Array) int {
	e := s.tile(in[1])
	if e == 0 || out[0].Len() == 0 {
		return s.ConvTranspose.ScratchBytes(out, in)
	}
	v := s.winograd(in[0], in[1])
	size := winograd.Len(cpu.Host.Level, e, v.Groups, v.OutPerGroup, v.PerGroup)
	return operand.StoreBytes(out[0]) + operand.LoadAllBytes(in) + par.ScratchSize(size, 4) + winograd.Scratch(v, cpu.Host.Level, e)
}
