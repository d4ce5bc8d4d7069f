package conv

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/winograd"
)

// ConvFused is ConvPacked of a weight that is another one in each run, such as a parameter
// that a step of training writes: in[1] is the weight [M, C/Groups, kernel...] as it lies.
// Other operands are those of ConvPacked, sums have the same bounds.
//
// A weight that is used once is not packed for direct sums, which pack on their way what
// is read again. Where In is given and it takes less time, the time for the filters
// included, filters are transformed in the run, and it goes by Winograd's algorithm.
//
//gofx:kernel
type ConvFused struct {
	Conv
	In       []int // the expected images and their spatial sizes; nil when unknown
	Prologue operand.Prologue
	operand.Epilogue
}

// packed returns the step for the same weight when it is packed.
func (s ConvFused) packed(weight *array.Array) ConvPacked {
	return ConvPacked{Conv: s.Conv, Channels: weight.Dim(0), Kernel: weight.Shape()[2:], Prologue: s.Prologue, Epilogue: s.Epilogue}
}

// tile returns the side of Winograd's tiles, zero for direct sums.
func (s ConvFused) tile(m, perGroup int, kernel []int) int {
	if len(kernel) != 2 || len(s.In) != 3 || !cpu.Assembly() {
		return 0
	}
	g, ok := expected(s.Conv, s.In[1:], kernel)
	if !ok {
		return 0
	}
	return winograd.TileOnce(cpu.Host.Level, &g, m/max(s.Groups, 1), perGroup, s.In[0])
}

// Run implements Step.
func (s ConvFused) Run(w *par.Workspace, out, in []*array.Array) {
	if out[0].Len() == 0 {
		return
	}
	mark := w.Mark()
	p := s.packed(in[1])
	v := p.form(out[0], in[0])
	v.dst, v.src, v.weight = operand.Result[float32](w, out[0]), operand.Load[float32](w, in[0]), operand.Load[float32](w, in[1])
	v.end = p.finish(w, &v, in)
	if p.prepares(in) {
		v.prepare(w, s.Prologue, operand.Load[float32](w, operand.At(in, 5)), operand.Load[float32](w, operand.At(in, 6)))
	}
	switch e := s.tile(p.Channels, v.perGroup, p.Kernel); {
	case e > 0:
		v.packed = par.Scratch[float32](w, winograd.Len(cpu.Host.Level, e, v.groups, v.outPerGroup, v.perGroup))
		winograd.Pack(w, cpu.Host.Level, e, v.packed, v.weight, v.groups, v.outPerGroup, v.perGroup)
		t := v.winograd()
		t.Run(w, e)
	case cpu.Assembly() && v.fits():
		v.run(w)
	default:
		v.runGo(w)
	}
	operand.Store(out[0], v.dst)
	w.Release(mark)
}

// ScratchBytes implements Scratcher.
func (s ConvFused) ScratchBytes(out, in []*array.Array) int {
	if out[0].Len() == 0 {
		return 0
	}
	n := operand.StoreBytes(out[0]) + operand.LoadAllBytes(in)
	p := s.packed(in[1])
	v := p.form(out[0], in[0])
	if p.prepares(in) {
		n += v.preparedBytes()
	}
	if e := s.tile(p.Channels, v.perGroup, p.Kernel); e > 0 {
		size := winograd.Len(cpu.Host.Level, e, v.groups, v.outPerGroup, v.perGroup)
		return n + par.ScratchSize(size, 4) + winograd.Scratch(v.winograd(), cpu.Host.Level, e)
	}
	if cpu.Assembly() && v.fits() {
		return n + v.scratch(cpu.Host.Level, false)
	}
	return n + addConvScratch[float32](&v.g, v.groups, v.perGroup, v.outPerGroup)
}
