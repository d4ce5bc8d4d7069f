package main

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/shapes"
	"github.com/gofx-dev/gofx/kernel"
)

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
