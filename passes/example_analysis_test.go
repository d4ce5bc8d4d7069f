package passes_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
)

// Two passes read one answer about the graph. It is computed once, because the first one
// changes nothing.
func Example_analysis() {
	calls := graph.NewAnalysis("calls", func(g *graph.Graph) map[*op.Op]int {
		count := map[*op.Op]int{}
		for n := range g.All() {
			if o := n.Op(); o != nil {
				count[o]++
			}
		}
		return count
	})
	tell := func(name string) passes.Pass {
		return passes.Pass{Name: name, Doc: "Notes how many operators there are.", Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
			c.Note(fmt.Sprint(len(calls.Of(g)), " operators"))
			return false, nil
		}}
	}
	r, err := passes.Run(context.Background(), chain(), []passes.Pass{tell("first"), tell("second")}, passes.Options{})
	for _, p := range r.Passes {
		fmt.Println(p.Name, p.Notes)
	}
	fmt.Println(err)
	// Output:
	// first [3 operators]
	// second [3 operators]
	// <nil>
}

// A pass that has replaced a value erases what only that used.
func ExampleSweepUnused() {
	g := chain().Graph
	was := g.Find("c").Args()
	g.Find("unused").SetArg(0, g.Find("x"))
	g.Find("c").SetArg(0, g.Find("x"))
	passes.SweepUnused(was)
	for n := range g.Nodes() {
		fmt.Print(n, " ")
	}
	// Output: %x %c %unused %output
}
