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

// PackedConvLen returns the elements that PackConv{s, in} takes for a weight of
// the shape [M, C/Groups, kernel...].
//
//gofx:kernel
func PackedConvLen(s Conv, in, weight []int) int { return PackConv{Conv: s, In: in}.size(weight) }

// size is the elements that s takes for a weight.
func (s PackConv) size(weight []int) int {
	groups, m, perGroup, taps := max(s.Groups, 1), weight[0], weight[1], 1
	for _, n := range weight[2:] {
		taps *= n
	}
	if !cpu.Assembly() || depthwise32(cpu.Host.Level, perGroup, groups) {
		return m * perGroup * taps
	}
	if e := s.tile(m, perGroup, weight[2:]); e > 0 {
		return winograd.Len(cpu.Host.Level, e, groups, m/groups, perGroup)
	}
	l := cpu.Host.Level
	if s.pairs(perGroup) {
		l, perGroup = cpu.Pairs, gemm.Words(perGroup)
	}
	if s.rows(l, weight[2:], m/groups, perGroup) {
		return groups * gemm.PackedRowsLen(l, m/groups, perGroup*taps)
	}
	return groups * gemm.PackedRows(l, m/groups, perGroup*taps)
}

// pairs reports whether words of two channels are multiplied. Those of a depthwise filter have no
// neighbour: they are rounded only.
func (s PackConv) pairs(perGroup int) bool {
	return s.BF16 && cpu.HasPairs() && !depthwise32(cpu.Host.Level, perGroup, max(s.Groups, 1))
}

// tile returns the side of Winograd's tiles for an image of the expected sizes
// and m filters, zero for direct sums.
func (s PackConv) tile(m, perGroup int, kernel []int) int {
	if len(kernel) != 2 || kernel[0] != 3 || kernel[1] != 3 || s.Exact || s.BF16 {
		return 0
	}
	g, ok := expected(s.Conv, s.In, kernel)
	if !ok {
		return 0
	}
	l, m := cpu.Host.Level, m/max(s.Groups, 1)
	if s.way() == ConvBySizes || !winograd.Suits(l, &g, m, perGroup) {
		return winograd.Tile(l, &g, m, perGroup)
	}
	return s.way().side()
}

// PackConv packs in[0], the weight [M, C/Groups, kernel...] of a convolution in
// f32, f16 or bf16, for ConvPacked with the same Conv, In, Exact, BF16 and Way: out[0] is f32
// [PackedConvLen(...)], or as long as Packed says. The processor that the program runs on chooses how,
// where Way does not say it.
//
//gofx:kernel
type PackConv struct {
	Conv
	In    []int // the input's spatial sizes, by which an algorithm is chosen; nil when unknown
	Exact bool  // for ConvPacked with Exact
	BF16  bool  // for ConvPacked with BF16
	Way   ConvWay
}

// ConvInBF16 reports whether a plan that rounds operands to bf16 rounds those of a convolution with a
// weight of the shape [M, C/Groups, kernel...] over images of the spatial sizes in, nil when unknown.
// Two kinds of convolutions stay in f32: those whose groups have a single channel, which has no other to
// pair with, and those that Winograd's algorithm computes faster in f32. Sizes alone decide, so every
// processor rounds the same operands.
//
//gofx:kernel
func ConvInBF16(s Conv, in, weight []int) bool {
	m, perGroup, kernel := weight[0]/max(s.Groups, 1), weight[1], weight[2:]
	g, known := expected(s, in, kernel)
	return perGroup > 1 && !(known && len(kernel) == 2 && winograd.BeatsPairs(&g, m, perGroup))
}

// Run implements Step.
func (s PackConv) Run(w *par.Workspace, out, in []*array.Array) {
	dst := array.Data[float32](out[0])
	if len(dst) == 0 {
		return
	}
	mark := w.Mark()
	weight, groups := operand.Load[float32](w, in[0]), max(s.Groups, 1)
	perGroup, l := in[0].Dim(1), cpu.Host.Level
	if s.BF16 {
		pairs := s.pairs(perGroup)
		weight = gemm.BrainPlanes(w, pairs, weight, in[0].Dim(0), perGroup, len(weight)/(in[0].Dim(0)*perGroup))
		if pairs {
			l, perGroup = cpu.Pairs, gemm.Words(perGroup)
		}
	}
	if !cpu.Assembly() || l != cpu.Pairs && depthwise32(l, perGroup, groups) {
		copy(dst, weight)
	} else if e := s.tile(in[0].Dim(0), perGroup, in[0].Shape()[2:]); e > 0 {
		winograd.Pack(w, cpu.Host.Level, e, dst, weight, groups, in[0].Dim(0)/groups, perGroup)
	} else {
		m := in[0].Dim(0) / groups
		k := len(weight) / in[0].Dim(0)
		rows := s.rows(l, in[0].Shape()[2:], m, perGroup)
		size := gemm.PackedRows(l, m, k)
		if rows {
			size = gemm.PackedRowsLen(l, m, k)
		}
		for g := range groups {
			if rows {
				packRowsWeight(w, l, dst[g*size:(g+1)*size], weight[g*m*k:(g+1)*m*k], m, k)
				continue
			}
			gemm.PackWhole(w, l, dst[g*size:(g+1)*size], weight[g*m*k:(g+1)*m*k], k, false, m, k)
		}
	}
	w.Release(mark)
}

