package quant

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
)

// converter rewrites a graph.
type converter struct {
	*resolution
	ctx     *passes.Ctx
	at      map[*ranged]*parameter // of the leaders of groups
	stored  map[string]stored      // weights, by path, form and axis
	dynamic map[*graph.Node]*graph.Node
	learned map[*weight]*steps // of weights that were trained
}

// parameter is scale and zero point of the values of a group.
type parameter struct {
	seen        []*observation
	fixed       bool     // all values lie in the range that their operator fixes
	covers      op.Range // ranges that operators fix
	lo, hi      float64  // the range to quantise, where it is not fixed
	learned     *steps   // where training has found them
	scale, zero *graph.Node
}

// stored are the paths of a weight in its quantised form; zero is "" where all zero
// points are 0.
type stored struct{ weight, scale, zero string }
