package simplify_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// show runs passes on a graph and prints what comes out.
func show(body string, list ...passes.Pass) {
	m, err := graph.Parse([]byte("gofx 1\n\ngraph f(%x: f32[N,2]) {\n  symbol N = dim(%x, 0)\n"+body), "f.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range m.Params() {
		if p.Value == nil {
			q := *p
			q.Value = array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
			m.SetParam(q)
		}
	}
	report, err := passes.Run(context.Background(), m, list, passes.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := range m.Graph.Nodes() {
		if n.Opcode() != graph.Placeholder {
			fmt.Println(n.Text())
		}
	}
	for _, p := range report.Passes {
		for _, e := range p.Refused {
			fmt.Println(e.Node, "stays:", e.Why)
		}
		for _, note := range p.Notes {
			fmt.Println(p.Name+":", note)
		}
	}
}

func Example() {
	show(`  %a = call_function[exp](%x)
  %b = call_method[exp](%x)
  %unused = call_function[neg](%b)
  %sum = call_function[add](%a, %b)
  return %sum
}
`, simplify.CSE, simplify.DCE)
	// Output:
	// %a = call_function[exp](%x) : f32[N,2]
	// %sum = call_function[add](%a, %a) : f32[N,2]
	// return %sum
}

func Example_functionalize() {
	show(`  %fc = call_module[fc](%x)
  %relu = call_method[relu](%fc)
  return %relu
}
param fc.weight : f32[2,2]
module fc = linear (weight=fc.weight, bias=_)
`, simplify.Functionalize)
	// Output:
	// %fc_weight = get_attr[fc.weight] : f32[2,2]
	// %fc = call_function[linear](%x, %fc_weight) : f32[N,2] in "fc"
	// %relu = call_function[relu](%fc) : f32[N,2]
	// return %relu
}

func Example_constFold() {
	show(`  %w = get_attr[w]
  %wt = call_function[transpose](%w) {dim0=0, dim1=1}
  %y = call_function[matmul](%x, %wt)
  return %y
}
param w : f32[2,2]
`, simplify.ConstFold, simplify.DropUnused)
	// Output:
	// %_folded_wt = get_attr[_folded_wt] : f32[2,2]
	// %y = call_function[matmul](%x, %_folded_wt) : f32[N,2]
	// return %y
}

// ConstFoldLimit says how much larger one folded value may make the parameters.
func ExampleConstFoldLimit() {
	show(`  %w = get_attr[w]
  %big = call_function[repeat](%w) {repeats=[1,100]}
  %y = call_function[matmul](%x, %big)
  return %y
}
param w : f32[2,2]
`, simplify.ConstFoldLimit(64))
	// Output:
	// %w = get_attr[w] : f32[2,2]
	// %big = call_function[repeat](%w) {repeats=[1,100]} : f32[2,200]
	// %y = call_function[matmul](%x, %big) : f32[N,200]
	// return %y
	// %big stays: its value f32[2,200] would make the parameters 1584 bytes larger, the limit is 64
}

func Example_decompose() {
	show(`  %y = call_function[softmin](%x) {dim=-1}
  return %y
}
`, simplify.Decompose)
	// Output:
	// %neg = call_function[neg](%x) : f32[N,2]
	// %softmax = call_function[softmax](%neg) {dim=-1} : f32[N,2]
	// return %softmax
}

// DecomposeExcept leaves calls alone that a target has rules for.
func ExampleDecomposeExcept() {
	show(`  %y = call_function[softmin](%x) {dim=-1}
  return %y
}
`, simplify.DecomposeExcept(func(n *graph.Node) bool { return n.Op() == std.Softmin }))
	// Output:
	// %y = call_function[softmin](%x) {dim=-1} : f32[N,2]
	// return %y
}

// Dropout does nothing in inference, and x+0 is not x for -0.
func Example_identity() {
	show(`  %a = call_method[dropout](%x) {p=0.5}
  %b = call_function[add](%a) {other=0}
  %c = call_function[reshape](%b) {shape=[N,2]}
  return %c
}
`, simplify.Identity)
	// Output:
	// %b = call_function[add](%x) {other=0} : f32[N,2]
	// return %b
	// %b stays: it is its operand for most numbers, but not for -0
}

func Example_algebra() {
	show(`  %a = call_method[neg](%x)
  %b = call_function[neg](%a)
  %c = call_function[relu](%b)
  %d = call_function[relu](%c)
  return %d
}
`, simplify.Algebra)
	// Output:
	// %c = call_function[relu](%x) : f32[N,2]
	// return %c
}

// views is a graph of views for the examples below.
func views() *graph.Graph {
	m, err := graph.Parse([]byte(`gofx 1

graph f(%x: f32[N,2,3]) {
  symbol N = dim(%x, 0)
  %a = call_function[permute](%x) {dims=[2,0,1]}
  %b = call_function[movedim](%a) {source=[0], destination=[2]}
  %c = call_function[clone](%b)
  %d = call_function[exp](%c)
  return %d
}
`), "f.fx")
	if err != nil {
		panic(err)
	}
	return m.Graph
}

// Restores tells whether views of views show what there was at first.
func ExampleRestores() {
	g := views()
	x, a, b := g.Find("x"), g.Find("a"), g.Find("b")
	fmt.Println(simplify.Restores(x, a), simplify.Restores(x, b))
	// Output: false true
}

// View is the layout of views, whatever the sizes.
func ExampleView() {
	g := views()
	at, ok := simplify.View(g.Find("x"), g.Find("a"))
	fmt.Println(at.Sizes, at.Strides, ok)
	_, ok = simplify.View(g.Find("x"), g.Find("c"))
	fmt.Println(ok)
	// Output:
	// [3 N 2] [1 6 3] true
	// false
}

// A pass that puts one value in the place of an equal one asks whether it may.
func ExampleNewSharing() {
	g := views()
	s := simplify.NewSharing(g)
	fmt.Printf("%q\n", s.Refuse(g.Find("c"), g.Find("b")))
	g.Output().SetArg(0, g.Find("c"))
	fmt.Printf("%q\n", s.Refuse(g.Find("c"), g.Find("b")))
	// Output:
	// ""
	// "it is a result, which shares no memory with %x"
}

// Two spellings of one call become equal, so that one of them goes.
func Example_normalise() {
	show(`  %a = call_function[softmax](%x) {dim=-1}
  %b = call_function[softmax](%x) {dim=1}
  %c = call_function[add](%a, %b) {alpha=1}
  return %c
}
`, simplify.Normalise, simplify.CSE)
	// Output:
	// %a = call_function[softmax](%x) {dim=1} : f32[N,2]
	// %c = call_function[add](%a, %a) : f32[N,2]
	// return %c
}
