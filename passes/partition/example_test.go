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
