package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// QConcat joins quantised values.
//
//gofx:torch q_concat(y_scale, y_zero, tensors, dim)
var QConcat = op.Define("q_concat", op.Spec[DimAttrs]{
	Doc: "q_concat is quantize(cat(dequantize(tensors))) of tensors u8 or i8 of one type: each is followed by its scale and its zero point, and quantised as the result is.",
	In:  op.Args("y_scale", "y_zero", "tensors..."), Quant: op.QuantNever,
	Infer: inferQConcat,
	Kernel: func(a DimAttrs, in []shape.Type) kernel.Step {
		axis, _ := realAxis(a.Dim, in[2].Rank())
		return &kernel.QConcat{Dim: axis}
	},
	Reference: func(b op.Builder, a DimAttrs, in []op.Value) op.Value {
		var parts []op.Value
		for i := 2; i < len(in); i += 3 {
			parts = append(parts, quantAt(in, i).real(b, 0))
		}
		return quantised8(b, b.Call(Cat, a, parts...), array.Invalid, quantParam{in[0], in[1]}, in[2])
	},
	Samples: qConcatSamples, Bad: qConcatBad,
})

func inferQConcat(c *op.Infer, a DimAttrs, in []shape.Type) (shape.Type, error) {
	if len(in) < 5 || len(in)%3 != 2 {
		return shape.Type{}, diag.New(op.OperandCount, strconv.Itoa(len(in)-2)+" tensors, expected one or more, each with its scale and its zero point")
	}
	one := shape.Const(1)
	if err := quantScale(c, "y", in[0], in[1], one, ""); err != nil {
		return shape.Type{}, err
	}
	names, types, parts := []string{"y_zero"}, []shape.Type{in[1]}, []shape.Type(nil)
	for i := 2; i < len(in); i += 3 {
		name := "tensor " + strconv.Itoa(i/3)
		if err := quantOperand(c, name, in, i, one, ""); err != nil {
			return shape.Type{}, err
		}
		for k, t := range parts {
			if t.Ranked() && in[i].Ranked() && t.Rank() != in[i].Rank() {
				return shape.Type{}, rankError(len(parts), in[i], k, t.Dims())
			}
		}
		names, types, parts = append(names, name), append(types, in[i]), append(parts, in[i])
	}
	d, err := sameNumber(names, types)
	if err != nil {
		return shape.Type{}, err
	}
	for i := range parts {
		parts[i] = parts[i].WithDType(d)
	}
	return catRule(c, a, parts)
}

// QTable applies any function of one byte.
//
//gofx:torch q_table(x, table)
var QTable = op.Define("q_table", op.Spec[op.None]{
	Doc: "q_table replaces each element of x u8 or i8 by the entry of table, 256 elements u8 or i8, that its bits name as an unsigned number: any function of one quantised value.",
	In:  op.Args("x", "table"), Quant: op.QuantNever,
	Infer: func(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		if err := wantType("x", in[0], array.U8, array.I8); err != nil {
			return shape.Type{}, err
		}
		return typeOf(in[1].DType(), in[0].Ranked(), in[0].Dims().Slice()...), tableOperand(c, in[1], array.Invalid)
	},
	Kernel:    func(op.None, []shape.Type) kernel.Step { return &kernel.QTable{} },
	Reference: func(b op.Builder, _ op.None, in []op.Value) op.Value { return looked(b, in[0], in[1]) },
	Samples:   qTableSamples, Bad: qTableBad,
})

// QEmbedding takes rows of a quantised weight.
//
//gofx:torch q_embedding(x, weight, scale, zero)
var QEmbedding = op.Define("q_embedding", op.Spec[op.None]{
	Doc: "q_embedding is embedding(x, dequantize(weight)) as f32 for a weight u8 or i8 [V,E] with one scale and zero or one for each row; the rows that are taken are dequantised.",
	In:  op.Args("x", "weight", "scale", "zero?"), Quant: op.QuantNever,
	Infer: func(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		x, w, zero := in[0], in[1], operandAt(in, 3)
		if err := wantIndices("x", x); err != nil {
			return shape.Type{}, err
		}
		if err := wantRank("weight", w, 2, 2); err != nil {
			return shape.Type{}, err
		}
		if err := wantType("weight", w, array.U8, array.I8); err != nil {
			return shape.Type{}, err
		}
		if err := wantType("scale", in[2], array.F32); err != nil {
			return shape.Type{}, err
		}
		if _, err := sameNumber([]string{"weight", "zero"}, []shape.Type{w, zero}); err != nil {
			return shape.Type{}, err
		}
		for i, name := range []string{"scale", "zero"} {
			if err := oneOrEach(c, name, operandAt(in, 2+i), w.Dim(0), " as weight has rows"); err != nil {
				return shape.Type{}, err
			}
		}
		return typeOf(array.F32, x.Ranked(), append(x.Dims().Slice(), w.Dim(1))...), nil
	},
	Kernel: func(op.None, []shape.Type) kernel.Step { return &kernel.QEmbedding{} },
	Reference: func(b op.Builder, _ op.None, in []op.Value) op.Value {
		return b.Call(Embedding, nil, in[0], quantAt(in, 1).real(b, 0))
	},
	Samples: qEmbeddingSamples, Bad: qEmbeddingBad,
})
