package standard

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

var negInf = math.Inf(-1)

const pi = math.Pi

// linearRules are products and convolutions.
var linearRules = map[string][]rule.Rule{
	"MatMul": rule.From(1, func(c *rule.Call) []op.Value { return c.One(std.Matmul, nil, c.X(0), c.X(1)) }),
	"Gemm":   rule.From(1, Gemm),
	"Einsum": rule.From(12, func(c *rule.Call) []op.Value {
		return c.One(std.Einsum, std.EinsumAttrs{Equation: c.Text("equation", "")}, c.Xs()...)
	}),
	"Conv":          rule.From(1, Conv),
	"ConvTranspose": rule.From(1, convTranspose),
}

// Gemm is alpha·A·B + beta·C; with a transposed B and factors of 1 it is a linear layer.
func Gemm(c *rule.Call) []op.Value {
	alpha, beta := c.Float("alpha", 1), c.Float("beta", 1)
	ta, tb := c.Flag("transA", false), c.Flag("transB", false)
	c.Ignore("broadcast")
	a, b := c.X(0), c.X(1)
	matrices(c, 0, 1)
	if ta {
		a = c.Do(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, a)
	}
	plain := alpha == 1 && (beta == 1 || !c.Has(2)) && c.Type(0).DType().IsFloat()
	bias := !c.Has(2) || c.Type(2).Rank() == 1 && c.Type(1).Dims().Len() == 2 && c.Type(2).Dim(0).Equal(c.Type(1).Dim(column(tb)))
	if plain && bias {
		if !tb {
			b = c.Do(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, b)
		}
		return c.One(std.Linear, nil, a, b, c.Opt(2))
	}
	if tb {
		b = c.Do(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, b)
	}
	v := c.Do(std.Matmul, nil, a, b)
	if alpha != 1 {
		v = c.Do(std.Mul, std.BinaryAttrs{Other: Factor(alpha, c.Type(0).DType())}, v)
	}
	if !c.Has(2) || beta == 0 {
		return []op.Value{v}
	}
	s := c.X(2)
	fits(c, 2, v.Type())
	if beta != 1 {
		s = c.Do(std.Mul, std.BinaryAttrs{Other: Factor(beta, c.Type(0).DType())}, s)
	}
	return c.One(std.Add, nil, v, s)
}

// matrices refuses operands that are none: operators take batches of them, too.
func matrices(c *rule.Call, operands ...int) {
	for _, i := range operands {
		if c.Rank(i) != 2 {
			panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" is "+c.Type(i).String()+", expected a matrix"))
		}
	}
}

// fits refuses an operand that does not broadcast to a type: a sum broadcasts both ways.
func fits(c *rule.Call, i int, to shape.Type) {
	t := c.Type(i)
	bad := c.Rank(i) > to.Rank()
	for k := 1; !bad && k <= t.Rank(); k++ {
		d := t.Dim(-k)
		bad = !d.Is(1) && shape.Equality(d, to.Dim(-k)).Truth() == shape.False
	}
	if bad {
		panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" is "+t.String()+", which does not broadcast to "+to.String()))
	}
}

func column(transposed bool) int {
	if transposed {
		return 0
	}
	return 1
}

// Factor is a number of the element type's kind.
func Factor(f float64, d array.DType) op.Scalar {
	if d.IsInt() {
		if f != math.Trunc(f) {
			panic(diag.New(spec.CodeAttribute, "a factor of "+strconv.FormatFloat(f, 'g', -1, 64)+" on integers is not supported"))
		}
		return op.Int(int64(f))
	}
	return op.Float(f)
}

// byRank picks the operator for a number of spatial dimensions.
func byRank(c *rule.Call, n int, ops ...*op.Op) *op.Op {
	if n < 1 || n > len(ops) {
		panic(diag.New(spec.CodeOperator, c.Node.Op+" over "+strconv.Itoa(n)+" spatial dimensions is not supported"))
	}
	return ops[n-1]
}

// spatial are the sizes of a weight's spatial dimensions, which must be known.
func spatial(c *rule.Call, i int) []int {
	if c.Rank(i) < 3 {
		panic(diag.New(spec.CodeModel, "the weight is "+c.Type(i).String()+", expected spatial dimensions"))
	}
	k, ok := c.Type(i).Dims().Sub(2, c.Rank(i)).Known()
	if !ok {
		panic(diag.New(spec.CodeValue, "the weight is "+c.Type(i).String()+", whose sizes are not known"))
	}
	if given := c.List("kernel_shape"); given != nil && !shape.ConstDims(given...).Equal(shape.ConstDims(k...)) {
		panic(diag.New(spec.CodeModel, "kernel_shape does not agree with the weight "+c.Type(i).String()))
	}
	return k
}

