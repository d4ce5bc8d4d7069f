package passes_test

import (
	"context"
	"fmt"
	"math"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

// rewritten applies a rule to a function and prints the calls that are left.
func rewritten(r passes.Rewrite, f any) {
	gm, err := fx.Trace(context.Background(), f, fx.Input("x", "f32[N,8]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err = gm.Apply(context.Background(), []fx.Pass{passes.Rule(r)}, fx.PassOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	for n := range gm.Graph.Nodes() {
		if n.Opcode().IsCall() {
			fmt.Println(n.Text())
		}
	}
}

// Two spellings of one function.
func ExampleAnyOf() {
	rewritten(passes.Rewrite{Name: "softplus", Doc: "Makes softplus of log(1+exp(x)).",
		Pattern: func(x *tensor.Tensor) *tensor.Tensor {
			return passes.AnyOf(x.Exp().AddScalar(1).Log(), x.Exp().Log1p())
		},
		Replacement: func(x *tensor.Tensor) *tensor.Tensor { return x.Softplus(1, 20) },
	}, func(x *tensor.Tensor) *tensor.Tensor { return x.Exp().Log1p().Exp().AddScalar(1).Log() })
	// Output:
	// %softplus = call_function[softplus](%x) {beta=1.0, threshold=20.0} : f32[N,8]
	// %softplus_1 = call_function[softplus](%softplus) {beta=1.0, threshold=20.0} : f32[N,8]
}

// Any dimension will do, as long as it is the last one.
func ExampleLoose() {
	rewritten(passes.Rewrite{Name: "log-softmax", Doc: "Makes log_softmax of log(softmax(x)).",
		Pattern: func(x *tensor.Tensor) *tensor.Tensor { return passes.Loose(x.Softmax(0)).Log() },
		Where: func(m *passes.Match) string {
			if d := m.Nodes[0].Attrs().(tensor.DimAttrs).Dim; d != -1 && d != m.Roots[0].Type().Rank()-1 {
				return "it is taken over another dimension than the last one"
			}
			return ""
		},
		Replacement: func(x *tensor.Tensor) *tensor.Tensor { return x.LogSoftmax(-1) },
	}, func(x *tensor.Tensor) *tensor.Tensor { return x.Softmax(1).Log().Softmax(0).Log() })
	// Output:
	// %log_softmax = call_function[log_softmax](%x) {dim=-1} : f32[N,8]
	// %softmax_1 = call_method[softmax](%log_softmax) : f32[N,8]
	// %log_1 = call_method[log](%softmax_1) : f32[N,8]
}

// Two factors in turn are one.
func ExampleNumber() {
	rewritten(passes.Rewrite{Name: "factors", Doc: "Multiplies by one factor in place of two.",
		Pattern: func(x *tensor.Tensor) *tensor.Tensor {
			return x.MulScalar(passes.Number(0)).MulScalar(passes.Number(1))
		},
		Where: func(m *passes.Match) string {
			if frac, _ := math.Frexp(m.Numbers[1]); frac != 0.5 {
				return "the second factor is no power of two"
			}
			return ""
		},
		Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
			return []*graph.Node{c.Function(std.Mul, tensor.BinaryAttrs{Other: op.Float(m.Numbers[0] * m.Numbers[1])}, m.Inputs[0])}
		},
	}, func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(3).MulScalar(0.25) })
	// Output: %mul_2 = call_function[mul](%x) {other=0.75} : f32[N,8]
}
