package exporter

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// exportLinear are products and convolutions.
var exportLinear = map[*op.Op][]exportRule{
	std.Matmul: by(func(c *exportCall, _ op.None) op.Value { return c.node("MatMul", c.in) }),
	std.Bmm:    by(func(c *exportCall, _ op.None) op.Value { return c.node("MatMul", c.in) }),
	std.Linear: by(linear),
	std.Einsum: by(func(c *exportCall, a std.EinsumAttrs) op.Value {
		for i := range c.in {
			if c.dtype(i) != c.typ.DType() {
				decline("the operands are of several types")
			}
		}
		ellipses(c)
		return c.node("Einsum", c.in, attrText("equation", a.Equation))
	}),
	std.Conv1d: by(convolution), std.Conv2d: by(convolution), std.Conv3d: by(convolution),
	std.ConvTranspose1d: by(transposed), std.ConvTranspose2d: by(transposed), std.ConvTranspose3d: by(transposed),
	std.Conv1dWeightGrad: expansion, std.Conv2dWeightGrad: expansion, std.Conv3dWeightGrad: expansion,
}

// ellipses gives Einsum up if the dimensions of its dots broadcast, which ONNX does not infer.
func ellipses(c *exportCall) {
	left, _, _ := strings.Cut(strings.ReplaceAll(c.attrs.(std.EinsumAttrs).Equation, " ", ""), "->")
	var dots shape.Dims
	known := false
	for i, term := range strings.Split(left, ",") {
		begin, end, found := strings.Cut(term, "...")
		if !found || i >= len(c.in) {
			continue
		}
		own := c.in[i].Type().Dims().Sub(len(begin), c.rank(i)-len(end))
		if known && !own.Same(dots) {
			decline("what ... stands for broadcasts")
		}
		dots, known = own, true
	}
}

// linear is Gemm for a matrix, which takes the weight as it lies; else a product with the
// transposed weight.
func linear(c *exportCall, _ op.None) op.Value {
	if c.rank(0) == 2 {
		return c.node("Gemm", c.in, attrInt("transB", 1))
	}
	w := permute(c, c.in[1], []int{1, 0})
	if !c.has(2) {
		return c.node("MatMul", []op.Value{c.in[0], w})
	}
	v := c.w.emit("MatMul", c.typ, []op.Value{c.in[0], w})
	return c.node("Add", []op.Value{v, c.in[2]})
}

// batched runs f on a batch of one where the operand has none.
func batched(c *exportCall, spatial int, f func(x op.Value, t shape.Type) op.Value) op.Value {
	if c.rank(0) == spatial+2 {
		return f(c.in[0], c.typ)
	}
	x := c.do(std.Unsqueeze, std.DimAttrs{Dim: 0}, c.in[0])
	wide := c.typ.WithDims(shape.Of(shape.Const(1)).Concat(c.typ.Dims()))
	return c.w.emit("Squeeze", c.typ, []op.Value{f(x, wide), c.list(0)})
}

// each is a list with an entry for each of n dimensions.
func each(l op.Ints, n, def int) []int {
	list, err := l.Or(n, def)
	if err != nil {
		panic(asError(err))
	}
	return list
}

func convolution(c *exportCall, a std.ConvAttrs) op.Value {
	n := c.in[1].Type().Rank() - 2
	dilation := each(a.Dilation, n, 1)
	begin := each(a.Padding, n, 0)
	end := begin
	if a.PadMode == "same" {
		begin, end = make([]int, n), make([]int, n)
		for i := range n {
			total := dilation[i] * (knownSize(c.in[1].Type().Dim(2+i), "the size of the kernel") - 1)
			begin[i], end[i] = total/2, total-total/2
		}
	}
	attrs := []*pb.Attr{attrInts("strides", each(a.Stride, n, 1)...), attrInts("pads", append(append([]int(nil), begin...), end...)...),
		attrInts("dilations", dilation...), attrInt("group", max(a.Groups, 1))}
	if k, ok := c.in[1].Type().Dims().Sub(2, n+2).Known(); ok {
		attrs = append(attrs, attrInts("kernel_shape", k...))
	}
	return batched(c, n, func(x op.Value, t shape.Type) op.Value {
		return c.w.emit("Conv", t, []op.Value{x, c.in[1], c.opt(2)}, attrs...)
	})
}

