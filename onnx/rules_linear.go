package onnx

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

var negInf = math.Inf(-1)

const pi = math.Pi

// linearRules are products and convolutions.
var linearRules = map[string][]rule{
	"MatMul": from(1, func(c *call) []op.Value { return c.one(std.Matmul, nil, c.x(0), c.x(1)) }),
	"Gemm":   from(1, gemm),
	"Einsum": from(12, func(c *call) []op.Value {
		return c.one(std.Einsum, std.EinsumAttrs{Equation: c.text("equation", "")}, c.xs()...)
	}),
	"Conv":          from(1, conv),
	"ConvTranspose": from(1, convTranspose),
}

// gemm is alpha·A·B + beta·C; with a transposed B and factors of 1 it is a linear layer.
func gemm(c *call) []op.Value {
	alpha, beta := c.float("alpha", 1), c.float("beta", 1)
	ta, tb := c.flag("transA", false), c.flag("transB", false)
	c.ignore("broadcast")
	a, b := c.x(0), c.x(1)
	matrices(c, 0, 1)
	if ta {
		a = c.do(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, a)
	}
	plain := alpha == 1 && (beta == 1 || !c.has(2)) && c.typ(0).DType().IsFloat()
	bias := !c.has(2) || c.typ(2).Rank() == 1 && c.typ(1).Dims().Len() == 2 && c.typ(2).Dim(0).Equal(c.typ(1).Dim(column(tb)))
	if plain && bias {
		if !tb {
			b = c.do(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, b)
		}
		return c.one(std.Linear, nil, a, b, c.opt(2))
	}
	if tb {
		b = c.do(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, b)
	}
	v := c.do(std.Matmul, nil, a, b)
	if alpha != 1 {
		v = c.do(std.Mul, std.BinaryAttrs{Other: factor(alpha, c.typ(0).DType())}, v)
	}
	if !c.has(2) || beta == 0 {
		return []op.Value{v}
	}
	s := c.x(2)
	fits(c, 2, v.Type())
	if beta != 1 {
		s = c.do(std.Mul, std.BinaryAttrs{Other: factor(beta, c.typ(0).DType())}, s)
	}
	return c.one(std.Add, nil, v, s)
}

// matrices refuses operands that are none: operators take batches of them, too.
func matrices(c *call, operands ...int) {
	for _, i := range operands {
		if c.rank(i) != 2 {
			panic(diag.New(CodeModel, "input "+strconv.Itoa(i)+" is "+c.typ(i).String()+", expected a matrix"))
		}
	}
}

// fits refuses an operand that does not broadcast to a type: a sum broadcasts both ways.
func fits(c *call, i int, to shape.Type) {
	t := c.typ(i)
	bad := c.rank(i) > to.Rank()
	for k := 1; !bad && k <= t.Rank(); k++ {
		d := t.Dim(-k)
		bad = !d.Is(1) && shape.Equality(d, to.Dim(-k)).Truth() == shape.False
	}
	if bad {
		panic(diag.New(CodeModel, "input "+strconv.Itoa(i)+" is "+t.String()+", which does not broadcast to "+to.String()))
	}
}

func column(transposed bool) int {
	if transposed {
		return 0
	}
	return 1
}

// factor is a number of the element type's kind.
func factor(f float64, d array.DType) op.Scalar {
	if d.IsInt() {
		if f != math.Trunc(f) {
			panic(diag.New(CodeAttribute, "a factor of "+strconv.FormatFloat(f, 'g', -1, 64)+" on integers is not supported"))
		}
		return op.Int(int64(f))
	}
	return op.Float(f)
}

// byRank picks the operator for a number of spatial dimensions.
func byRank(c *call, n int, ops ...*op.Op) *op.Op {
	if n < 1 || n > len(ops) {
		panic(diag.New(CodeOperator, c.n.Op+" over "+strconv.Itoa(n)+" spatial dimensions is not supported"))
	}
	return ops[n-1]
}

// spatial are the sizes of a weight's spatial dimensions, which must be known.
func spatial(c *call, i int) []int {
	if c.rank(i) < 3 {
		panic(diag.New(CodeModel, "the weight is "+c.typ(i).String()+", expected spatial dimensions"))
	}
	k, ok := c.typ(i).Dims().Sub(2, c.rank(i)).Known()
	if !ok {
		panic(diag.New(CodeValue, "the weight is "+c.typ(i).String()+", whose sizes are not known"))
	}
	if given := c.list("kernel_shape"); given != nil && !shape.ConstDims(given...).Equal(shape.ConstDims(k...)) {
		panic(diag.New(CodeModel, "kernel_shape does not agree with the weight "+c.typ(i).String()))
	}
	return k
}

func conv(c *call) []op.Value {
	k := spatial(c, 1)
	needSpatial(c, "the weight", len(k))
	w := windowOf(c, k)
	x := padded(c, c.x(0), &w, false, 0)
	a := std.ConvAttrs{Stride: op.IntList(w.strides...), Padding: w.padding(), Dilation: op.IntList(w.dilations...), Groups: c.group()}
	return c.one(byRank(c, len(k), std.Conv1d, std.Conv2d, std.Conv3d), a, x, c.x(1), c.opt(2))
}

