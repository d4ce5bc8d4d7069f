package graph_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

func typeOf(text string) shape.Type {
	t, err := shape.ParseType(text)
	if err != nil {
		panic(err)
	}
	return t
}

// Outline makes a sub-graph of nodes and calls it in their place.
func ExampleOutline() {
	m := parse(perceptron)
	g := m.Graph
	call, err := graph.Outline("layer", []*graph.Node{g.Find("lin"), g.Find("relu")})
	fmt.Println(call.Callee().Name, err)
	fmt.Println(m)
	// Output:
	// layer <nil>
	// gofx 1
	//
	// graph net(%x: f32[N,4]) {
	//   symbol N = dim(%x, 0)
	//   %w = get_attr[w] : f32[2,4]
	//   %layer = call_function[call](%x, %w) {graph="layer"} : f32[N,2]
	//   return %layer
	// }
	// subgraph layer(%x: f32[N,4], %w: f32[2,4]) {
	//   symbol N = dim(%x, 0)
	//   %lin = call_function[linear](%x, %w, _) : f32[N,2]
	//   %relu = call_function[relu](%lin) : f32[N,2]
	//   return %relu
	// }
	// param w : f32[2,4]
}

// What lies on the way from one node to another must be among them.
func ExampleOutline_wayOut() {
	g := parse(`
graph g(%x: f32[2]) {
  %a = call_function[relu](%x) : f32[2]
  %b = call_function[neg](%a) : f32[2]
  %c = call_function[add](%a, %b) : f32[2]
  return %c
}
`).Graph
	_, err := graph.Outline("part", []*graph.Node{g.Find("a"), g.Find("c")})
	fmt.Println(err)
	// Output:
	// node %b: neg: the way %a -> %b -> %c leaves the nodes and comes back [FX3044]
	//     hint: add %b to the nodes, or leave %c out
}

// Inline is the inverse of Outline.
func ExampleInline() {
	m := parse(perceptron)
	g := m.Graph
	call, _ := graph.Outline("layer", []*graph.Node{g.Find("lin"), g.Find("relu")})
	results, err := graph.Inline(call)
	fmt.Println(results, err)
	m.DropSubs()
	fmt.Println(graph.EqualModules(m, parse(perceptron)))
	// Output:
	// [%relu] <nil>
	// true
}

// NewSub makes a sub-graph by hand; calls of it may be of any sizes that it takes.
func ExampleModule_NewSub() {
	m := graph.NewModule(graph.New("net"))
	sub := m.NewSub("twice")
	c := sub.At()
	x := c.Placeholder("x", typeOf("f32[A]"), nil)
	sub.DefineSymbol("A", x, 0)
	c.Output(nil, c.Function(std.Add, nil, x, x))

	c = m.Graph.At()
	y := c.Function(op.Call, op.CallAttrs{Graph: "twice"}, c.Placeholder("y", typeOf("f32[3]"), nil))
	c.Output(nil, y)
	fmt.Println(y.Text(), graph.Lint(m.Graph).Err())
	for n := range y.Inner() {
		fmt.Println(n, n.Type())
	}
	// Output:
	// %call = call_function[call](%y) {graph="twice"} : f32[3] <nil>
	// %x f32[A]
	// %add f32[A]
	// %output f32[A]
}
