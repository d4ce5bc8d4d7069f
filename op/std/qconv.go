package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// QConvAttrs are the attributes of q_conv1d to 3d: those of ConvAttrs and of
// QLinearAttrs.
type QConvAttrs struct {
	Stride, Padding, Dilation op.Ints
	Groups                    int
	PadMode                   string      `fx:",enum=valid|same"`
	DType                     array.DType `fx:"dtype"`
	ReLU                      bool        `fx:"relu"`
	Max                       float64
}

// The convolutions of quantised values; x is [N,C,spatial...].
var (
	//gofx:torch q_conv(1, x, x_scale, x_zero, weight, weight_scale, weight_zero, y_scale, y_zero, bias, table, (residual, residual_scale, residual_zero), dtype, relu, max, stride, padding, dilation, groups, pad_mode)
	QConv1d = qConvNd("q_conv1d", 1)
	//gofx:torch q_conv(2, x, x_scale, x_zero, weight, weight_scale, weight_zero, y_scale, y_zero, bias, table, (residual, residual_scale, residual_zero), dtype, relu, max, stride, padding, dilation, groups, pad_mode)
	QConv2d = qConvNd("q_conv2d", 2)
	//gofx:torch q_conv(3, x, x_scale, x_zero, weight, weight_scale, weight_zero, y_scale, y_zero, bias, table, (residual, residual_scale, residual_zero), dtype, relu, max, stride, padding, dilation, groups, pad_mode)
	QConv3d = qConvNd("q_conv3d", 3)
)

// float is the convolution that the operator stands for.
func (a QConvAttrs) float() ConvAttrs {
	return ConvAttrs{Stride: a.Stride, Padding: a.Padding, Dilation: a.Dilation, Groups: a.Groups, PadMode: a.PadMode}
}

// out is what becomes of sums.
func (a QConvAttrs) out() QLinearAttrs { return QLinearAttrs{DType: a.DType, ReLU: a.ReLU, Max: a.Max} }

func qConvNd(name string, n int) *op.Op {
	float := [...]*op.Op{Conv1d, Conv2d, Conv3d}[n-1]
	return op.Define(name, op.Spec[QConvAttrs]{
		Differs: []op.Difference[QConvAttrs]{extendsEmpty[QConvAttrs]()},
		Doc: name + " is quantize(" + float.Name + "(dequantize(x), dequantize(weight), dequantize(bias))) as q_linear computes it, " +
			"with one weight_scale and weight_zero or one for each filter; padding is the zero point of x.",
		In: qProductArgs("weight"), Class: op.Contraction, Quant: op.QuantNever,
		Infer: func(c *op.Infer, a QConvAttrs, in []shape.Type) (shape.Type, error) {
			d, err := a.out().check(c, "weight", in, in[qWeight].Dim(0), " as weight has filters")
			if err != nil {
				return shape.Type{}, err
			}
			if err := wantRank("x", in[qX], n+2, n+2); err != nil {
				return shape.Type{}, hinted(err, "unsqueeze a single image")
			}
			t, err := inferConv(c, n, a.float(), asFloats(in[qX], in[qWeight], operandAt(in, qBias)))
			if err != nil {
				return t, err
			}
			return t.WithDType(d), residual(c, in, t)
		},
		Kernel: func(a QConvAttrs, in []shape.Type) kernel.Step {
			s := &kernel.QConv{Stride: mustList(a.Stride, n, 1), Dilation: mustList(a.Dilation, n, 1), Groups: max(a.Groups, 1), ReLU: a.ReLU, Max: float32(a.Max)}
			if a.PadMode == "same" {
				var sizes []op.FieldSize
				s.PadLo, s.PadHi, sizes = samePadding(s.Dilation, in[qWeight])
				return op.WithSizes(s, sizes...)
			}
			s.PadLo = mustList(a.Padding, n, 0)
			s.PadHi = s.PadLo
			return s
		},
		Reference: func(b op.Builder, a QConvAttrs, in []op.Value) op.Value {
			return a.out().reference(b, in, 0, func(x, w, bias op.Value) op.Value { return b.Call(float, a.float(), x, w, bias) })
		},
		Flops: func(_ QConvAttrs, in []shape.Type, out shape.Type) shape.Dim {
			if in[qWeight].Rank() != n+2 {
				return shape.Unknown
			}
			return twiceProduct(elementCount(out), in[qWeight].Dims().Slice()[1:]...)
		},
		Samples: func(g *op.Gen) []op.Sample { return qConvSamples(g, n) },
		Bad:     func(g *op.Gen) []op.BadSample { return qConvBad(g, n) },
	})
}
