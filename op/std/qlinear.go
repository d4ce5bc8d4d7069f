package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// QLinearAttrs are the attributes of q_linear and q_matmul. DType is that of the
// result: u8 and i8 are scaled, f32 is scaled and not rounded, i32 is the sums
// themselves; without one it is that of y_zero, else that of x. ReLU and a Max that
// is not 0 limit 8-bit results to real values from 0 and up to Max.
type QLinearAttrs struct {
	DType array.DType `fx:"dtype"`
	ReLU  bool        `fx:"relu"`
	Max   float64
}

// Operands of the products of quantised values, as ONNX's QLinearConv has them.
const (
	qX = 3 * iota
	qWeight
	qY        // the result's scale, and its zero point
	qBias     = 8
	qTable    = 9
	qResidual = 10
)

// qProductArgs are the operands of a product; a value is followed by its scale and
// its zero point.
func qProductArgs(weight string) []op.Operand {
	return op.Args("x", "x_scale?", "x_zero?", weight, weight+"_scale?", weight+"_zero?", "y_scale?", "y_zero?", "bias?", "table?",
		"residual?", "residual_scale?", "residual_zero?")
}

// QLinear is a linear layer on quantised values.
//
//gofx:torch q_linear(x, x_scale, x_zero, weight, weight_scale, weight_zero, y_scale, y_zero, bias, table, (residual, residual_scale, residual_zero), dtype, relu, max)
var QLinear = op.Define("q_linear", op.Spec[QLinearAttrs]{
	Doc: "q_linear is quantize(linear(dequantize(x), dequantize(weight), dequantize(bias))) for u8 or i8 and an i32 bias in units of x_scale·weight_scale, whose sums are exact and rescaled once; a residual is dequantised and added before relu and max; " +
		"weight_scale and weight_zero are one element or one for each row, a table of 256 bytes is applied last.",
	In: qProductArgs("weight"), Class: op.Contraction, Quant: op.QuantNever,
	Infer: func(c *op.Infer, a QLinearAttrs, in []shape.Type) (shape.Type, error) {
		d, err := a.check(c, "weight", in, in[qWeight].Dim(0), " as weight has rows")
		if err != nil {
			return shape.Type{}, err
		}
		t, err := inferLinear(c, op.None{}, asFloats(in[qX], in[qWeight], operandAt(in, qBias)))
		if err != nil {
			return t, err
		}
		return t.WithDType(d), residual(c, in, t)
	},
	Kernel: func(a QLinearAttrs, _ []shape.Type) kernel.Step {
		return &kernel.QLinear{ReLU: a.ReLU, Max: float32(a.Max)}
	},
	Reference: func(b op.Builder, a QLinearAttrs, in []op.Value) op.Value {
		return a.reference(b, in, 0, func(x, w, bias op.Value) op.Value { return b.Call(Linear, nil, x, w, bias) })
	},
	Flops: func(_ QLinearAttrs, in []shape.Type, out shape.Type) shape.Dim {
		return twiceProduct(elementCount(out), in[qWeight].Dim(1))
	},
	Samples: qLinearSamples, Bad: qLinearBad,
})

// QMatmul multiplies quantised matrices.
//
//gofx:torch q_matmul(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias, table, (residual, residual_scale, residual_zero), dtype, relu, max)
var QMatmul = op.Define("q_matmul", op.Spec[QLinearAttrs]{
	Doc: "q_matmul is quantize(dequantize(x) @ dequantize(w)) of matrices u8 or i8 as q_linear computes it; leading dimensions broadcast, w_scale and w_zero are one element or one for each column.",
	In:  qProductArgs("w"), Class: op.Contraction, Quant: op.QuantNever,
	Infer: func(c *op.Infer, a QLinearAttrs, in []shape.Type) (shape.Type, error) {
		for i, name := range []string{"x", "w"} {
			if err := wantRank(name, in[i*qWeight], 2, anyRank); err != nil {
				return shape.Type{}, err
			}
		}
		d, err := a.check(c, "w", in, in[qWeight].Dim(-1), " as w has columns")
		if err != nil {
			return shape.Type{}, err
		}
		t, err := inferMatMul(c, asFloats(in[qX], in[qWeight]))
		if err != nil {
			return t, err
		}
		if err := wantVector(c, "bias", operandAt(in, qBias), in[qWeight].Dim(-1), "w"); err != nil {
			return t, err
		}
		return t.WithDType(d), residual(c, in, t)
	},
	Kernel: func(a QLinearAttrs, _ []shape.Type) kernel.Step {
		return &kernel.QMatMul{ReLU: a.ReLU, Max: float32(a.Max)}
	},
	Reference: func(b op.Builder, a QLinearAttrs, in []op.Value) op.Value {
		return a.reference(b, in, -1, func(x, w, bias op.Value) op.Value {
			y := b.Call(Matmul, nil, x, w)
			if bias != nil {
				y = b.Call(Add, nil, y, bias)
			}
			return y
		})
	},
	Flops: func(_ QLinearAttrs, in []shape.Type, out shape.Type) shape.Dim {
		return twiceProduct(elementCount(out), in[qX].Dim(-1))
	},
	Samples: qMatmulSamples, Bad: qMatmulBad,
})

// asFloats are types with f32 elements, for the rules of operators on floats.
func asFloats(in ...shape.Type) []shape.Type {
	for i, t := range in {
		if t.Kind() == shape.Tensor {
			in[i] = t.WithDType(array.F32)
		}
	}
	return in
}

