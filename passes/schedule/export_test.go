package schedule

import (
	"slices"
	"time"

	"github.com/gofx-dev/gofx/graph"
)

// Clock is Simulate of a graph without waits.
func Clock(g *graph.Graph, m Machine) time.Duration {
	return simulate(slices.Collect(g.Nodes()), depend(g), &m).Makespan
}