// Packed implements Packer.
func (s PackConv) Packed(weight *array.Array) (array.DType, []int) {
	return array.F32, []int{s.size(weight.Shape())}
}

// ScratchBytes implements Scratcher.
func (s PackConv) ScratchBytes(_, in []*array.Array) int {
	n := operand.LoadBytes(in[0])
	if s.BF16 {
		n += par.ScratchSize(in[0].Len(), 4)
	}
	return n
}

// ConvPacked is Conv with a weight that PackConv packed, and an epilogue: in[0] [N, C,
// spatial...] or [C, spatial...], in[1] the packed weight of Channels filters of the
// size Kernel, then bias [M], scale [M] and residual, of the result's shape, each nil
// when absent. The factor and the term of the prologue follow, of C elements or of N*C.
// The prologue applies to in[0] before the convolution, not to the padding. Element
// types f32, f16, bf16.
//
// Where In is given and it takes less time, a 3x3 convolution of stride 1 goes by
// Winograd's algorithm in tiles of 2x2 or 4x4 outputs (Lavin and Gray, "Fast
// Algorithms for Convolutional Neural Networks", 2015; at the points 0, ±0.625,
// ±1.5 and infinity). Each output is then within 8(7+C)·2⁻²³ or 88(17+C)·2⁻²³ of S,
// where C is the channels of a group and S the sum over them of the largest |x|
// that the tile reads times the filter's sum of |w|: what the roundings of the
// transforms, magnified 16 or 175.4 times, can amount to (Higham's first order).
// Numbers of like sizes stay within (4+C/4)·2⁻²³ or (10+C/4)·2⁻²³, twice what was
// measured. That can be more than direct sums err, most where numbers of very
// different sizes are neighbours, and an infinity or NaN reaches all outputs of its tiles.
// With a nil In sums are direct, within (k+2)·2⁻²³·Σ|x·w| for k terms.
//
// Way chooses in the place of sizes: results of each way have the bounds above. It changes nothing with Exact or BF16.
//
// With Exact and no epilogue but a bias the result has the bits of Conv, if SumsInBlocks holds of
// the filters of a group and the positions of an image.
//
// With BF16, in[0], after the prologue, and the weight are rounded to bf16, to the nearest, ties to
// even; sums are direct, and they and all after them stay f32. Results are within
// (k+2)·2⁻²³·Σ|x·w| + k·2⁻¹²⁶·(1+|x|+|w|) of the exact sums of k terms of rounded operands, where the last
// term has the greatest |x| and |w|: some processors count subnormal operands and sums as 0.
//
//gofx:kernel
type ConvPacked struct {
	Conv
	Channels int // M
	Kernel   []int
	In       []int // as PackConv had it; other sizes are convolved as well
	Exact    bool
	BF16     bool // operands are rounded to bf16
	Way      ConvWay
	Prologue operand.Prologue
	operand.Epilogue
}

// form returns the convolution without its operands.
func (s ConvPacked) form(out, x *array.Array) conv32 {
	lead := out.Rank() - len(s.Kernel) // 2, or 1 without a batch
	v := conv32{batch: 1, groups: max(s.Groups, 1), exact: s.Exact}
	v.g = geom.NewSpatial(x.Shape()[lead:], out.Shape()[lead:], s.Kernel, s.Stride, s.PadLo, s.Dilation)
	if lead == 2 {
		v.batch = out.Dim(0)
	}
	v.perGroup, v.outPerGroup = x.Dim(lead-1)/v.groups, s.Channels/v.groups
	v.channels = v.perGroup
	if v.pairs = s.pack().pairs(v.perGroup); v.pairs {
		v.perGroup = gemm.Words(v.perGroup)
	}
	if v.tile = s.winograd(&v); v.tile == 0 && cpu.Assembly() && (v.pairs || !depthwise32(cpu.Host.Level, v.perGroup, v.groups)) {
		v.rows = s.pack().rows(v.level(), s.Kernel, v.outPerGroup, v.perGroup)
	}
	return v
}

// winograd returns the side of the tiles that the weight was transformed for,
// zero when it was not.
func (s ConvPacked) winograd(v *conv32) int {
	return s.pack().tile(s.Channels, v.perGroup, s.Kernel)
}

// pack returns the step that packed the weight.
func (s ConvPacked) pack() PackConv { return PackConv{s.Conv, s.In, s.Exact, s.BF16, s.Way} }

// winograd returns the convolution for transformed weights.
func (v *conv32) winograd() winograd.Conv {
	return winograd.Conv{G: v.g, Batch: v.batch, Groups: v.groups, PerGroup: v.perGroup, OutPerGroup: v.outPerGroup,
		Dst: v.dst, Src: v.src, Packed: v.packed, End: v.end}
}