// quantOperand checks an 8-bit operand, in[at], with its scale and zero point, one
// element or n each.
func quantOperand(c *op.Infer, name string, in []shape.Type, at int, n shape.Dim, of string) error {
	t, zero := in[at], operandAt(in, at+2)
	if err := wantType(name, t, array.U8, array.I8); err != nil {
		return err
	}
	if _, err := sameNumber([]string{name, name + "_zero"}, []shape.Type{t, zero}); err != nil {
		return err
	}
	return quantScale(c, name, operandAt(in, at+1), zero, n, of)
}

// quantScale checks a scale and a zero point of one element or n each.
func quantScale(c *op.Infer, name string, scale, zero shape.Type, n shape.Dim, of string) error {
	if err := wantType(name+"_scale", scale, array.F32); err != nil {
		return err
	}
	if err := oneOrEach(c, name+"_scale", scale, n, of); err != nil {
		return err
	}
	return oneOrEach(c, name+"_zero", zero, n, of)
}

// check checks everything of a product but sizes and returns the result's type; the
// weight has n channels.
func (a QLinearAttrs) check(c *op.Infer, weight string, in []shape.Type, n shape.Dim, of string) (array.DType, error) {
	one := shape.Const(1)
	if err := quantOperand(c, "x", in, qX, one, ""); err != nil {
		return 0, err
	}
	if err := quantOperand(c, weight, in, qWeight, n, of); err != nil {
		return 0, err
	}
	d, err := a.result(in)
	if err != nil {
		return d, err
	}
	if err := quantScale(c, "y", operandAt(in, qY), operandAt(in, qY+1), one, ""); err != nil {
		return d, err
	}
	biases := []array.DType{array.I32}
	if d == array.F32 || d == array.Invalid {
		biases = append(biases, array.F32)
	}
	if err := wantType("bias", operandAt(in, qBias), biases...); err != nil {
		return d, err
	}
	return d, tableOperand(c, operandAt(in, qTable), d)
}

// result is the element type of the result.
func (a QLinearAttrs) result(in []shape.Type) (array.DType, error) {
	if !(a.Max >= 0) {
		return 0, badAttr("max", strconv.FormatFloat(a.Max, 'g', -1, 64), "0 or more")
	}
	if a.DType != array.F32 && a.DType != array.I32 {
		if a.DType != array.Invalid && a.DType != array.U8 && a.DType != array.I8 {
			return 0, badAttr("dtype", a.DType.String(), "u8, i8, f32 or i32")
		}
		return quantType(a.DType, operandAt(in, qY+1), in[qX].DType(), array.U8, array.I8)
	}
	if a.ReLU || a.Max > 0 {
		return 0, badAttr("dtype", a.DType.String(), "u8 or i8 with relu or max")
	}
	for i, name := range []string{"y_scale", "y_zero", "bias", "table", "residual"} {
		if name != "bias" && operandAt(in, qY+i).Kind() == shape.Tensor {
			return 0, diag.New(op.OperandCount, name+" is given, expected none with dtype "+a.DType.String())
		}
	}
	return a.DType, nil
}

// residual requires an absent operand or one of the sizes of the result.
func residual(c *op.Infer, in []shape.Type, result shape.Type) error {
	r := operandAt(in, qResidual)
	if r.Kind() != shape.Tensor {
		return nil
	}
	if err := quantOperand(c, "residual", in, qResidual, shape.Const(1), ""); err != nil {
		return err
	}
	if !r.Ranked() || !result.Ranked() {
		return nil
	}
	return sameDims(c, "residual", r, "the result", result)
}

// tableOperand requires an absent operand or 256 elements of type d.
func tableOperand(c *op.Infer, t shape.Type, d array.DType) error {
	want := []array.DType{array.U8, array.I8}
	if d != array.Invalid {
		want = []array.DType{d}
	}
	if err := wantType("table", t, want...); err != nil {
		return err
	}
	return wantVector(c, "table", t, shape.Const(256), "a byte")
}

// reference is what a product stands for: channel is the axis of the weight's scales.
func (a QLinearAttrs) reference(b op.Builder, in []op.Value, channel int, product func(x, w, bias op.Value) op.Value) op.Value {
	x, w, bias := quantAt(in, qX), quantAt(in, qWeight), valueAt(in, qBias)
	if a.DType == array.I32 {
		if bias != nil {
			bias = b.Call(Cast, CastAttrs{DType: array.F64}, bias)
		}
		return b.Call(Cast, CastAttrs{DType: array.I32}, product(x.whole(b, 0), w.whole(b, channel), bias))
	}
	if bias != nil && bias.Type().DType() == array.I32 {
		bias = quantValue{q: bias, scale: b.Call(Mul, nil, x.unit(b), w.unit(b))}.real(b, 0)
	}
	y := product(x.real(b, 0), w.real(b, channel), bias)
	if a.DType == array.F32 {
		return y
	}
	if valueAt(in, qResidual) != nil {
		y = b.Call(Add, nil, y, quantAt(in, qResidual).real(b, 0))
	}
	if a.ReLU {
		y = b.Call(Relu, nil, y)
	}
	if a.Max > 0 {
		y = b.Call(Clamp, ClampAttrs{Max: op.Float(a.Max)}, y)
	}
	y = quantised8(b, y, a.DType, quantParam{valueAt(in, qY), valueAt(in, qY+1)}, in[qX])
	if t := valueAt(in, qTable); t != nil {
		y = looked(b, y, t)
	}
	return y
}
