package xla

import (
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/expand"
	"github.com/gofx-dev/gofx/shape"
)

// expansions say what is written for operators without a rule.
var expansions = expand.Table()

// legalize expands calls until the emitter takes all: composite ones by their
// decompositions, others by the table of package expand.
func legalize(g *graph.Graph) error {
	if err := returnTupleMembers(g); err != nil {
		return err
	}
	return lowering.Legalize(g, Name, direct, expansions)
}

// returnTupleMembers makes a graph return the members of tuples one by one: the calls that have given
// these may be expanded.
func returnTupleMembers(g *graph.Graph) error {
	out := g.Output()
	if out == nil || !slices.ContainsFunc(out.Args(), isTuple) {
		return nil
	}
	var list []*graph.Node
	c := g.Before(out)
	for _, a := range out.Args() {
		if !isTuple(a) {
			list = append(list, a)
			continue
		}
		for i := range a.Type().Len() {
			list = append(list, c.ItemNode(a, i))
		}
	}
	s := &graph.Structure{Kind: graph.Results}
	for i := range list {
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	if err := g.Erase(out); err != nil {
		return err
	}
	g.At().Output(s, list...)
	return nil
}

func isTuple(n *graph.Node) bool { return n.Type().Kind() == shape.Tuple }

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
