package recipes

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/schedule"
)

// Pipeline overlaps work elsewhere (schedule.On) with the host's: it is issued as many results earlier as ahead says.
func Pipeline(ahead int) passes.Pass {
	return passes.Pass{Name: "pipeline", Doc: "Overlaps remote work with that of the host.", Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		inputs := append([]*graph.Node{g.First()}, g.Inputs()...)
		at, waits := inputs[len(inputs)-1], []*graph.Node{} // at is the last issued node
		for _, n := range slices.Collect(g.Nodes()) {
			if i := len(waits) - ahead; !host(n) && ahead > 0 && at.Precedes(n) {
				if i >= 0 && at.Precedes(waits[i]) {
					at = waits[i]
				}
				at = hoist(c, n, at)
			}
			for _, a := range slices.Collect(n.Inputs()) {
				if host(n) && !host(a) { // the host reads it for the first time
					wait := g.Before(n).Function(std.Wait, op.None{}, a)
					a.ReplaceUses(wait, func(u *graph.Node) bool { return u != wait && host(u) })
					waits = append(waits, wait)
					c.Rewrote(a, wait, "waited for where it is read")
				}
			}
		}
		return c.Matches() > 0, nil
	}}
}

func host(n *graph.Node) bool {
	if n.Op() == op.GetItem {
		return host(n.Arg(0)) // a tuple is taken apart where it is
	}
	on, _ := schedule.On.Get(n)
	return on == schedule.Host
}

// hoist moves n, and the nodes it is computed from, after at. It passes no wait and no write.
func hoist(c *passes.Ctx, n, at *graph.Node) *graph.Node {
	for _, a := range slices.Collect(n.Inputs()) {
		if at.Precedes(a) && a.Op() != std.Wait {
			at = hoist(c, a, at)
		} else if at.Precedes(a) {
			at = a
		}
	}
	if err := at.Append(n); err != nil {
		c.Refuse(n, err.Error())
	}
	return n
}
