package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// QAvgPoolAttrs are the attributes of q_avg_pool. KernelSize has one entry for each
// spatial dimension, one to three; the rest is as in AvgPoolAttrs.
type QAvgPoolAttrs struct {
	KernelSize      op.Ints `fx:",arg,each"`
	Stride, Padding op.Ints
	CeilMode        bool
	CountExcludePad bool
}

// QMaxPool takes maxima of quantised values.
//
//gofx:torch q_max_pool(x, kernel_size, stride, padding, dilation, ceil_mode)
var QMaxPool = op.Define("q_max_pool", op.Spec[MaxPoolAttrs]{
	Doc: "q_max_pool takes the maximum of every window of x u8 or i8 [N,C,...] over as many spatial dimensions as kernel_size has entries; the result is quantised as x is.",
	In:  op.Args("x"), Class: op.Reduction, Quant: op.QuantNever,
	Differs: []op.Difference[MaxPoolAttrs]{extendsEmpty[MaxPoolAttrs](),
		{Kind: op.Refuses, Text: "an x smaller than the kernel, of which PyTorch's max_pool1d makes no windows", When: func(a MaxPoolAttrs, _ []*array.Array) bool { return a.KernelSize.Len() == 1 }}},
	Infer: func(c *op.Infer, a MaxPoolAttrs, in []shape.Type) (shape.Type, error) {
		if err := wantType("x", in[0], array.U8, array.I8); err != nil {
			return shape.Type{}, err
		}
		return qPooled(c, poolAttrs{a.KernelSize, a.Stride, a.Padding, a.Dilation, a.CeilMode}, in[0])
	},
	Kernel: func(a MaxPoolAttrs, _ []shape.Type) kernel.Step {
		n := a.KernelSize.Len()
		pad := mustList(a.Padding, n, 0)
		return &kernel.QMaxPool{Kernel: mustList(a.KernelSize, n, 1), Stride: strideList(a.Stride, a.KernelSize, n),
			PadLo: pad, PadHi: pad, Dilation: mustList(a.Dilation, n, 1)}
	},
	Reference: func(b op.Builder, a MaxPoolAttrs, in []op.Value) op.Value {
		return b.Call([...]*op.Op{MaxPool1d, MaxPool2d, MaxPool3d}[a.KernelSize.Len()-1], a, in[0])
	},
	Samples: qMaxPoolSamples, Bad: qMaxPoolBad,
})

// QAvgPool takes means of quantised values.
//
//gofx:torch q_avg_pool(x, x_scale, x_zero, y_scale, y_zero, kernel_size, stride, padding, ceil_mode, count_exclude_pad)
var QAvgPool = op.Define("q_avg_pool", op.Spec[QAvgPoolAttrs]{
	Doc: "q_avg_pool is quantize(avg_pool(dequantize(x))) of x u8 or i8 [N,C,...] over as many spatial dimensions as kernel_size has entries, from exact sums rescaled once; " +
		"without y_scale the result is quantised as x is.",
	In: op.Args("x", "x_scale?", "x_zero?", "y_scale?", "y_zero?"), Class: op.Reduction, Quant: op.QuantNever,
	Differs: []op.Difference[QAvgPoolAttrs]{extendsEmpty[QAvgPoolAttrs]()},
	Infer: func(c *op.Infer, a QAvgPoolAttrs, in []shape.Type) (shape.Type, error) {
		one := shape.Const(1)
		if err := quantOperand(c, "x", in, 0, one, ""); err != nil {
			return shape.Type{}, err
		}
		scale, zero := operandAt(in, 3), operandAt(in, 4)
		if _, err := sameNumber([]string{"x", "y_zero"}, []shape.Type{in[0], zero}); err != nil {
			return shape.Type{}, err
		}
		if err := quantScale(c, "y", scale, zero, one, ""); err != nil {
			return shape.Type{}, err
		}
		if zero.Kind() == shape.Tensor && scale.Kind() != shape.Tensor {
			return shape.Type{}, diag.New(op.OperandCount, "y_zero is given, expected y_scale with it")
		}
		return qPooled(c, poolAttrs{a.KernelSize, a.Stride, a.Padding, op.Ints{}, a.CeilMode}, in[0])
	},
	Kernel: func(a QAvgPoolAttrs, _ []shape.Type) kernel.Step {
		n := a.KernelSize.Len()
		pad := mustList(a.Padding, n, 0)
		return &kernel.QAvgPool{Kernel: mustList(a.KernelSize, n, 1), Stride: strideList(a.Stride, a.KernelSize, n),
			PadLo: pad, PadHi: pad, CountIncludePad: !a.CountExcludePad}
	},
	Reference: func(b op.Builder, a QAvgPoolAttrs, in []op.Value) op.Value {
		float := AvgPoolAttrs{KernelSize: a.KernelSize, Stride: a.Stride, Padding: a.Padding, CeilMode: a.CeilMode, CountExcludePad: a.CountExcludePad}
		x := quantAt(in, 0)
		y := b.Call([...]*op.Op{AvgPool1d, AvgPool2d, AvgPool3d}[a.KernelSize.Len()-1], float, x.real(b, 0))
		to := quantParam{valueAt(in, 3), valueAt(in, 4)}
		if to.scale == nil {
			to = quantParam{x.scale, x.zero}
		}
		return quantised8(b, y, array.Invalid, to, in[0])
	},
	Samples: qAvgPoolSamples, Bad: qAvgPoolBad,
})

// qPooled is the type rule of pools of quantised values.
func qPooled(c *op.Infer, p poolAttrs, x shape.Type) (shape.Type, error) {
	n := p.kernel.Len()
	if n < 1 || n > 3 {
		return shape.Type{}, badAttr("kernel_size", p.kernel.String(), "1 to 3 elements, one for each spatial dimension, not "+strconv.Itoa(n))
	}
	if err := wantRank("x", x, n+2, n+2); err != nil {
		return shape.Type{}, hinted(err, "kernel_size has one entry for each spatial dimension; unsqueeze a single image")
	}
	return p.infer(c, n, x.DType(), x)
}