func transposed(c *exportCall, a std.ConvTransposeAttrs) op.Value {
	n := c.in[1].Type().Rank() - 2
	pad := each(a.Padding, n, 0)
	attrs := []*pb.Attr{attrInts("strides", each(a.Stride, n, 1)...), attrInts("pads", append(append([]int(nil), pad...), pad...)...),
		attrInts("dilations", each(a.Dilation, n, 1)...), attrInt("group", max(a.Groups, 1)), attrInts("output_padding", each(a.OutputPadding, n, 0)...)}
	if k, ok := c.in[1].Type().Dims().Sub(2, n+2).Known(); ok {
		attrs = append(attrs, attrInts("kernel_shape", k...))
	}
	return batched(c, n, func(x op.Value, t shape.Type) op.Value {
		return c.w.emit("ConvTranspose", t, []op.Value{x, c.in[1], c.opt(2)}, attrs...)
	})
}

// exportPools are the pools.
var exportPools = map[*op.Op][]exportRule{
	std.MaxPool1d: by(poolOf(1, false)), std.MaxPool2d: by(poolOf(2, false)), std.MaxPool3d: by(poolOf(3, false)),
	std.MaxPool1dWithIndices: by(poolOf(1, true)), std.MaxPool2dWithIndices: by(poolOf(2, true)), std.MaxPool3dWithIndices: by(poolOf(3, true)),
	std.AvgPool1d: by(averageOf(1)), std.AvgPool2d: by(averageOf(2)), std.AvgPool3d: by(averageOf(3)),
	std.AdaptiveAvgPool1d: by(adaptive(1, true)), std.AdaptiveAvgPool2d: by(adaptive(2, true)), std.AdaptiveAvgPool3d: by(adaptive(3, true)),
	std.AdaptiveMaxPool1d: by(adaptive(1, false)), std.AdaptiveMaxPool2d: by(adaptive(2, false)), std.AdaptiveMaxPool3d: by(adaptive(3, false)),
}

// strideOf is the kernel's size where there is none.
func strideOf(stride, kernel op.Ints, n int) []int {
	if stride.Len() == 0 {
		stride = kernel
	}
	return each(stride, n, 1)
}

func poolOf(n int, indices bool) func(c *exportCall, a std.MaxPoolAttrs) op.Value {
	return func(c *exportCall, a std.MaxPoolAttrs) op.Value {
		pad := each(a.Padding, n, 0)
		attrs := []*pb.Attr{attrInts("kernel_shape", each(a.KernelSize, n, 1)...), attrInts("strides", strideOf(a.Stride, a.KernelSize, n)...),
			attrInts("pads", append(append([]int(nil), pad...), pad...)...), attrInts("dilations", each(a.Dilation, n, 1)...), attrFlag("ceil_mode", a.CeilMode)}
		if !indices {
			return batched(c, n, func(x op.Value, t shape.Type) op.Value { return c.w.emit("MaxPool", t, []op.Value{x}, attrs...) })
		}
		x, lead := c.in[0], c.rank(0) == n+1
		types := []shape.Type{c.typ.Member(0), c.typ.Member(1)}
		if lead {
			x = c.do(std.Unsqueeze, std.DimAttrs{Dim: 0}, x)
			for i, t := range types {
				types[i] = t.WithDims(shape.Of(shape.Const(1)).Concat(t.Dims()))
			}
		}
		outs := c.w.emitAll("MaxPool", types, []op.Value{x}, attrs...)
		// ONNX counts through all planes.
		plane := c.w.sizeNumber(x.Type().Dims().Sub(2, n+2).Prod())
		at := op.Value(c.w.emit("Mod", types[1], []op.Value{outs[1], plane}))
		v := op.Value(outs[0])
		if lead {
			v = c.do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(0)}, v)
			at = c.do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(0)}, at)
		}
		return c.tuple(v, at)
	}
}

