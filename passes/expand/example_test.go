package expand_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/expand"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// A target that begins needs rules for the primitives, and keeps those that it has for
// others: here softmax.
func ExampleTable() {
	m, err := graph.Parse([]byte(`gofx 1

graph block(%x: f32[N,64], %w: f32[64]) {
  symbol N = dim(%x, 0)
  %n = call_function[rms_norm](%x, %w) {normalized_shape=[64], eps=1e-05} : f32[N,64]
  %s = call_function[softmax](%n) {dim=1} : f32[N,64]
  return %s
}
`), "block")
	if err != nil {
		fmt.Println(err)
		return
	}
	direct := func(n *graph.Node) (bool, string) {
		o := n.Op()
		return o == std.Softmax || expand.IsPrimitive(o), "no rule"
	}
	if err := lowering.Legalize(m.Graph, "mine", direct, expand.Table()); err != nil {
		fmt.Println(err)
		return
	}
	for n := range m.Graph.Nodes() {
		if n.Opcode().IsCall() {
			fmt.Print(n.Op().Name, " ")
		}
	}
	// Output: mul sum div add sqrt div mul softmax
}

// Primitives are what a first target has to run, besides operators with an expression.
func ExamplePrimitives() {
	var names []string
	for _, o := range expand.Primitives() {
		names = append(names, o.Name)
	}
	fmt.Println(strings.Join(names[:8], " "), "...")
	// Output: amax amin avg_pool1d avg_pool2d avg_pool3d bitcast bmm cat ...
}

// An operator with an expression is primitive; one with a decomposition is not.
func ExampleIsPrimitive() {
	fmt.Println(expand.IsPrimitive(std.Gelu), expand.IsPrimitive(std.Bmm), expand.IsPrimitive(std.Lstm), expand.IsPrimitive(std.OneHot))
	// Output: true true false false
}

// Some operators stay what they are, for a reason.
func ExampleReasons() {
	fmt.Println(expand.Reasons()[std.Nonzero])
	// Output: sizes of its results follow from the values of its operands
}

// A call that cannot be expanded as it is stays, and says why.
func ExampleTable_refused() {
	m, err := graph.Parse([]byte("gofx 1\n\ngraph g(%x: f32[N]) {\n symbol N = dim(%x, 0)\n %y = call_function[cumsum](%x) : f32[N]\n return %y\n}\n"), "g")
	if err != nil {
		fmt.Println(err)
		return
	}
	refused := func(n *graph.Node, why string) { fmt.Println(n.Name()+":", why) }
	_, err = simplify.ExpandExcept(nil, refused, expand.Table()).Run(passes.NewCtx(context.Background(), m), m.Graph)
	fmt.Println(err)
	// Output:
	// y: the size of dimension 0 is N, expected a number: the calls that stand for it are counted when it is expanded
	// <nil>
}
