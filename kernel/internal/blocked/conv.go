package blocked

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/conv"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// CanBlock reports whether ConvBlocked computes a convolution of c input
// channels to m: its groups are whole blocks of channels, or one channel each.
//
//gofx:kernel
func CanBlock(groups, c, m int) bool {
	groups = max(groups, 1)
	return groups == 1 || groups == c && c == m || c/groups%BlockLanes == 0 && m/groups%BlockLanes == 0
}

// checkBlocks panics unless CanBlock.
func checkBlocks(step string, groups, c, m int) {
	if !CanBlock(groups, c, m) {
		panic("kernel: " + step + ": groups are neither whole blocks of channels nor single channels")
	}
}

// blockedDepthwise reports whether each channel is filtered by itself.
func blockedDepthwise(groups, perGroup int) bool { return groups > 1 && perGroup == 1 }

// BlockedConvLen returns the elements that PackConvBlocked takes for a weight of
// the shape [M, C/Groups, kernel...].
//
//gofx:kernel
func BlockedConvLen(weight []int) int {
	n := blocksOf(weight[0]) * BlockLanes
	for _, d := range weight[1:] {
		n *= d
	}
	return n
}

// PackConvBlocked packs in[0], the f32, f16 or bf16 weight [M, C/Groups,
// kernel...] of a convolution, for ConvBlocked with the same Groups and Planar:
// out[0] is f32 [BlockedConvLen(...)], the same on every machine.
//
//gofx:kernel
type PackConvBlocked struct {
	Groups int
	Planar bool
}

// Run implements Step.
func (s PackConvBlocked) Run(w *par.Workspace, out, in []*array.Array) {
	mark := w.Mark()
	dst, weight := array.Data[float32](out[0]), operand.Load[float32](w, in[0])
	m, c := in[0].Dim(0), in[0].Dim(1)
	clear(dst)
	if len(weight) > 0 {
		taps := len(weight) / (m * c)
		lanes := BlockLanes
		if s.Planar || blockedDepthwise(s.Groups, c) {
			lanes = 1
		}
		for o := range m {
			packFilter(dst[o/BlockLanes*BlockLanes*c*taps+o%BlockLanes:], weight[o*c*taps:(o+1)*c*taps], c, taps, lanes)
		}
	}
	w.Release(mark)
}

// ScratchBytes implements Scratcher.
func (PackConvBlocked) ScratchBytes(_, in []*array.Array) int { return operand.LoadBytes(in[0]) }

// packFilter spreads the filter of one output channel over its lane: blocks of
// input channels outermost, then taps, then the channels of a block. That is the
// order in which a tile reads weights: one stream from the first to the last,
// whatever the tile's positions are.
func packFilter(dst, filter []float32, channels, taps, lanes int) {
	at := 0
	for first := 0; first < channels; first += lanes {
		for t := range taps {
			for c := first; c < min(first+lanes, channels); c++ {
				dst[at] = filter[c*taps+t]
				at += BlockLanes
			}
		}
	}
}

// ConvBlocked is Conv of an image in blocks (see BlockLanes) into one in blocks:
// in[0] [N, ceil(C/16), spatial..., 16], or with Planar [N, C, spatial...], which
// suits images of few channels; in[1] what PackConvBlocked made of a weight
// [Channels, C/Groups, Kernel...]; then bias [M], scale [M] and residual (as the
// result lies), each nil when absent. CanBlock tells which groups it takes; In
// is the number of input channels. Every sum is within (k+2)·2⁻²³·Σ|a·b| of the
// exact one.
//
//gofx:kernel
type ConvBlocked struct {
	conv.Conv
	In, Channels int // C, M
	Kernel       []int
	Planar       bool
	operand.Epilogue
}

// plan returns the convolution without its operands.
func (s ConvBlocked) plan(l cpu.Level, out, x *array.Array) blockConv {
	nd := len(s.Kernel)
	g := geom.NewSpatial(x.Shape()[2:2+nd], out.Shape()[2:2+nd], s.Kernel, s.Stride, s.PadLo, s.Dilation)
	groups := max(s.Groups, 1)
	v := blockConv{level: l, images: out.Dim(0), inPlanes: blocksOf(s.In), blocks: blocksOf(s.Channels),
		perGroup: s.In / groups, depthwise: blockedDepthwise(groups, s.In/groups)}
	unit := BlockLanes
	if s.Planar {
		unit, v.inPlanes = 1, s.In
	}
	v.blockFrame = newBlockFrame(collapsed(g), unit)
	v.split(groups)
	v.layout()
	v.dense()
	return v
}

// Run implements Step.
func (s ConvBlocked) Run(w *par.Workspace, out, in []*array.Array) {
	if out[0].Len() == 0 {
		return
	}
	checkBlocks("ConvBlocked", s.Groups, s.In, s.Channels)
	mark := w.Mark()
	v := s.plan(cpu.Host.Level, out[0], in[0])
	v.operands(w, out, in, s.Epilogue)
	v.run(w)
	w.Release(mark)
}

// ScratchBytes implements Scratcher.
func (s ConvBlocked) ScratchBytes(out, in []*array.Array) int {
	if out[0].Len() == 0 {
		return 0
	}
	v := s.plan(cpu.Generic, out[0], in[0])
	n := v.operandBytes(in) + par.ScratchSize(v.offsetCount(), 8)
	if v.framed {
		n += par.ScratchSize(v.inPlanes*v.plane, 4)
	}
	return n
}