// averageOf: where a divisor is given, the mean over the window's size is undone.
func averageOf(n int) func(c *exportCall, a std.AvgPoolAttrs) op.Value {
	return func(c *exportCall, a std.AvgPoolAttrs) op.Value {
		pad, kernel := each(a.Padding, n, 0), each(a.KernelSize, n, 1)
		if !c.dtype(0).IsFloat() {
			decline("AveragePool is for floats")
		}
		exclude := a.CountExcludePad
		if a.DivisorOverride != 0 {
			exclude = false
			if a.CeilMode {
				decline("a divisor where windows may end outside")
			}
		}
		since := oldestOpset
		if a.CeilMode {
			since = 19 // only then was the count in windows beyond the end defined
		}
		c.needs(since)
		attrs := []*pb.Attr{attrInts("kernel_shape", kernel...), attrInts("strides", strideOf(a.Stride, a.KernelSize, n)...),
			attrInts("pads", append(append([]int(nil), pad...), pad...)...), attrFlag("ceil_mode", a.CeilMode), attrFlag("count_include_pad", !exclude)}
		v := batched(c, n, func(x op.Value, t shape.Type) op.Value { return c.w.emit("AveragePool", t, []op.Value{x}, attrs...) })
		if a.DivisorOverride == 0 {
			return v
		}
		size := 1
		for _, k := range kernel {
			size *= k
		}
		return c.do(std.Mul, std.BinaryAttrs{Other: op.Float(float64(size) / float64(a.DivisorOverride))}, v)
	}
}

// adaptive: one window is a global pool, windows of one size are a pool; of other
// ones each dimension is taken by itself.
func adaptive(n int, average bool) func(c *exportCall, a std.AdaptivePoolAttrs) op.Value {
	return func(c *exportCall, _ std.AdaptivePoolAttrs) op.Value {
		if !c.dtype(0).IsFloat() {
			decline("pools are for floats")
		}
		global, plain := true, true
		kernel := make([]int, n)
		out := c.typ.Dims()
		for i := range n {
			to := out.At(out.Len() - n + i)
			from := c.in[0].Type().Dim(c.rank(0) - n + i)
			global = global && to.Is(1)
			size, known := from.Int()
			count, fixed := to.Int()
			switch {
			case from.Equal(to):
				kernel[i] = 1
			case known && fixed && count > 0 && size%count == 0:
				kernel[i] = size / count
			default:
				plain = false
			}
		}
		name := "MaxPool"
		if average {
			name = "AveragePool"
		}
		switch {
		case global:
			return batched(c, n, func(x op.Value, t shape.Type) op.Value { return c.w.emit("Global"+name, t, []op.Value{x}) })
		case plain:
			return batched(c, n, func(x op.Value, t shape.Type) op.Value {
				return c.w.emit(name, t, []op.Value{x}, attrInts("kernel_shape", kernel...), attrInts("strides", kernel...))
			})
		}
		x := c.in[0]
		for i := range n {
			axis := c.rank(0) - n + i
			x = adapted(c, x, axis, knownSize(x.Type().Dim(axis), "the size that is pooled"), knownSize(c.typ.Dim(axis), "the number of windows"), average)
		}
		return x
	}
}

