package schedule

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
)

// Check reports every node of the host that reads a value made elsewhere without a
// wait in between [FX3060].
func Check(g *graph.Graph) error {
	var all diag.List
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
