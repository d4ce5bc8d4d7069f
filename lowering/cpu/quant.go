package cpu

import (
	"context"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/tune"
)

// QuantCost measures what the nodes of a graph take on this processor: the median of
// some runs of its plan on inputs. A step that computes several nodes counts for each of
// them in equal parts.
func QuantCost(in []*array.Array, runs int, o lowering.Options) tune.Cost {
	return func(ctx context.Context, m *graph.Module) (map[string]float64, error) {
		e, err := Compile(m, o)
		if err != nil {
			return nil, err
		}
		defer e.Close()
		steps, err := e.Profile(ctx, in, runs)
		if err != nil {
			return nil, err
		}
		took := map[string]float64{}
		for _, s := range steps {
			for _, n := range s.Step.Nodes {
				took[n] += s.Time.Seconds() / float64(len(s.Step.Nodes))
			}
		}
		return took, nil
	}
}

// QuantBackend says what this target does with quantised values: products and
// convolutions on bytes, with weights of i8 or u8 for each channel, a residual and an
// activation; recurrent networks whose weights are i8 and whose states are quantised in
// each step; transposed convolutions; between them sums, products, pools and, by a table of
// 256 entries, functions of one value; and linear layers, products and embeddings in floats
// whose weight alone has 8 bits, or 4.
func QuantBackend() *quant.Backend {
	bytes := []array.DType{array.U8, array.I8}
	weight := func(operand, axis int, bits ...int) quant.Weight {
		return quant.Weight{Operand: operand, Axis: axis, DTypes: []array.DType{array.I8, array.U8}, Bits: bits,
			Granularities: []quant.Granularity{quant.PerChannel, quant.PerTensor}, Affine: true, GroupOf: 32}
	}
	recurrent := func(first int) quant.Weight {
		return quant.Weight{Operand: first, Rest: true, DTypes: []array.DType{array.I8}, Granularities: []quant.Granularity{quant.PerChannel, quant.PerTensor}}
	}
	sums := [][]*op.Op{{std.Add}, {std.Relu, std.Relu6}}
	b := &quant.Backend{Name: name, Operators: []quant.Operator{
		{Op: std.Linear, Modes: []quant.Mode{quant.Static, quant.Dynamic, quant.WeightOnly}, Activations: bytes, Weight: weight(1, 0, 8, 4), Fused: sums, FloatResult: true},
		{Op: std.Matmul, Modes: []quant.Mode{quant.Static, quant.Dynamic, quant.WeightOnly}, Activations: bytes, Weight: weight(1, -1, 8, 4), Fused: sums, FloatResult: true},
		{Op: std.Embedding, Modes: []quant.Mode{quant.WeightOnly}, Weight: weight(1, 0, 8, 4)},
		{Op: std.Lstm, Modes: []quant.Mode{quant.Dynamic, quant.WeightOnly}, Weight: recurrent(3)},
		{Op: std.Gru, Modes: []quant.Mode{quant.Dynamic, quant.WeightOnly}, Weight: recurrent(2)},
		{Op: std.ScaledDotProductAttention, Modes: []quant.Mode{quant.Dynamic}, Activations: bytes, FloatResult: true,
			Faster: name + " keeps scores in a cache, which products of bytes would write and search twice"},
	}}
	for _, o := range []*op.Op{std.Conv1d, std.Conv2d, std.Conv3d} {
		b.Operators = append(b.Operators, quant.Operator{Op: o, Modes: []quant.Mode{quant.Static, quant.WeightOnly}, Activations: bytes, Weight: weight(1, 0), Fused: sums, FloatResult: true})
	}
	b.Operators = append(b.Operators, quant.Operator{Op: std.ConvTranspose2d, Modes: []quant.Mode{quant.Static, quant.WeightOnly}, Activations: bytes, Weight: weight(1, 1),
		Fused: [][]*op.Op{{std.Relu, std.Relu6}}, FloatResult: true})
	between := func(fused [][]*op.Op, sharing quant.Sharing, list ...*op.Op) {
		for _, o := range list {
			b.Operators = append(b.Operators, quant.Operator{Op: o, Modes: []quant.Mode{quant.Static}, Activations: bytes, Fused: fused, Follows: true, Sharing: sharing})
		}
	}
	between([][]*op.Op{{std.Relu}}, quant.Own, std.Add, std.Mul)
	between(nil, quant.Equal, std.MaxPool1d, std.MaxPool2d, std.MaxPool3d, std.Dropout)
	between(nil, quant.AsDeclared, std.AvgPool1d, std.AvgPool2d, std.AvgPool3d, std.AdaptiveAvgPool1d, std.AdaptiveAvgPool2d, std.AdaptiveAvgPool3d, std.Mean)
	between(nil, quant.Own, std.Relu, std.Relu6, std.Hardtanh, std.Clamp, std.LeakyRelu, std.Elu, std.Selu, std.Silu, std.Gelu, std.Mish, std.Softplus,
		std.Hardswish, std.Hardsigmoid, std.Sigmoid, std.Tanh)
	return b
}