// adapted pools one dimension in windows of several sizes: they become rows of one length, of which
// the short ones end with elements that do not count. The number of nodes is the same for any number of
// windows.
func adapted(c *exportCall, x op.Value, axis, from, to int, average bool) op.Value {
	begin := func(i int) int { return i * from / to }
	end := func(i int) int { return ((i+1)*from + to - 1) / to }
	narrow := x.Type().DType()
	if average {
		x = wide(c, x) // sums are
	}
	length := 0
	for i := range to {
		length = max(length, end(i)-begin(i))
	}
	at, inside, sizes := array.New(array.I64, to, length), array.New(array.Bool, to, length), array.New(x.Type().DType(), to)
	for i := range to {
		size := end(i) - begin(i)
		array.SetFloat64At(sizes, i, float64(size))
		for k := range length {
			array.SetInt64At(at, i*length+k, int64(begin(i)+min(k, size-1)))
			array.Data[bool](inside)[i*length+k] = k < size
		}
	}
	d := x.Type()
	rows := d.WithDims(d.Dims().Sub(0, axis).Append(shape.Const(to), shape.Const(length)).Concat(d.Dims().Sub(axis+1, d.Rank())))
	w := op.Value(c.w.emit("Gather", rows, []op.Value{x, c.array("windows", at)}, attrInt("axis", axis)))
	reduce := std.ReduceAttrs{Dim: op.IntList(axis + 1)}
	if !average {
		return c.do(std.Amax, reduce, w) // an element that comes twice is no larger
	}
	behind := make([]shape.Dim, d.Rank()-axis-1)
	for i := range behind {
		behind[i] = shape.Const(1)
	}
	across := func(a op.Value) op.Value { return c.reshape(a, append(a.Type().Dims().Slice(), behind...)...) }
	w = c.do(std.Where, nil, across(c.array("inside", inside)), w, c.number(d.DType(), op.Float(0)))
	return c.cast(c.do(std.Div, nil, c.do(std.Sum, reduce, w), across(c.array("sizes", sizes))), narrow)
}

// exportNorms are the normalisations.
var exportNorms = map[*op.Op][]exportRule{
	std.BatchNormInference: by(func(c *exportCall, a std.EpsAttrs) op.Value {
		if !epsilon(c, a.Eps) {
			return normalised(c, along(c, c.in[1]), along(c, c.in[2]), a.Eps, alongOpt(c, 3), alongOpt(c, 4))
		}
		in := []op.Value{c.in[0], c.factor(3, c.channels(), 1), c.factor(4, c.channels(), 0), c.in[1], c.in[2]}
		return c.node("BatchNormalization", in, attrFloat("epsilon", a.Eps))
	}),
	std.BatchNormStats: by(func(c *exportCall, _ op.None) op.Value {
		d := c.typ.Member(0).DType()
		var dims []int
		for i := range c.rank(0) {
			if i != 1 {
				dims = append(dims, i)
			}
		}
		x := c.cast(c.in[0], d)
		return c.tuple(c.do(std.Mean, std.ReduceAttrs{Dim: op.IntList(dims...)}, x), c.do(std.Var, std.VarAttrs{Dim: op.IntList(dims...), Correction: op.Int(0)}, x))
	}),
	std.LayerNorm: by(func(c *exportCall, a std.LayerNormAttrs) op.Value {
		if !epsilon(c, a.Eps) {
			mean, variance := moments(c, c.in[0], a.NormalizedShape.Len())
			return normalised(c, mean, variance, a.Eps, c.opt(1), c.opt(2))
		}
		if c.in[0].Type().Dims().Prod().Is(0) {
			return c.node("Identity", c.in[:1]) // which runtimes refuse or divide by
		}
		return c.layerNorm(a)
	}),
	std.RmsNorm: {writes(23, func(c *exportCall, a std.LayerNormAttrs) op.Value {
		if !epsilon(c, a.Eps) {
			decline("the epsilon has 32 bits")
		}
		w := normFactor(c, 1, a.NormalizedShape, 1)
		if w.Type().DType() != c.dtype(0) {
			decline("the weight is of another type")
		}
		return c.node("RMSNormalization", []op.Value{c.in[0], w}, attrInt("axis", -a.NormalizedShape.Len()), attrFloat("epsilon", a.Eps))
	}), writes(oldestOpset, func(c *exportCall, a std.LayerNormAttrs) op.Value {
		x := wide(c, c.in[0])
		var dims []int
		for i := range a.NormalizedShape.Len() {
			dims = append(dims, -1-i)
		}
		m := c.do(std.Mean, std.ReduceAttrs{Dim: op.IntList(dims...), KeepDim: true}, c.do(std.Mul, nil, x, x))
		v := c.cast(c.do(std.Mul, nil, x, c.do(std.Rsqrt, nil, c.do(std.Add, std.AddAttrs{Other: op.Float(a.Eps)}, m))), c.dtype(0))
		if c.has(1) {
			v = c.cast(c.do(std.Mul, nil, v, c.in[1]), c.typ.DType())
		}
		return v
	})},
	std.InstanceNorm: by(func(c *exportCall, a std.InstanceNormAttrs) op.Value {
		if a.UseRunningStats || c.rank(0) < 3 || !epsilon(c, a.Eps) {
			decline("InstanceNormalization has statistics of its own")
		}
		return c.node("InstanceNormalization", []op.Value{c.in[0], c.factor(3, c.channels(), 1), c.factor(4, c.channels(), 0)}, attrFloat("epsilon", a.Eps))
	}),
	std.GroupNorm: {writes(21, func(c *exportCall, a std.GroupNormAttrs) op.Value {
		if a.NumGroups < 1 || !epsilon(c, a.Eps) {
			decline("the number of groups follows from the operand")
		}
		if c.in[0].Type().Dims().Prod().Is(0) {
			return c.node("Identity", c.in[:1])
		}
		return c.node("GroupNormalization", []op.Value{c.in[0], c.factor(1, c.channels(), 1), c.factor(2, c.channels(), 0)},
			attrInt("num_groups", a.NumGroups), attrFloat("epsilon", a.Eps))
	}), writes(oldestOpset, func(c *exportCall, a std.GroupNormAttrs) op.Value {
		return c.cast(groupedNorm(c, a), c.typ.DType())
	})},
	std.LocalResponseNorm: by(func(c *exportCall, a std.LocalResponseNormAttrs) op.Value {
		if a.Size%2 == 0 {
			decline("an even number of neighbours lies elsewhere")
		}
		x, dims := c.in[0], c.in[0].Type().Dims()
		pixels := dims.Sub(min(2, dims.Len()), dims.Len()).Prod()
		image := dims.Len() == 4 || dims.Len() < 2 || pixels.IsUnknown()
		if !image { // ONNX Runtime has it of images only
			x = c.reshape(x, dims.At(0), dims.At(1), pixels, shape.Const(1))
		}
		v := c.w.emit("LRN", x.Type(), []op.Value{x}, attrInt("size", a.Size), attrFloat("alpha", a.Alpha), attrFloat("beta", a.Beta), attrFloat("bias", a.K))
		if !image {
			return c.reshape(v, dims.Slice()...)
		}
		return v
	}),
}

