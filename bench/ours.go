package main

import (
	"context"
	"fmt"
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/shapes"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// oursStep runs one kernel step into one new array.
func oursStep(name string, threads int, s kernel.Step, shape []int, in ...*array.Array) *Ours {
	w := &kernel.Workspace{Threads: threads}
	y := array.New(array.F32, shape...)
	out := []*array.Array{y}
	return &Ours{Name: name, Out: []*array.Array{y}, Run: func() { s.Run(w, out, in) }}
}

// oursGemm multiplies; a constant right operand is packed before.
func oursGemm(in []*array.Array, shape []int, packed bool, threads int) (*Ours, error) {
	if packed {
		k, n := in[1].Dim(0), in[1].Dim(1)
		p := array.New(array.F32, kernel.PackedLen(k, n))
		kernel.PackLinear{}.Run(&kernel.Workspace{}, []*array.Array{p}, []*array.Array{array.Permute(in[1], 1, 0)})
		return oursStep("LinearPacked", threads, kernel.LinearPacked{Features: n}, shape, in[0], p), nil
	}
	return oursStep("MatMul", threads, kernel.MatMul{}, shape, in...), nil
}

// oursConv convolves with a packed weight.
func oursConv(in []*array.Array, shape []int, v shapes.Conv, threads int) (*Ours, error) {
	both := func(n int) []int { return []int{n, n} }
	s := kernel.ConvPacked{Channels: v.M, Kernel: both(v.Kernel), In: in[0].Shape()[2:],
		Conv: kernel.Conv{Stride: both(v.Stride), PadLo: both(v.Pad), PadHi: both(v.Pad), Groups: v.Groups}}
	weight := in[1]
	p := array.New(array.F32, kernel.PackedConvLen(s.Conv, s.In, weight.Shape()))
	kernel.PackConv{Conv: s.Conv, In: s.In}.Run(&kernel.Workspace{}, []*array.Array{p}, []*array.Array{weight})
	return oursStep("ConvPacked", threads, s, shape, in[0], p, in[2]), nil
}

// oursChain captures the chain as written with tensors and runs its plan.
func oursChain(in []*array.Array, ops []string, threads int) (*Ours, error) {
	f := map[string]func(x, y *tensor.Tensor) *tensor.Tensor{
		"add": func(x, y *tensor.Tensor) *tensor.Tensor { return x.Add(y) },
		"sub": func(x, y *tensor.Tensor) *tensor.Tensor { return x.Sub(y) },
		"mul": func(x, y *tensor.Tensor) *tensor.Tensor { return x.Mul(y) },
		"div": func(x, y *tensor.Tensor) *tensor.Tensor { return x.Div(y) },
	}
	chain := func(x0, x1, x2, x3, x4, x5, x6, x7, x8 *tensor.Tensor) *tensor.Tensor {
		x := [...]*tensor.Tensor{x0, x1, x2, x3, x4, x5, x6, x7, x8}
		v := x0
		for i, o := range ops {
			v = f[o](v, x[1+i%8])
		}
		return v
	}
	var opts []fx.Option
	for i, a := range in {
		opts = append(opts, fx.Input(fmt.Sprintf("x%d", i), shape.TypeOf(a).String()))
	}
	ctx := context.Background()
	gm, err := fx.Trace(ctx, chain, opts...)
	if err != nil {
		return nil, err
	}
	if _, err := passes.Run(ctx, gm.Module, fx.Optimise(), passes.Options{}); err != nil {
		return nil, err
	}
	return oursPlan(gm.Module, in, lowering.Options{Threads: threads})
}

func oursUnary(in []*array.Array, name string, threads int) (*Ours, error) {
	b := expr.NewBuilder()
	x := b.Input(0, array.F32)
	var y expr.Value
	switch name {
	case "exp":
		y = b.Exp(x)
	case "log":
		y = b.Log(x)
	case "tanh":
		y = b.Tanh(x)
	case "erf":
		y = b.Erf(x)
	case "sigmoid":
		y = b.Sigmoid(x)
	case "silu":
		y = b.Mul(x, b.Sigmoid(x))
	case "sin":
		y = b.Sin(x)
	case "cos":
		y = b.Cos(x)
	case "gelu":
		e := b.Erf(b.Mul(x, b.Like(x, math.Sqrt2/2)))
		y = b.Mul(b.Mul(x, b.Like(x, 0.5)), b.Add(b.Like(x, 1), e))
	default:
		return nil, fmt.Errorf("no function %s", name)
	}
	return oursStep("Elementwise", threads, kernel.Elementwise{Program: b.Compile(y)}, in[0].Shape(), in...), nil
}

func oursMove(in []*array.Array, perm, expand []int, threads int) (*Ours, error) {
	v := in[0]
	if perm != nil {
		v = array.Permute(v, perm...)
	}
	if expand != nil {
		v = array.Expand(v, expand...)
	}
	return oursStep("Copy", threads, kernel.Copy{}, v.Shape(), v), nil
}

func oursLayerNorm(in []*array.Array, threads int) (*Ours, error) {
	return oursStep("LayerNorm", threads, kernel.LayerNorm{Axes: 1, Eps: 1e-5}, in[0].Shape(), in...), nil
}

func oursLSTM(in []*array.Array, layers, threads int) (*Ours, error) {
	x := in[0]
	s := kernel.LSTM{Layers: layers, HasBias: true}
	w := &kernel.Workspace{Threads: threads}
	y := array.New(array.F32, x.Shape()...)
	out := []*array.Array{y, nil, nil}
	operands := append([]*array.Array{x, nil, nil}, in[1:]...)
	return &Ours{Name: "LSTM", Out: []*array.Array{y}, Run: func() { s.Run(w, out, operands) }}, nil
}

// oursAttention attends with heads that lie side by side, in operands and result.
func oursAttention(in []*array.Array, causal bool, threads int) (*Ours, error) {
	heads := func(a *array.Array) *array.Array { return array.Permute(a, 0, 2, 1, 3) }
	y := array.New(array.F32, in[0].Shape()...)
	s := kernel.Attention{IsCausal: causal}
	w := &kernel.Workspace{Threads: threads}
	out, operands := []*array.Array{heads(y)}, []*array.Array{heads(in[0]), heads(in[1]), heads(in[2])}
	return &Ours{Name: "Attention", Out: []*array.Array{y}, Run: func() { s.Run(w, out, operands) }}, nil
}

// qOperands are the operands of a quantized step, in the order of QLinear.
func qOperands(q qparams, x, weight, bias *array.Array) []*array.Array {
	f := func(v float64) *array.Array { return array.FromSlice([]float32{float32(v)}, 1) }
	u := func(v uint8) *array.Array { return array.FromSlice([]uint8{v}, 1) }
	return []*array.Array{x, f(xScale), u(xZero), weight, f(wScale), nil, f(q.y), u(yZero), bias}
}

// oursQ packs the weight and runs the step.
func oursQ(name string, threads int, s kernel.Step, pack kernel.Step, packed int, q qparams, shape []int, x, weight, bias *array.Array) *Ours {
	w := &kernel.Workspace{Threads: threads}
	p := array.New(array.I8, packed)
	pack.Run(w, []*array.Array{p}, []*array.Array{weight})
	in := qOperands(q, x, p, bias)
	y := array.New(array.U8, shape...)
	out := []*array.Array{y}
	return &Ours{Name: name, Out: []*array.Array{y}, Run: func() { s.Run(w, out, in) }}
}

func oursQGemm(g shapes.Gemm, q qparams) oursFunc {
	return func(in []*array.Array, threads int) (*Ours, error) {
		weight := array.Contiguous(array.Permute(in[1], 1, 0))
		return oursQ("QLinear packed", threads, kernel.QLinear{Packed: true}, kernel.QPackLinear{},
			kernel.QLinearPackedBytes(g.N, g.K), q, []int{g.M, g.N}, in[0], weight, in[2]), nil
	}
}

func oursQConv(v shapes.Conv, q qparams) oursFunc {
	return func(in []*array.Array, threads int) (*Ours, error) {
		both := func(n int) []int { return []int{n, n} }
		s := kernel.QConv{Stride: both(v.Stride), PadLo: both(v.Pad), PadHi: both(v.Pad), Groups: v.Groups, Packed: true, Kernel: both(v.Kernel)}
		return oursQ("QConv packed", threads, s, kernel.QPackConv{Groups: v.Groups},
			kernel.QConvPackedBytes(in[1].Shape(), v.Groups, nil), q, []int{1, v.M, v.Out(), v.Out()}, in[0], in[1], in[2]), nil
	}
}

// oursQVector runs the step of an operator between products.
func oursQVector(name string, shape []int, q qparams) oursFunc {
	return func(in []*array.Array, threads int) (*Ours, error) {
		f := func(v float64) *array.Array { return array.FromSlice([]float32{float32(v)}, 1) }
		u := func(v uint8) *array.Array { return array.FromSlice([]uint8{v}, 1) }
		x, y := []*array.Array{in[0], f(xScale), u(xZero)}, []*array.Array{f(q.y), u(yZero)}
		out := []*array.Array{array.New(array.U8, shape...)}
		two := func() []*array.Array { return append(append(x, in[1], x[1], x[2]), y...) }
		var s kernel.Step
		operands := x
		switch name {
		case "add":
			s, operands = kernel.QAdd{}, two()
		case "mul":
			s, operands = kernel.QMul{}, two()
		case "quantize":
			s = kernel.Quantize{}
		case "dequantize":
			s, out[0] = kernel.Dequantize{}, array.New(array.F32, shape...)
		case "dynamic_quantize":
			s, out = kernel.DynamicQuantize{}, append(out, array.New(array.F32), array.New(array.U8))
		case "max_pool":
			s = kernel.QMaxPool{Kernel: []int{3, 3}, Stride: []int{2, 2}, PadLo: []int{1, 1}, PadHi: []int{1, 1}}
		case "global_pool":
			s, operands = kernel.QAvgPool{Kernel: in[0].Shape()[2:]}, append(x, y...)
		case "sigmoid":
			s, operands = kernel.QTable{}, []*array.Array{in[0], sigmoidTable(q)}
		}
		w := &kernel.Workspace{Threads: threads}
		return &Ours{Name: "q " + name, Out: out[:1], Run: func() { s.Run(w, out, operands) }}, nil
	}
}

// sigmoidTable has the sigmoid of every byte.
func sigmoidTable(q qparams) *array.Array {
	t := make([]uint8, 256)
	for i := range t {
		v := 1 / (1 + math.Exp(-xScale*float64(i-xZero)))
		t[i] = uint8(min(255, math.RoundToEven(v/q.y)+yZero))
	}
	return array.FromSlice(t, 256)
}
