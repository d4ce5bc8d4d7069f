package schedule

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
)

// Check reports every node of the host that reads a value made elsewhere without a
// wait in between [FX3060], and every node in a body of control flow that is to run
// elsewhere than the node with the body [FX3062].
func Check(g *graph.Graph) error {
	all := inBodies(g)
	for n := range g.Nodes() {
		if resource(n) != Host || waits(n) {
			continue
		}
		for a := range n.Inputs() {
			if r := resource(a); r != Host {
				all.Add(n.Error(NoWait, "operand "+a.String()+" is made on "+r.String()+" and not waited for").
					WithHint("run the pass schedule.Overlap, or put wait between them"))
			}
		}
	}
	return all.Err()
}

// inBodies reports what is placed within bodies of control flow: these run where their
// node runs.
func inBodies(g *graph.Graph) (all diag.List) {
	for n := range g.Nodes() {
		for _, r := range n.Regions() {
			for m := range r.All() {
				if on, ok := On.Get(m); ok && on != resource(n) {
					all.Add(m.Error(PlacedInBody, m.String()+" is to run on "+on.String()+" within a body of "+n.String()+", which runs on "+resource(n).String()).
						WithHint("place " + n.String() + " as a whole, or move the work out of the body"))
				}
			}
		}
	}
	return all
}
