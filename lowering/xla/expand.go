package xla

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/passes/expand"
)

// legalize expands calls until the emitter takes all: composite ones by their
// decompositions, others by the table of package expand.
func legalize(g *graph.Graph) error {
	return lowering.Legalize(g, Name, direct, expand.Table())
}