// Conv is the rule of Conv: a convolution over any number of spatial dimensions.
func Conv(c *rule.Call) []op.Value {
	k := spatial(c, 1)
	needSpatial(c, "the weight", len(k))
	w := WindowOf(c, k)
	x := padded(c, c.X(0), &w, false, 0)
	a := std.ConvAttrs{Stride: op.IntList(w.Strides...), Padding: w.Padding(), Dilation: op.IntList(w.Dilations...), Groups: c.Group()}
	return c.One(byRank(c, len(k), std.Conv1d, std.Conv2d, std.Conv3d), a, x, c.X(1), c.Opt(2))
}

// convTranspose's padding crops the result; the difference of its two ends, and amounts that
// follow from sizes, are cropped after the operator.
func convTranspose(c *rule.Call) []op.Value {
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
		if extra[i] >= max(w.Strides[i], w.Dilations[i]) {
			panic(diag.New(spec.CodeAttribute, "an output_padding of "+strconv.Itoa(extra[i])+" is not less than stride or dilation"))
		}
		at, shared := 2*(n-1-i), shape.Const(common[i])
		crop = crop.With(at, shared.Sub(w.begin[i])).With(at+1, shared.Sub(w.end[i]))
		some = some || !crop.At(at).Is(0) || !crop.At(at+1).Is(0)
	}
	a := std.ConvTransposeAttrs{Stride: op.IntList(w.Strides...), Padding: op.IntList(common...), OutputPadding: op.IntList(extra...),
		Dilation: op.IntList(w.Dilations...), Groups: c.Group()}
	o := byRank(c, n, std.ConvTranspose1d, std.ConvTranspose2d, std.ConvTranspose3d)
	if !some {
		return c.One(o, a, c.X(0), c.X(1), c.Opt(2))
	}
	// Zeros that are appended must have the bias as well.
	v := c.Do(o, a, c.X(0), c.X(1), nil)
	v = c.Do(std.Pad, std.PadAttrs{Pad: crop}, v)
	if c.Has(2) {
		b := c.X(2)
		for range n {
			b = c.Do(std.Unsqueeze, std.DimAttrs{Dim: -1}, b)
		}
		v = c.Do(std.Add, nil, v, b)
	}
	return []op.Value{v}
}

// cropped is the window of a transposed convolution: its padding, or the result of
// output_shape and auto_pad.
func cropped(c *rule.Call, k, extra []int) window {
	n := len(k)
	sizes := c.List("output_shape")
	if len(sizes) == n+2 { // with the batch and the channels, which say nothing new
		sizes = sizes[2:]
	} else if sizes != nil {
		sizes = perDim(c, "output_shape", n)
	}
	auto := c.OneOf("auto_pad", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
	w := window{kernel: k, Strides: perDim(c, "strides", n), Dilations: perDim(c, "dilations", n), begin: make([]shape.Dim, n), end: make([]shape.Dim, n)}
	if pads := shape.ConstDims(padsOf(c, n)...).Slice(); auto == "NOTSET" && sizes == nil {
		copy(w.begin, pads[:n])
		copy(w.end, pads[n:])
	}
	for i := range n {
		total := shape.Const(w.reach(i) + extra[i] - w.Strides[i])
		switch {
		case sizes != nil:
			total = total.Add(spatialSize(c, i).MulInt(w.Strides[i])).AddInt(-sizes[i])
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
var signalRules = map[string][]rule.Rule{
	"DFT": {
		{Since: 17, Build: func(c *rule.Call) []op.Value { return dft(c, c.Int("axis", 1)) }},
		{Since: 20, Build: func(c *rule.Call) []op.Value {
			axis := -2
			if c.Has(2) {
				axis = int(c.Number(2).Int64())
			}
			return dft(c, axis)
		}},
	},
	"STFT":            rule.From(17, stft),
	"MelWeightMatrix": rule.From(17, melWeights),
}

// melWeights are triangles over the bins of a spectrum, spaced as pitch is heard.
func melWeights(c *rule.Call) []op.Value {
	count, length, rate := int(c.Number(0).Int64()), int(c.Number(1).Int64()), int(c.Number(2).Int64())
	low, high := c.Number(3).Float64(), c.Number(4).Float64()
	bins := length/2 + 1
	if count < 1 || length < 1 || rate < 1 || length > mostBasis || count > mostBasis || bins > mostBasis/count || !(low >= 0 && high >= low && high <= 1e9) {
		panic(diag.New(spec.CodeModel, "MelWeightMatrix: the numbers are out of range"))
	}
	mel := func(f float64) float64 { return 2595 * math.Log10(1+f/700) }
	at := make([]int, count+2)
	for i := range at {
		f := 700 * (math.Pow(10, (mel(low)+float64(i)*(mel(high)-mel(low))/float64(len(at)))/2595) - 1)
		if at[i] = int(math.Floor(float64(length+1) * f / float64(rate))); at[i] >= bins {
			panic(diag.New(spec.CodeModel, "MelWeightMatrix: a band ends above half of the sample rate"))
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
	return c.One(std.Cast, std.CastAttrs{DType: c.DType("output_datatype", array.F32)}, c.Tensor(a))
}
