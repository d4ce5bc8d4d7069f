package tune

import (
	"context"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/count"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
)

// Cost says what the nodes of a graph take where a target runs it, by their names, in
// any unit that is the same for all graphs. cpu.QuantCost measures it.
type Cost func(ctx context.Context, m *graph.Module) (map[string]float64, error)

// part tells of nodes of quantised forms, by the name of its first node, which operator
// they are made of.
var part = graph.NewInheritedKey[string]("quantised operator")

// estimate weighs a node by what it computes, or by what it moves where that is more:
// about sixteen operations take as long as a byte.
func estimate(n *graph.Node) float64 {
	flops, _ := count.Flops(n).Int()
	bytes, _ := count.Bytes(n).Int()
	return max(float64(flops), 16*float64(bytes), 1)
}

// weigh finds the work of operators: what quantising them saves, where there is a cost.
func (t *Trials) weigh(ctx context.Context, list []Sensitivity, cost Cost) error {
	float := graph.Clone(t.prepared)
	if err := quant.Strip(float); err != nil {
		return err
	}
	if cost == nil {
		byName := nodesByName(float.Graph)
		for i := range list {
			for _, n := range list[i].members {
				list[i].Work += estimate(byName[n])
			}
		}
		return nil
	}
	before, err := t.parts(ctx, float, list, cost)
	if err != nil {
		return err
	}
	quantised := graph.Clone(t.prepared)
	after, err := t.parts(ctx, quantised, list, cost, quant.Convert(t.excluding(nil), t.backend), integer.Lower)
	if err != nil {
		return err
	}
	for i, s := range list {
		list[i].Work = before[s.Node] - after[s.Node]
	}
	return nil
}

// parts returns what each operator takes of a graph after some passes.
func (t *Trials) parts(ctx context.Context, m *graph.Module, list []Sensitivity, cost Cost, behind ...passes.Pass) (map[string]float64, error) {
	byName := nodesByName(m.Graph)
	for _, s := range list {
		for _, n := range s.members {
			part.Set(byName[n], s.Node)
		}
	}
	if _, err := passes.Run(ctx, m, behind, passes.Options{}); err != nil {
		return nil, err
	}
	took, err := cost(ctx, m)
	if err != nil {
		return nil, err
	}
	sums := map[string]float64{}
	for n := range m.Graph.Nodes() {
		if of, ok := part.Get(n); ok {
			sums[of] += took[n.Name()]
		}
	}
	return sums, nil
}

// total returns what a form takes as a whole, lowered, with some operators in float.
func (t *Trials) total(ctx context.Context, float []Sensitivity, cost Cost) (sum float64, err error) {
	m, err := t.Convert(ctx, nodesOf(float)...)
	if err != nil {
		return 0, err
	}
	if _, err := passes.Run(ctx, m, []passes.Pass{integer.Lower}, passes.Options{}); err != nil {
		return 0, err
	}
	took, err := cost(ctx, m)
	for _, v := range took {
		sum += v
	}
	return sum, err
}

func nodesByName(g *graph.Graph) map[string]*graph.Node {
	names := make(map[string]*graph.Node, g.Len())
	for n := range g.Nodes() {
		names[n.Name()] = n
	}
	return names
}
