package customop

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
)

// SnakeAttrs are the attributes of snake. Alpha is the frequency, 0 stands for 1.
type SnakeAttrs struct{ Alpha float64 }

// Snake is an activation for periodic signals, elementwise: every engine is derived
// from the expression, the type rule too.
//
//	%y = call_function[example.com/customop.snake](%x) {alpha=2.0} : f32[N,64]
var Snake = op.Define("snake", op.Spec[SnakeAttrs]{
	Doc: "snake returns x + sin²(alpha·x)/alpha.", In: op.Args("x"),
	Ref: "Ziyin, Hartwig, Ueda: arXiv:2006.08195",
	Expr: func(b *expr.Builder, a SnakeAttrs, x []expr.Value) []expr.Value {
		if a.Alpha == 0 {
			a.Alpha = 1
		}
		alpha := b.Like(x[0], a.Alpha)
		sin := b.Sin(b.Mul(alpha, x[0]))
		return []expr.Value{b.Add(x[0], b.Div(b.Mul(sin, sin), alpha))}
	},
	Samples: func(g *op.Gen) []op.Sample {
		call := func(name string, a SnakeAttrs, x *array.Array) op.Sample {
			return op.Sample{Name: name, Attrs: a, In: []*array.Array{x}}
		}
		return []op.Sample{
			call("matrix", SnakeAttrs{}, g.Normal(3, 5)),
			call("alpha", SnakeAttrs{Alpha: 2.5}, g.Normal(3, 5)),
			call("negative alpha", SnakeAttrs{Alpha: -0.5}, g.Normal(7)),
			call("scalar", SnakeAttrs{}, array.Scalar[float32](0.5)),
			call("empty", SnakeAttrs{}, g.Normal(0, 4)),
			call("strided", SnakeAttrs{}, g.Strided(g.Normal(4, 3))),
			call("special values", SnakeAttrs{Alpha: 2}, g.Special()),
			call("long", SnakeAttrs{}, g.Normal(257)),
			call("f64", SnakeAttrs{Alpha: 3}, array.Cast(g.Normal(2, 3), array.F64)),
			call("f16", SnakeAttrs{}, array.Cast(g.Normal(2, 3), array.F16)),
		}
	},
	Bad: func(g *op.Gen) []op.BadSample {
		return []op.BadSample{{Name: "integers", Attrs: SnakeAttrs{}, In: []*array.Array{g.Int(9, 3)}, Code: op.DTypeMismatch}}
	},
})
