package graph_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
)

const doubled = `
graph g(%x: f32[3,2], %y: f32[2]) {
  %s = call_function[scan](%y, %x) {carry=1, seqs=1} : (f32[2]) {
    region body(%sum: f32[2], %row: f32[2]) {
      %n = call_function[add](%sum, %row) : f32[2]
      return (%n)
    }
  }
  %s0 = call_function[getitem](%s) {index=0} : f32[2]
  return %s0
}
`

// A node in a body may use a value from outside: the cursor captures it.
func ExampleGraph_Capture() {
	m := parse(doubled)
	y := m.Graph.Find("y")
	body := m.Graph.Find("s").Regions()[0]
	n := body.Find("n")
	scaled := body.After(n).Function(std.Mul, nil, n, y)
	body.Output().SetArg(0, scaled)
	fmt.Println(body.Capture(y), m.Graph.Find("s").NumArgs(), graph.Lint(m.Graph).Err())
	// Output: %y 3 <nil>
}

// An operand that no body uses can be dropped.
func ExampleNode_DropOperand() {
	m := parse(doubled)
	s := m.Graph.Find("s")
	s.Regions()[0].Capture(m.Graph.Find("x"))
	fmt.Println(s.NumArgs(), s.DropOperand(2), s.NumArgs())
	fmt.Println(s.DropOperand(1))
	// Output:
	// 3 <nil> 2
	// node %s: scan: operand 1 is used in region body [FX3001]
}

// An engine copies an operand that the bodies write over.
func ExampleNode_Copies() {
	m := parse(`
graph g(%x: f32[3,2]) {
  %b = get_attr[b] : f32[2]
  %s = call_function[scan](%b, %x) {carry=1, seqs=1} : (f32[2]) {
    region body(%old: f32[2], %row: f32[2]) {
      %c = get_attr[b] : f32[2]
      %w = call_function[assign](%c, %row) : f32[2]
      %n = call_function[add](%old, %w) : f32[2]
      return (%n)
    }
  }
  return %s
}
param b : f32[2] buffer
`)
	fmt.Println(m.Graph.Find("s").Copies().Taken)
	// Output: [true false]
}

// How many elements are not zero is known when the step has run.
func ExampleNode_FindsSizes() {
	m := parse(`
graph g(%x: f32[N]) {
  symbol N = dim(%x, 0)
  %at = call_function[nonzero](%x) : i64[k,1]
  symbol k = dim(%at, 0)
  %y = call_function[neg](%x) : f32[N]
  return (%at, %y)
}
`)
	fmt.Println(m.Graph.Find("at").FindsSizes(), m.Graph.Find("y").FindsSizes())
	// Output: true false
}