// layerNorm is LayerNormalization, whose operands have one type: the wider one where they differ.
func (c *exportCall) layerNorm(a std.LayerNormAttrs) op.Value {
	x, w, b := c.in[0], normFactor(c, 1, a.NormalizedShape, 1), c.opt(2)
	d := x.Type().DType()
	for _, v := range []op.Value{w, b} {
		if v != nil && v.Type().DType().Size() > d.Size() {
			d = v.Type().DType()
		}
	}
	in := []op.Value{c.cast(x, d), c.cast(w, d), nil}
	if b != nil {
		in[2] = c.cast(b, d)
	}
	v := c.w.emit("LayerNormalization", c.typ.WithDType(d), in, attrInt("axis", -a.NormalizedShape.Len()), attrFloat("epsilon", a.Eps))
	return c.cast(v, c.typ.DType())
}

func (c *exportCall) channels() shape.Dim {
	c.rank(0)
	return c.in[0].Type().Dim(1)
}

// factor is a factor for each channel, which ONNX must have, in the operand's type.
func (c *exportCall) factor(i int, n shape.Dim, value float64) op.Value {
	if c.has(i) {
		return c.cast(c.in[i], c.dtype(0))
	}
	if k, ok := n.Int(); ok {
		return c.filled(c.dtype(0), k, value)
	}
	return c.do(std.Full, std.FullAttrs{Size: shape.Of(n), Value: op.Float(value), DType: c.dtype(0)})
}

