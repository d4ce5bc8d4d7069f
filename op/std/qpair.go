package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// QPairAttrs are the attributes of q_add and q_mul. ReLU limits results to real values
// from 0.
type QPairAttrs struct {
	ReLU bool `fx:"relu"`
}

// QAdd adds quantised values.
//
//gofx:torch q_pair(False, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, relu)
var QAdd = qPair("q_add", Add, func(a QPairAttrs) kernel.Step { return &kernel.QAdd{ReLU: a.ReLU} })

// QMul multiplies quantised values.
//
//gofx:torch q_pair(True, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, relu)
var QMul = qPair("q_mul", Mul, func(a QPairAttrs) kernel.Step { return &kernel.QMul{ReLU: a.ReLU} })

func qPair(name string, float *op.Op, step func(a QPairAttrs) kernel.Step) *op.Op {
	return op.Define(name, op.Spec[QPairAttrs]{
		Doc: name + " is quantize(" + float.Name + "(dequantize(a), dequantize(b))) for two tensors u8 or i8 of one type, which broadcast.",
		In:  op.Args("a", "a_scale?", "a_zero?", "b", "b_scale?", "b_zero?", "y_scale?", "y_zero?"), Quant: op.QuantNever,
		Infer: func(c *op.Infer, _ QPairAttrs, in []shape.Type) (shape.Type, error) {
			one := shape.Const(1)
			for i, name := range []string{"a", "b"} {
				if err := quantOperand(c, name, in, 3*i, one, ""); err != nil {
					return shape.Type{}, err
				}
			}
			a, b := in[0], in[3]
			d, err := sameNumber([]string{"a", "b", "y_zero"}, []shape.Type{a, b, operandAt(in, 7)})
			if err != nil {
				return shape.Type{}, err
			}
			if err := quantScale(c, "y", operandAt(in, 6), operandAt(in, 7), one, ""); err != nil {
				return shape.Type{}, err
			}
			if !a.Ranked() || !b.Ranked() {
				return shape.Unranked(d), nil
			}
			dims, err := c.Broadcast(a.Dims(), b.Dims())
			return shape.TensorType(d, dims), err
		},
		Kernel: func(a QPairAttrs, _ []shape.Type) kernel.Step { return step(a) },
		Reference: func(b op.Builder, a QPairAttrs, in []op.Value) op.Value {
			y := b.Call(float, nil, quantAt(in, 0).real(b, 0), quantAt(in, 3).real(b, 0))
			if a.ReLU {
				y = b.Call(Relu, nil, y)
			}
			return quantised8(b, y, array.Invalid, quantParam{valueAt(in, 6), valueAt(in, 7)}, in[0])
		},
		Flops:   func(_ QPairAttrs, _ []shape.Type, out shape.Type) shape.Dim { return elementCount(out) },
		Samples: qPairSamples, Bad: qPairBad,
	})
}