// convTranspose's padding crops the result; the difference of its two ends, and amounts that
// follow from sizes, are cropped after the operator.
func convTranspose(c *call) []op.Value {
	k := spatial(c, 1)
	n := len(k)
	needSpatial(c, "the weight", n)
	extra := listOf(c, "output_padding", n, 0, 0)
	w := cropped(c, k, extra)
	common, crop, some := make([]int, n), shape.ConstDims(make([]int, 2*n)...), false
	for i := range n {
		b, ok := w.begin[i].Int()
		e, known := w.end[i].Int()
		if ok && known {
			common[i] = max(min(b, e), 0)
		}
		if extra[i] >= max(w.strides[i], w.dilations[i]) {
			panic(diag.New(CodeAttribute, "an output_padding of "+strconv.Itoa(extra[i])+" is not less than stride or dilation"))
		}
		at, shared := 2*(n-1-i), shape.Const(common[i])
		crop = crop.With(at, shared.Sub(w.begin[i])).With(at+1, shared.Sub(w.end[i]))
		some = some || !crop.At(at).Is(0) || !crop.At(at+1).Is(0)
	}
	a := std.ConvTransposeAttrs{Stride: op.IntList(w.strides...), Padding: op.IntList(common...), OutputPadding: op.IntList(extra...),
		Dilation: op.IntList(w.dilations...), Groups: c.group()}
	o := byRank(c, n, std.ConvTranspose1d, std.ConvTranspose2d, std.ConvTranspose3d)
	if !some {
		return c.one(o, a, c.x(0), c.x(1), c.opt(2))
	}
	// Zeros that are appended must have the bias as well.
	v := c.do(o, a, c.x(0), c.x(1), nil)
	v = c.do(std.Pad, std.PadAttrs{Pad: crop}, v)
	if c.has(2) {
		b := c.x(2)
		for range n {
			b = c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, b)
		}
		v = c.do(std.Add, nil, v, b)
	}
	return []op.Value{v}
}

// cropped is the window of a transposed convolution: its padding, or the result of
// output_shape and auto_pad.
func cropped(c *call, k, extra []int) window {
	n := len(k)
	sizes := c.list("output_shape")
	if len(sizes) == n+2 { // with the batch and the channels, which say nothing new
		sizes = sizes[2:]
	} else if sizes != nil {
		sizes = perDim(c, "output_shape", n)
	}
	auto := c.oneOf("auto_pad", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
	w := window{kernel: k, strides: perDim(c, "strides", n), dilations: perDim(c, "dilations", n), begin: make([]shape.Dim, n), end: make([]shape.Dim, n)}
	if pads := shape.ConstDims(padsOf(c, n)...).Slice(); auto == "NOTSET" && sizes == nil {
		copy(w.begin, pads[:n])
		copy(w.end, pads[n:])
	}
	for i := range n {
		total := shape.Const(w.reach(i) + extra[i] - w.strides[i])
		switch {
		case sizes != nil:
			total = total.Add(spatialSize(c, i).MulInt(w.strides[i])).AddInt(-sizes[i])
		case auto == "NOTSET" || auto == "VALID":
			continue
		}
		// The later end has the odd one for SAME_UPPER, as the specification says. Missing
		// elements are added at the end, as TensorFlow and ONNX Runtime do.
		some := total.Max(shape.Const(0))
		w.begin[i] = some.FloorDivInt(2)
		if auto != "SAME_UPPER" {
			w.begin[i] = some.Sub(w.begin[i])
		}
		w.end[i] = total.Sub(w.begin[i])
	}
	return w
}

// signalRules are transforms of signals, as products with constants.
var signalRules = map[string][]rule{
	"DFT": {
		{since: 17, build: func(c *call) []op.Value { return dft(c, c.int("axis", 1)) }},
		{since: 20, build: func(c *call) []op.Value {
			axis := -2
			if c.has(2) {
				axis = int(c.number(2).Int64())
			}
			return dft(c, axis)
		}},
	},
	"STFT":            from(17, stft),
	"MelWeightMatrix": from(17, melWeights),
}

// melWeights are triangles over the bins of a spectrum, spaced as pitch is heard.
func melWeights(c *call) []op.Value {
	count, length, rate := int(c.number(0).Int64()), int(c.number(1).Int64()), int(c.number(2).Int64())
	low, high := c.number(3).Float64(), c.number(4).Float64()
	bins := length/2 + 1
	if count < 1 || length < 1 || rate < 1 || length > mostBasis || count > mostBasis || bins > mostBasis/count || !(low >= 0 && high >= low && high <= 1e9) {
		panic(diag.New(CodeModel, "MelWeightMatrix: the numbers are out of range"))
	}
	mel := func(f float64) float64 { return 2595 * math.Log10(1+f/700) }
	at := make([]int, count+2)
	for i := range at {
		f := 700 * (math.Pow(10, (mel(low)+float64(i)*(mel(high)-mel(low))/float64(len(at)))/2595) - 1)
		if at[i] = int(math.Floor(float64(length+1) * f / float64(rate))); at[i] >= bins {
			panic(diag.New(CodeModel, "MelWeightMatrix: a band ends above half of the sample rate"))
		}
	}
	a := array.New(array.F64, bins, count)
	for i := range count {
		from, center, to := at[i], at[i+1], at[i+2]
		for k := from; k < center; k++ {
			array.SetFloat64At(a, k*count+i, float64(k-from)/float64(center-from))
		}
		array.SetFloat64At(a, center*count+i, 1)
		for k := center; k < to; k++ {
			array.SetFloat64At(a, k*count+i, float64(to-k)/float64(to-center))
		}
	}
	return c.one(std.Cast, std.CastAttrs{DType: c.dtype("output_datatype", array.F32)}, c.tensor(a))
}
