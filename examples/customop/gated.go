package customop

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// GatedLinear is a linear layer whose result another one gates, made of operators that
// exist: its type follows from them, and a target that has no rule for it runs them.
//
//	%y = call_function[example.com/customop.gated_linear](%x, %gate, %value) : f32[N,64]
var GatedLinear = op.Define("gated_linear", op.Spec[op.None]{
	Doc: "gated_linear returns silu(x @ gateᵀ) * (x @ valueᵀ) for weights of shape [out,in].",
	In:  op.Args("x", "gate", "value"), Ref: "Shazeer: arXiv:2002.05202",
	Decompose: func(b op.Builder, _ op.None, in []op.Value) op.Value {
		gate := b.Call(std.Linear, op.None{}, in[0], in[1])
		value := b.Call(std.Linear, op.None{}, in[0], in[2])
		return b.Call(std.Mul, std.BinaryAttrs{}, b.Call(std.Silu, op.None{}, gate), value)
	},
	Samples: func(g *op.Gen) []op.Sample {
		call := func(name string, in ...*array.Array) op.Sample {
			return op.Sample{Name: name, Attrs: op.None{}, In: in}
		}
		f64 := func(a *array.Array) *array.Array { return array.Cast(a, array.F64) }
		weight := g.Normal(4, 5)
		return []op.Sample{
			call("matrix", g.Normal(3, 5), weight, g.Normal(4, 5)),
			call("one weight", g.Normal(3, 5), weight, weight),
			call("vector", g.Normal(5), weight, g.Normal(4, 5)),
			call("leading dimensions", g.Normal(2, 3, 5), weight, g.Normal(4, 5)),
			call("strided", g.Strided(g.Normal(3, 5)), g.Strided(weight), g.Normal(4, 5)),
			call("empty batch", g.Normal(0, 5), weight, g.Normal(4, 5)),
			call("no features", g.Normal(3, 0), g.Normal(4, 0), g.Normal(4, 0)),
			call("wide", g.Normal(17, 33), g.Normal(65, 33), g.Normal(65, 33)),
			call("f64", f64(g.Normal(3, 5)), f64(weight), f64(g.Normal(4, 5))),
		}
	},
	Bad: func(g *op.Gen) []op.BadSample {
		bad := func(name string, in ...*array.Array) op.BadSample {
			return op.BadSample{Name: name, Attrs: op.None{}, In: in, Code: op.SizeMismatch}
		}
		wide := bad("weights of different widths", g.Normal(3, 5), g.Normal(4, 5), g.Normal(3, 5))
		wide.Code = op.ShapeMismatch
		return []op.BadSample{bad("features", g.Normal(3, 6), g.Normal(4, 5), g.Normal(4, 5)), wide}
	},
})
