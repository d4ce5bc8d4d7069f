package graph_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/graph"
)

// Extract makes a module of a part of a graph, here of what comes after the product.
func ExampleExtract() {
	g := parse(perceptron).Graph
	part, err := graph.Extract([]*graph.Node{g.Find("lin")}, []*graph.Node{g.Find("relu")})
	fmt.Println(part, err)
	// Output:
	// gofx 1
	//
	// graph net(%lin: f32[N,2]) {
	//   symbol N = dim(%lin, 0)
	//   %relu = call_function[relu](%lin) : f32[N,2]
	//   return %relu
	// }
	//  <nil>
}

// OperandTypes has the tensors of a called module after the node's operands.
func ExampleNode_OperandTypes() {
	g := parse(`graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %y = call_module[fc](%x) : f32[N,2]
  return %y
}
param fc.weight : f32[2,4]
module fc = linear (weight=fc.weight, bias=_)
`).Graph
	n := g.Find("y")
	for i, t := range n.OperandTypes() {
		fmt.Println(n.Op().In[i].Name, t)
	}
	// Output:
	// x f32[N,4]
	// weight f32[2,4]
	// bias ?
}