func normFactor(c *exportCall, i int, s shape.Dims, value float64) op.Value {
	if c.has(i) {
		return c.in[i]
	}
	return c.do(std.Full, std.FullAttrs{Size: s, Value: op.Float(value), DType: c.dtype(0)})
}

// epsilon reports whether an attribute holds it as exactly as is computed.
func epsilon(c *exportCall, eps float64) bool { return c.dtype(0) != array.F64 || exactly(eps) }

// along reshapes a vector so that it broadcasts along the channels.
func along(c *exportCall, v op.Value) op.Value {
	for range c.rank(0) - 2 {
		v = c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, v)
	}
	return v
}

func alongOpt(c *exportCall, i int) op.Value {
	if !c.has(i) {
		return nil
	}
	return along(c, c.in[i])
}

// moments are the mean and the variance over the last dimensions.
func moments(c *exportCall, x op.Value, last int) (mean, variance op.Value) {
	var dims []int
	for i := range last {
		dims = append(dims, -1-i)
	}
	return c.do(std.Mean, std.ReduceAttrs{Dim: op.IntList(dims...), KeepDim: true}, x),
		c.do(std.Var, std.VarAttrs{Dim: op.IntList(dims...), Correction: op.Int(0), KeepDim: true}, x)
}

// normalised is (x - mean)/sqrt(variance + eps)·weight + bias.
func normalised(c *exportCall, mean, variance op.Value, eps float64, weight, bias op.Value) op.Value {
	v := c.do(std.Div, nil, c.do(std.Sub, nil, c.in[0], mean), c.do(std.Sqrt, nil, c.do(std.Add, std.AddAttrs{Other: op.Float(eps)}, variance)))
	if weight != nil {
		v = c.do(std.Mul, nil, v, weight)
	}
	if bias != nil {
		v = c.do(std.Add, nil, v, bias)
	}
	return c.cast(v, c.typ.DType())
}

// wide is a value of at least 32 bits.
func wide(c *exportCall, v op.Value) op.Value {
	if d := v.Type().DType(); d.Size() >= 4 {
		return v
	}
	return c.cast(v, array.F32)
}

// groupedNorm normalises groups as instances, and after that each channel.
func groupedNorm(c *exportCall, a std.GroupNormAttrs) op.Value {
	t := c.in[0].Type()
	n := t.Rank()
	if a.NumGroups < 1 && n > 2 && epsilon(c, a.Eps) {
		return c.node("InstanceNormalization", []op.Value{c.in[0], c.factor(1, c.channels(), 1), c.factor(2, c.channels(), 0)}, attrFloat("epsilon", a.Eps))
	}
	groups := a.NumGroups
	if groups < 1 {
		groups = knownSize(t.Dim(1), "the number of channels")
	}
	rest := t.Dims().Sub(1, n).Prod().FloorDivInt(groups)
	if rest.IsUnknown() {
		rest = shape.Const(-1)
	}
	flat := c.reshape(c.in[0], t.Dim(0), shape.Const(groups), rest)
	var v op.Value
	if !epsilon(c, a.Eps) {
		mean, variance := moments(c, flat, 1)
		inner := *c
		inner.in, inner.typ = []op.Value{flat}, flat.Type()
		v = c.reshape(normalised(&inner, mean, variance, a.Eps, nil, nil), t.Dims().Slice()...)
		return scaledChannels(c, v)
	}
	v = op.Value(c.w.emit("InstanceNormalization", flat.Type(), []op.Value{flat, c.filled(t.DType(), groups, 1), c.filled(t.DType(), groups, 0)}, attrFloat("epsilon", a.Eps)))
	return scaledChannels(c, c.reshape(v, t.Dims().Slice()...))
}

// scaledChannels multiplies by the weight and adds the bias of each channel, operands 1 and 2.
func scaledChannels(c *exportCall, v op.Value) op.Value {
	n := c.rank(0)
	for i, o := range []*op.Op{std.Mul, std.Add} {
		if c.has(1 + i) {
			f := c.in[1+i]
			for range n - 2 {
				f = c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, f)
			}
			v = c.do(o, nil, v, f)
		}
	}
	return v
}