// Run implements Step.
func (s ConvPacked) Run(w *par.Workspace, out, in []*array.Array) {
	if out[0].Len() == 0 {
		return
	}
	mark := w.Mark()
	v := s.form(out[0], in[0])
	v.dst, v.src = operand.Result[float32](w, out[0]), operand.Load[float32](w, in[0])
	v.packed = array.Data[float32](in[1])
	v.end = s.finish(w, &v, in)
	if s.prepares(in) {
		v.prepare(w, s.Prologue, operand.Load[float32](w, operand.At(in, 5)), operand.Load[float32](w, operand.At(in, 6)))
	}
	if s.BF16 {
		v.src = gemm.BrainPlanes(w, v.pairs, v.src, v.batch*v.groups, v.channels, v.g.InPlane)
	}
	if v.depthwise32(cpu.Host.Level) || !cpu.Assembly() {
		v.weight, v.packed = v.packed, nil
	}
	if cpu.Assembly() && v.tile > 0 {
		p := v.winograd()
		p.Run(w, v.tile)
	} else if cpu.Assembly() && v.fits() {
		v.run(w)
	} else {
		v.runGo(w)
	}
	operand.Store(out[0], v.dst)
	w.Release(mark)
}

// finish returns the epilogue with its operands.
func (s ConvPacked) finish(w *par.Workspace, v *conv32, in []*array.Array) gemm.Finish {
	return gemm.Finish{Ldr: v.g.OutPlane, BiasRow: operand.Load[float32](w, operand.At(in, 2)),
		ScaleRow: operand.Load[float32](w, operand.At(in, 3)), Residual: operand.Load[float32](w, operand.At(in, 4))}.With(s.Epilogue)
}

// runGo computes the convolution in Go, without a packed weight.
func (v *conv32) runGo(w *par.Workspace) {
	clear(v.dst)
	weight := v.weight
	if v.packed != nil {
		weight = v.unpacked(w)
	}
	if v.pairs {
		weight = gemm.SplitPlanes(w, weight, v.groups*v.outPerGroup, v.channels, v.g.Taps)
		v.src = gemm.SplitPlanes(w, v.src, v.batch*v.groups, v.channels, v.g.InPlane)
		v.perGroup = v.channels
	}
	addConv(w, &v.g, v.batch, v.groups, v.perGroup, v.outPerGroup, v.dst, v.src, weight)
	m := v.groups * v.outPerGroup
	for i := range v.batch {
		at := i * m * v.g.OutPlane
		e := v.end.Channels(0, m, at)
		e.All(w, cpu.Host.Level, m, v.g.OutPlane, v.dst[at:at+m*v.g.OutPlane], v.g.OutPlane)
	}
}

// unpacked returns the weight that was packed.
func (v *conv32) unpacked(w *par.Workspace) []float32 {
	bl := gemm.BlockingOf(v.level())
	m, k := v.outPerGroup, v.perGroup*v.g.Taps
	dst := par.Scratch[float32](w, v.groups*m*k)
	if k == 0 {
		return dst
	}
	if v.rows {
		size := gemm.PackedRowsLen(v.level(), m, k)
		for g := range v.groups {
			unpackedRows(v.level(), dst[g*m*k:(g+1)*m*k], v.packed[g*size:(g+1)*size], m, k)
		}
		return dst
	}
	panels, depth, size := bl.Panels(m), bl.Depth(k), gemm.PackedRows(v.level(), m, k)
	for g := range v.groups {
		for i := range panels {
			r0, r1 := bl.Rows(m, i)
			for p := range k {
				pc := p / depth * depth
				kc := min(depth, k-pc)
				from := v.packed[g*size+pc*panels*bl.Stride+i*bl.Stride*kc+(p-pc)*bl.Stride:]
				for r := r0; r < r1; r++ {
					dst[(g*m+r)*k+p] = from[r-r0]
				}
			}
		}
	}
	return dst
}

// ScratchBytes implements Scratcher.
func (s ConvPacked) ScratchBytes(out, in []*array.Array) int {
	if out[0].Len() == 0 {
		return 0
	}
	n := operand.StoreBytes(out[0]) + operand.LoadBytes(in[0]) + operand.LoadAllBytes(in[2:])
	v := s.form(out[0], in[0])
	if s.prepares(in) {
		n += v.preparedBytes()
	}
	if s.BF16 {
		n += par.ScratchSize(in[0].Len(), 4)
	}
	if cpu.Assembly() && v.tile > 0 {
		return n + winograd.Scratch(v.winograd(), cpu.Host.Level, v.tile)
	}
	if cpu.Assembly() && v.fits() {
		return n + v.scratch(v.level(), !v.depthwise32(cpu.Host.Level))
	}
	if cpu.Assembly() {
		n += par.ScratchSize(s.Channels*v.perGroup*v.g.Taps, 4)
	}
	if v.pairs {
		n += par.ScratchSize(s.Channels*v.channels*v.g.Taps, 4) + par.ScratchSize(in[0].Len(), 4)
		v.perGroup = v.channels
	}
	return n + addConvScratch[float32](&v.g, v.groups, v.perGroup, v.outPerGroup)
}
