package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
)

// quantised returns the network in a mode as lowering leaves it; it is made once.
func (w *network) quantised(c quant.Config) (*graph.Module, error) {
	key := fmt.Sprint(c.Global)
	if g := w.lowered[key]; g != nil {
		return g, nil
	}
	g, err := w.converted(c, cpu.QuantBackend())
	if err == nil {
		_, err = passes.Run(context.Background(), g, []passes.Pass{integer.Lower}, passes.Options{})
	}
	if err != nil {
		return nil, err
	}
	w.lowered[key] = g
	return g, nil
}

// converted returns the form with quantize and dequantize for a backend.
func (w *network) converted(c quant.Config, b *quant.Backend) (*graph.Module, error) {
	g, err := w.optimised(fx.Optimise())
	if err != nil {
		return nil, err
	}
	g = graph.Clone(g)
	if c.Global.Mode == quant.Static {
		if err := w.calibrate(g, c, b); err != nil {
			return nil, err
		}
	}
	_, err = passes.Run(context.Background(), g, []passes.Pass{quant.Convert(&c, b)}, passes.Options{})
	return g, err
}

// calibrate adds observers, which see the inputs that are measured.
func (w *network) calibrate(g *graph.Module, c quant.Config, b *quant.Backend) error {
	ctx := context.Background()
	if _, err := passes.Run(ctx, g, []passes.Pass{quant.Prepare(&c, b)}, passes.Options{}); err != nil {
		return err
	}
	engine, err := cpu.Compile(g, lowering.Options{Shapes: w.dims})
	if err != nil {
		return err
	}
	batch := func(yield func([]*array.Array, error) bool) { yield(w.arrays(), nil) }
	_, err = quant.Calibrate(ctx, g, batch, quant.CalibrateOptions{Engine: engine})
	return err
}

// quantisedPlan runs the plan of the lowered form.
func (w *network) quantisedPlan(c quant.Config, threads int) (*Ours, error) {
	lowered, err := w.quantised(c)
	if err != nil {
		return nil, err
	}
	return oursPlan(lowered, w.arrays(), lowering.Options{Threads: threads, Shapes: w.dims})
}

// forPeers is the form that the peers are given. Where ranges are known in advance,
// quantize and dequantize stand around operators, as ONNX Runtime wants them, with our
// scales and weights; else products are of integers.
func (w *network) forPeers(c quant.Config) (g *graph.Module, err error) {
	if c.Global.Mode == quant.Static {
		if g, err = w.converted(c, roundedSums()); err == nil {
			err = integerBiases(g)
		}
	} else {
		g, err = w.quantised(c)
	}
	if err != nil {
		return nil, err
	}
	return lowering.Prepare(g, lowering.Options{Shapes: w.dims})
}

// roundedSums is our backend except for residuals, before which ONNX Runtime must
// round: it computes a convolution in float if only its sum with a residual is
// quantised.
func roundedSums() *quant.Backend {
	b := cpu.QuantBackend()
	for i := range b.Operators {
		o := &b.Operators[i]
		o.Fused = slices.DeleteFunc(slices.Clone(o.Fused), func(list []*op.Op) bool { return slices.Contains(list, std.Add) })
	}
	return b
}

// integerBiases writes biases as dequantised sums, without which ONNX Runtime
// computes a product of dequantised operands in float.
func integerBiases(m *graph.Module) error {
	for n := range m.Graph.All() {
		if n.NumArgs() < 3 || n.Arg(2) == nil || n.Arg(2).Opcode() != graph.GetAttr || n.Arg(0).Op() != std.Dequantize || n.Arg(1).Op() != std.Dequantize {
			continue
		}
		x, s, b := constant(m, n.Arg(0).Arg(1)), constant(m, n.Arg(1).Arg(1)), constant(m, n.Arg(2))
		if x == nil || s == nil || b == nil || b.DType() != array.F32 || x.Len() != 1 || s.Len() != 1 && s.Len() != b.Len() {
			return fmt.Errorf("%s: the bias or a scale is no parameter", n)
		}
		sums, scales := make([]int32, b.Len()), make([]float32, b.Len())
		for i := range sums {
			scales[i] = float32(array.Float64At(x, 0)) * float32(array.Float64At(s, i%s.Len()))
			sums[i] = int32(math.RoundToEven(array.Float64At(b, i) / float64(scales[i])))
		}
		c := m.Graph.Before(n)
		store := func(hint string, a *array.Array) *graph.Node {
			path := m.FreshPath(hint)
			m.SetParam(graph.Param{Path: path, Value: a, Buffer: true})
			return c.GetAttr(path)
		}
		d := c.Function(std.Dequantize, nil, store("_sums", array.FromSlice(sums, b.Len())), store("_sums_scale", array.FromSlice(scales, b.Len())))
		n.SetArg(2, d)
	}
	return nil
}

// constant is the value of a node that reads a parameter, else nil.
func constant(m *graph.Module, n *graph.Node) *array.Array {
	if n.Opcode() != graph.GetAttr {
		return nil
	}
	return m.Param(n.Target()).Value
}

// products are the operators whose multiply-adds are of bytes in a quantised network.
var products = []*op.Op{std.Linear, std.Matmul, std.Conv1d, std.Conv2d, std.Conv3d}

// quantisedWork counts products of the float network as of 8 bits, and the bytes of the
// lowered one.
func (w *network) quantisedWork(c quant.Config) (Work, error) {
	lowered, err := w.quantised(c)
	if err != nil {
		return Work{}, err
	}
	ready, err := lowering.Prepare(lowered, lowering.Options{Shapes: w.dims})
	if err != nil {
		return Work{}, err
	}
	all := workOf(w.ready, nil)
	if c.Global.Mode == quant.WeightOnly {
		all.Bytes = workOf(ready, nil).Bytes
		return all, nil
	}
	of8 := workOf(w.ready, func(n *graph.Node) bool { return slices.Contains(products, n.Op()) })
	return Work{Ops8: of8.Flops, Flops: all.Flops - of8.Flops, Bytes: workOf(ready, nil).Bytes}, nil
}

// narrow runs the plan of the network with weights of fewer bits, and says how many bytes
// it reads.
func (w *network) narrow(c quant.Config, threads int) (*Ours, error) {
	o, err := w.quantisedPlan(c, threads)
	if err != nil {
		return nil, err
	}
	work, err := w.quantisedWork(c)
	o.Bytes = work.Bytes
	return o, err
}

// stored runs the plan in floats, with weights of products in a type.
func (w *network) stored(d array.DType, threads int) (*Ours, error) {
	g, err := w.optimised(fx.Optimise())
	if err != nil {
		return nil, err
	}
	o, err := oursPlan(g, w.arrays(), lowering.Options{Threads: threads, Shapes: w.dims, Weights: d})
	if err != nil {
		return nil, err
	}
	if o.Bytes = workOf(w.ready, nil).Bytes; d != array.Invalid {
		o.Bytes *= float64(d.Size()) / 4 // biases and tables are small compared with them
	}
	return o, nil
}
