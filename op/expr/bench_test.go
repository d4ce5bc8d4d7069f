package expr_test

import (
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
)

func BenchmarkElementwise(bm *testing.B) {
	const rows, cols = 256, 256
	b := expr.NewBuilder()
	x, y := b.Input(0, array.F32), b.Input(1, array.F32)
	k := func(v float64) expr.Value { return b.Const(array.F32, v) }
	words := expr.Philox(b, b.ConstInt(array.U32, 1), b.ConstInt(array.U32, 2), b.Index())
	for _, c := range []struct {
		name string
		y    []int
		v    expr.Value
	}{
		{"add", []int{rows, cols}, b.Add(x, y)},
		{"bias", []int{cols}, b.Add(x, y)},
		{"channel", []int{rows, 1}, b.Add(x, y)},
		{"relu", []int{1}, b.Max(x, k(0))},
		{"hardswish", []int{1}, b.Div(b.Mul(x, b.Min(b.Max(b.Add(x, k(3)), k(0)), k(6))), k(6))},
		{"gelu", []int{1}, b.Mul(b.Mul(k(0.5), x), b.Add(k(1), b.Erf(b.Mul(x, k(0.7071067811865476)))))},
		{"sigmoid", []int{1}, b.Sigmoid(x)},
		{"tanh", []int{1}, b.Tanh(x)},
		{"exp", []int{1}, b.Exp(x)},
		{"erf", []int{1}, b.Erf(x)},
		{"log", []int{1}, b.Log(b.Abs(x))},
		{"where", []int{rows, cols}, b.Select(b.Lt(x, y), x, y)},
		{"uniform", []int{1}, expr.Uniform(b, words[0])},
	} {
		bm.Run(c.name, func(bm *testing.B) {
			step := kernel.Elementwise{Program: b.Compile(c.v)}
			in := []*array.Array{array.New(array.F32, rows, cols), array.New(array.F32, c.y...)}
			for i := range in[0].Len() {
				array.Data[float32](in[0])[i] = float32(i%100)/10 - 5
			}
			out := []*array.Array{array.New(array.F32, rows, cols)}
			var w kernel.Workspace
			bm.ReportAllocs()
			for bm.Loop() {
				step.Run(&w, out, in)
			}
			bm.ReportMetric(float64(bm.Elapsed().Nanoseconds())/float64(bm.N)/(rows*cols), "ns/elem")
		})
	}
	bm.Run("one element", func(bm *testing.B) {
		step := kernel.Elementwise{Program: b.Compile(b.Add(x, y))}
		in := []*array.Array{array.New(array.F32, 1), array.New(array.F32, 1)}
		out := []*array.Array{array.New(array.F32, 1)}
		var w kernel.Workspace
		for bm.Loop() {
			step.Run(&w, out, in)
		}
	})
}
