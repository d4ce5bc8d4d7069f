package partition_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/partition"
)

func parsed(text string) *graph.Module {
	m, err := graph.Parse([]byte("gofx 1\n"+text), "example.fx")
	if err != nil {
		panic(err)
	}
	return m
}

// Split by a function of the nodes, here by their operators.
func ExampleSplit() {
	m := parsed(`graph g(%x: f32[2]) {
  %a = call_function[relu](%x) : f32[2]
  %b = call_function[neg](%a) : f32[2]
  %c = call_function[exp](%b) : f32[2]
  return %c
}
`)
	calls, err := partition.Split(m, func(n *graph.Node) string {
		if n.Name() == "a" {
			return "first"
		}
		return "rest"
	})
	for _, c := range calls {
		fmt.Println(c.Text())
	}
	fmt.Println(err)
	// Output:
	// %first = call_function[call](%x) {graph="first"} : f32[2]
	// %rest = call_function[call](%first) {graph="rest"} : f32[2]
	// <nil>
}

// Tags are marks that passes leave; what is made of a node has its tag.
func ExampleByTag() {
	m := parsed("graph g(%x: f32[2]) {\n%a = call_function[relu](%x)\nreturn %a\n}\n")
	partition.Tag.Set(m.Graph.Find("a"), "device")
	calls, err := partition.Split(m, partition.ByTag)
	fmt.Println(calls[0].Callee().Name, err)
	// Output: device <nil>
}

const accelerated = `graph g(%x: f32[2]) {
  %a = call_function[relu](%x) : f32[2]
  %b = call_function[exp](%a) : f32[2]
  %c = call_function[relu](%b) : f32[2]
  %d = call_function[add](%c, %a) : f32[2]
  return %d
}
`

// fast says what an accelerator can do.
func fast(n *graph.Node) (bool, string) {
	switch n.Op().Name {
	case "relu", "add":
		return true, ""
	}
	return false, "no unit for " + n.Op().Name
}

// Propose finds the parts of a graph that a predicate accepts, and says why it left the rest.
func ExamplePropose() {
	m := parsed(accelerated)
	p, err := partition.Propose(m.Graph, fast, partition.Options{Name: "npu"})
	fmt.Print(p)
	fmt.Println(err)
	// Output:
	// npu0: %a
	// npu1: %c %d
	// left: %b: no unit for exp
	// <nil>
}

// Fuse makes sub-graphs of parts: of a proposal's, or of your own.
func ExampleFuse() {
	m := parsed(accelerated)
	p, err := partition.Propose(m.Graph, fast, partition.Options{Name: "npu", Min: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	calls, err := partition.Fuse(m, p.Parts...)
	fmt.Println(calls[0].Text(), err)
	fmt.Print(m)
	// Output:
	// %npu0 = call_function[call](%b, %a) {graph="npu0"} : f32[2] <nil>
	// gofx 1
	//
	// graph g(%x: f32[2]) {
	//   %a = call_function[relu](%x) : f32[2]
	//   %b = call_function[exp](%a) : f32[2]
	//   %npu0 = call_function[call](%b, %a) {graph="npu0"} : f32[2]
	//   return %npu0
	// }
	// subgraph npu0(%b: f32[2], %a: f32[2]) {
	//   %c = call_function[relu](%b) : f32[2]
	//   %d = call_function[add](%c, %a) : f32[2]
	//   return %d
	// }
}

// All and Any join predicates; Deep asks one about bodies, too, as Propose does.
func ExampleAll() {
	small := func(n *graph.Node) (bool, string) {
		size, known := n.Type().Bytes().Int()
		return known && size <= 1024, "too large"
	}
	exp := func(n *graph.Node) (bool, string) { return n.Op().Name == "exp", "no exp" }
	m := parsed(accelerated)
	p, err := partition.Propose(m.Graph, partition.Deep(partition.All(small, partition.Any(fast, exp))), partition.Options{})
	fmt.Println(len(p.Parts), len(p.Left), err)
	// Output: 1 0 <nil>
}

const layers = `graph net(%x: f32[N,4]) {
  %w0 = get_attr[l0.w] : f32[4,4]
  %a0 = call_function[linear](%x, %w0) : f32[N,4] in "l0"
  %b0 = call_function[relu](%a0) : f32[N,4] in "l0"
  %w1 = get_attr[l1.w] : f32[4,4]
  %a1 = call_function[linear](%b0, %w1) : f32[N,4] in "l1"
  %b1 = call_function[relu](%a1) : f32[N,4] in "l1"
  return %b1
}
param l0.w : f32[4,4]
param l1.w : f32[4,4]
`

func ExampleReroll() {
	m := parsed(layers)
	report, err := passes.Run(context.Background(), m, []passes.Pass{partition.Reroll}, passes.Options{})
	fmt.Println(report.Changed(), err) // a layer is smaller than DefaultGroup
	// Output: false <nil>
}

func ExampleRerollMin() {
	m := parsed(layers)
	_, err := passes.Run(context.Background(), m, []passes.Pass{partition.RerollMin(2)}, passes.Options{})
	fmt.Println(m, err)
	// Output:
	// gofx 1
	//
	// graph net(%x: f32[N,4]) {
	//   symbol N = dim(%x, 0)
	//   %l0 = call_module[l0](%x) : f32[N,4] in "l0"
	//   %l1 = call_module[l1](%l0) : f32[N,4] in "l1"
	//   return %l1
	// }
	// subgraph l(%x: f32[N,4], %w0: f32[4,4]) {
	//   symbol N = dim(%x, 0)
	//   %a0 = call_function[linear](%x, %w0) : f32[N,4]
	//   %b0 = call_function[relu](%a0) : f32[N,4]
	//   return %b0
	// }
	// param l0.w : f32[4,4]
	// param l1.w : f32[4,4]
	// module l0 = call {graph="l"} (w0=l0.w)
	// module l1 = call {graph="l"} (w0=l1.w)
	//  <nil>
}
