package graph_test

import (
	"errors"
	"fmt"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
)

// Edit is all or nothing: what comes before a mistake is taken back.
func ExampleEdit() {
	m := parse(perceptron)
	edit := func(g *graph.Graph) error {
		relu := g.Find("relu")
		gelu := g.After(relu).Function(std.Gelu, nil, relu.Arg(0))
		relu.ReplaceUses(gelu, nil)
		return g.Erase(g.Find("lin")) // meant was relu
	}
	fmt.Println(errors.Is(graph.Edit(m, edit), graph.EraseUsed), m.Graph.Output().Arg(0))

	fmt.Println(graph.Edit(m, func(g *graph.Graph) error {
		_, err := g.Find("relu").ReplaceWith(std.Gelu)
		return err
	}), m.Graph.Output().Arg(0))
	// Output:
	// true %relu
	// <nil> %gelu
}

// ReplaceWith makes a call of another operator on the same operands, or says why it cannot.
func ExampleNode_ReplaceWith() {
	g := parse(perceptron).Graph
	gelu, err := g.Find("relu").ReplaceWith(std.Gelu, std.GeluAttrs{Approximate: "tanh"})
	fmt.Println(gelu.Text(), err)

	_, err = gelu.ReplaceWith(std.Sum)
	fmt.Println(err)
	// Output:
	// %gelu = call_function[gelu](%lin) {approximate="tanh"} : f32[N,2] <nil>
	// node %gelu: sum: sum gives f32[], expected f32[N,2] as its users do [FX3073]
	//     hint: make the call with a Cursor, use ReplaceUses, and Infer the users' types
}

// A Linter looks at what has changed since it looked last.
func ExampleNewLinter() {
	g := parse(perceptron).Graph
	l := graph.NewLinter(g)
	defer l.Close()
	lin, relu := g.Find("lin"), g.Find("relu")
	fmt.Println(len(l.Check()))
	lin.SetArg(0, relu)
	for _, e := range l.Check() {
		fmt.Println(e.Code, e.Node)
	}
	lin.SetArg(0, g.Find("x"))
	fmt.Println(len(l.Check()))
	// Output:
	// 0
	// FX3004 lin
	// FX2003 lin
	// 0
}

// An Index finds nodes without a walk and hears of edits.
func ExampleNewIndex() {
	g := parse(perceptron).Graph
	x := graph.NewIndex(g)
	defer x.Close()
	relu := x.Named("relu")
	g.After(relu).Function(std.Relu, nil, relu)
	relu.Rename("first")
	fmt.Println(x.Calls(std.Relu), x.Targets(graph.GetAttr, "w"), x.Named("relu"))
	// Output: [%first %relu_1] [%w] _
}

func ExampleGraph_Listen() {
	g := parse(perceptron).Graph
	stop := g.Listen(graph.Listener{
		Created:  func(n *graph.Node) { fmt.Println("created", n.Text()) },
		Erased:   func(n *graph.Node) { fmt.Println("erased", n) },
		Replaced: func(old, by *graph.Node) { fmt.Println(old, "replaced by", by) },
	})
	_, err := g.Find("relu").ReplaceWith(std.Tanh)
	fmt.Println(err)
	stop()
	// Output:
	// created %tanh = call_function[tanh](%lin) : f32[N,2]
	// %relu replaced by %tanh
	// erased %relu
	// <nil>
}

// Sort repairs the order after edits that had none, and moves the fewest nodes.
func ExampleGraph_Sort() {
	g := parse(perceptron).Graph
	late := g.After(g.Find("relu")).Function(std.Neg, nil, g.Find("x"))
	g.Find("lin").SetArg(0, late)
	fmt.Println(len(graph.Lint(g)))
	fmt.Println(g.Sort())
	fmt.Println(late.Next(), len(graph.Lint(g)))

	late.SetArg(0, g.Find("relu"))
	_, err := g.Sort()
	fmt.Println(err)
	// Output:
	// 1
	// 1 <nil>
	// %lin 0
	// node %neg: neg: nodes need each other: %neg needs %relu needs %lin needs %neg [FX3070]
	//     hint: take one of them out of the operands of the other
}

// Prepend refuses what would break the order.
func ExampleNode_Prepend() {
	g := parse(perceptron).Graph
	fmt.Println(g.Find("lin").Prepend(g.Find("relu")))
	fmt.Println(g.Find("lin").Prepend(g.Find("w")))
	// Output:
	// node %relu: relu: %relu cannot move past %lin, which it uses [FX3004]
	//     hint: move %lin first, or let Graph.Sort find an order
	// <nil>
}

// GraphCopy takes a graph in with values for some of its nodes.
func ExampleCursor_GraphCopy() {
	g := parse(perceptron).Graph
	from := parse("graph tail(%x: f32[N,2]) {\n  symbol N = dim(%x, 0)\n  %a = call_function[neg](%x)\n  %b = call_function[exp](%a)\n  return %b\n}\n").Graph
	values := map[*graph.Node]*graph.Node{from.Find("x"): g.Find("lin"), from.Find("a"): g.Find("relu")}
	out := g.Before(g.Output()).GraphCopy(from, values)
	fmt.Println(out[0].Text(), values[from.Find("b")] == out[0])
	// Output: %b = call_function[exp](%relu) : f32[N,2] true
}

// Features takes values by the names of nodes or the paths of modules.
func ExampleFeatures() {
	m := parse(`graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %fc = call_module[block.fc](%x) : f32[N,2] in "block"
  %relu = call_function[relu](%fc) : f32[N,2] in "block"
  %sum = call_function[sum](%relu) : f32[]
  return %sum
}
param block.fc.weight : f32[2,4]
module block.fc = linear (weight=block.fc.weight, bias=_)
`)
	part, err := graph.Features(m.Graph, "block.fc", "block")
	fmt.Println(part.Graph.Output().Text(), err)
	_, err = graph.Features(m.Graph, "blok")
	fmt.Println(err)
	// Output:
	// return {block.fc: %fc, block: %relu} <nil>
	// "blok" is neither a node nor the path of a module [FX3041]
}
