package passes_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
)

// A pass of one's own: gelu in place of relu.
var reluToGelu = passes.EachNode("relu-to-gelu", "Replaces relu by gelu.",
	func(c *passes.Ctx, n *graph.Node) error {
		if n.Op() != std.Relu { // true for every spelling: function, method, module
			return nil
		}
		if n.Type().DType().IsInt() {
			c.Refuse(n, "gelu takes floats only")
			return nil
		}
		gelu := n.Graph().Before(n).Function(std.Gelu, tensor.GeluAttrs{Approximate: "tanh"}, n.Arg(0))
		return c.Replace(n, gelu, "relu becomes gelu")
	})

// ExampleRun captures a function, runs a pass of one's own and a built-in one,
// and demands that the first matches once.
func ExampleRun() {
	model := func(x *tensor.Tensor) *tensor.Tensor {
		x.Exp() // nothing uses it
		return x.Neg().Relu()
	}
	gm, err := fx.Trace(context.Background(), model, fx.Name("model"), fx.Input("x", "f32[N,8]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := passes.Run(context.Background(), gm.Module, []passes.Pass{reluToGelu, simplify.DCE},
		passes.Options{Expect: []passes.Expectation{passes.Expect("relu-to-gelu", 1)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("dce removed", report.Matches("dce"))
	fmt.Print(gm.Graph)
	// Output:
	// dce removed 1
	// gofx 1
	//
	// graph model(%x: f32[N,8]) {
	//   symbol N = dim(%x, 0)
	//   %neg = call_method[neg](%x) : f32[N,8]
	//   %gelu = call_function[gelu](%neg) {approximate="tanh"} : f32[N,8]
	//   return %gelu
	// }
}

// ExampleRule replaces what two functions describe, and asks why another place
// does not match.
func ExampleRule() {
	rule := passes.Rewrite{
		Name: "linear", Doc: "Makes a linear layer of a product with a transposed weight and a sum.",
		Pattern: func(x, w, b *tensor.Tensor) *tensor.Tensor {
			return x.Matmul(w.Transpose(0, 1)).Add(b)
		},
		Replacement: func(x, w, b *tensor.Tensor) *tensor.Tensor {
			return tensor.Linear(x, w, b)
		},
		Where: func(m *passes.Match) string {
			if m.Inputs[2].Type().Rank() != 1 {
				return "the bias has " + m.Inputs[2].Type().String()
			}
			return ""
		},
	}
	model := func(x, w, b *tensor.Tensor) *tensor.Tensor {
		h := x.Matmul(w.Transpose(0, 1)).Add(b).Relu()
		return h.Matmul(w).Add(b)
	}
	gm, err := fx.Trace(context.Background(), model, fx.Input("x", "f32[N,8]"), fx.Input("w", "f32[8,8]"), fx.Input("b", "f32[8]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := passes.Run(context.Background(), gm.Module, []passes.Pass{passes.Rule(rule)}, passes.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := report.Passes[0]
	fmt.Println(p.Matches, "match;", p.Refused[0].Why)
	// Output:
	// 1 match; matched 2 of 3: at %w: is placeholder, the pattern has transpose
}

// Sizes at which a graph is tried show what small ones do not: here that there may be more
// than one window.
func ExampleNewCover() {
	m, err := graph.Parse([]byte(`gofx 1

graph f(%x: f32[N]) {
  symbol N = dim(%x, 0)
  %w = call_function[slice](%x) {stop=9223372036854775807, step=64}
  return %w
}
`), "f.fx")
	if err != nil {
		panic(err)
	}
	c := passes.NewCover(m.Graph, map[string]int{"N": 7}, func(string) bool { return false })
	fmt.Println(c.Missing())
	for len(c.Missing()) > 0 {
		sizes, ok := c.Next()
		if !ok {
			break
		}
		fmt.Println(sizes)
		c.Add(sizes) // when the graph takes them
	}
	// Output:
	// [N (N-1)//64+1]
	// map[N:65537]
	// map[N:65]
}
