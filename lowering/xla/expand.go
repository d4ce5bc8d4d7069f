package xla

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/expand"
)

// legalize expands calls until the emitter takes all: composite ones by their
// decompositions, others by the table of package expand.
func legalize(g *graph.Graph) error {
	return lowering.Legalize(g, Name, direct, expand.Table())
}

// with emits what a function writes with operators on args, for rules of which a part is what
// these say.
func (c *call) with(write func(b op.Builder, in []op.Value) op.Value, args ...*value) *value {
	g := graph.New("part")
	m, b := graph.NewModule(g), g.At()
	in := make([]op.Value, len(args))
	for i, t := range (&call{in: args}).types() {
		in[i] = b.Placeholder("x", t, nil)
	}
	b.Output(nil, write(b, in).(*graph.Node))
	e := &emitter{module: m, build: c.Builder, errs: &diag.List{}}
	if err := legalize(g); err != nil {
		e.errs.Add(err)
	}
	var out []*value
	if len(*e.errs) == 0 {
		out = e.graph(g, args)
	}
	if len(*e.errs) > 0 {
		refuse((*e.errs)[0].Msg)
	}
	return out[0]
}
