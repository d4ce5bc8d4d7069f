package graph_test

import (
	"fmt"
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
)

// counting adds to a buffer and reads it through a view, before and after.
const counting = `
graph count(%x: f32[2,2]) {
  %b = get_attr[b] live : f32[2,2]
  %t = call_function[t](%b)
  %y = call_function[relu](%t)
  %w = call_function[assign](%b, %x)
  %z = call_function[relu](%t)
  return (%y, %z)
}
param b : f32[2,2] buffer
`

// A program that writes state has values that change after they were made, and nodes whose
// order counts.
func ExampleEffectsOf() {
	g := parse(counting).Graph
	e := graph.EffectsOf(g)
	fmt.Println(e.Paths())
	for _, name := range []string{"t", "y"} {
		fmt.Println(g.Find(name), e.Overwritten(g.Find(name)))
	}
	fmt.Println(e.Conflict(g.Find("y"), g.Find("w")), e.Conflict(g.Find("y"), g.Find("z")))
	fmt.Println(e.Repeatable(g.Find("y")), e.Repeatable(g.Find("w")))
	// Output:
	// [b]
	// %t true
	// %y false
	// true false
	// true false
}

// The memory that a value lies in is found through views.
func ExampleNode_Place() {
	g := parse(counting).Graph
	fmt.Println(g.Find("t").Memory(), g.Find("t").Place().Path)
	fmt.Println(g.Find("y").Memory(), g.Find("y").Place().Node)
	fmt.Println(g.Find("t").Place().Overlaps(g.Find("w").Place()))
	// Output:
	// %b b
	// %y %y
	// true
}

// What a node reads and writes.
func ExampleNode_Writes() {
	g := parse(counting).Graph
	w, z := g.Find("w"), g.Find("z")
	fmt.Println(slices.Collect(w.Writes())[0].Path, slices.Collect(z.Reads())[0].Path)
	fmt.Println(w.Effect() == op.Effectful, z.Effect() == op.Pure, w.Removable(), z.Removable())
	// Output:
	// b b
	// true true false true
}

// How far nodes are from the inputs is computed when somebody asks, and again after an edit.
func ExampleNewAnalysis() {
	depths := graph.NewAnalysis("depths", func(g *graph.Graph) map[*graph.Node]int {
		depth := map[*graph.Node]int{}
		for n := range g.Nodes() {
			for a := range n.Inputs() {
				depth[n] = max(depth[n], depth[a]+1)
			}
		}
		return depth
	})
	g := parse(counting).Graph
	fmt.Println(depths.Of(g)[g.Find("y")], depths.Of(g)[g.Find("w")])
	g.Find("y").SetArg(0, g.Find("b"))
	fmt.Println(depths.Of(g)[g.Find("y")])
	// Output:
	// 2 1
	// 1
}
