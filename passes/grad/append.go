package grad

import (
	"context"
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// Append adds to a graph that is still being made the gradients of one of its values, a
// scalar, by others, and returns them in the order of wrt. What it adds goes to the
// cursor's place, after all that loss needs; nothing else of the graph changes. It is the
// same walk that ValueAndGrad makes, on a copy of what loss needs.
//
// A value in wrt may be an input, a call, or a read of a parameter, which stands for all
// reads of it. All are values of one graph, which may be a region: what lies around it
// counts as constant. Of o, Wrt and Loss mean nothing here. Mistakes are a diag.List,
// FX3090 to FX3098, and the graph is as it was then.
func Append(ctx context.Context, c *graph.Cursor, loss *graph.Node, wrt []*graph.Node, o Options) ([]*graph.Node, error) {
	p, err := partOf(loss, wrt)
	if err != nil {
		return nil, err
	}
	o.Wrt, o.Loss = nil, 0
	m, err := run(ctx, p.module, request{Options: o, values: true, by: p.by})
	if err != nil {
		return nil, err
	}
	made := p.copy(c, m.Graph)
	grads := make([]*graph.Node, len(wrt))
	for i, n := range wrt {
		grads[i] = made[p.index(n)]
	}
	return grads, nil
}

// part is what a loss needs of a graph, as a module of its own.
type part struct {
	module *graph.Module // its results are copies of values
	values []*graph.Node
	wrt    []*graph.Node // each once
	by     []int         // which of the values they are
}

func partOf(loss *graph.Node, wrt []*graph.Node) (*part, error) {
	p := &part{values: []*graph.Node{loss}}
	for _, n := range wrt {
		if p.index(n) < 0 {
			p.by, p.wrt = append(p.by, len(p.values)), append(p.wrt, n)
			p.values = append(p.values, n)
		}
	}
	needed := map[*graph.Node]bool{}
	for _, n := range p.values {
		needed[n] = true
	}
	given := len(p.values)
	for n := range loss.Graph().Backward() {
		if !needed[n] {
			continue
		}
		for a := range n.Inputs() {
			needed[a] = true
		}
		if n.Type().Kind() != shape.Tuple && !slices.Contains(p.values[:given], n) {
			p.values = append(p.values, n)
		}
	}
	var err error
	if p.module, err = graph.Extract(nil, p.values); err != nil {
		return nil, err
	}
	for _, i := range p.by {
		mark(p.module.Graph.Output().Arg(i))
	}
	return p, nil
}

// index returns where n stands among those by which is differentiated. Reads of one parameter
// are one.
func (p *part) index(n *graph.Node) int {
	return slices.IndexFunc(p.wrt, func(w *graph.Node) bool {
		return w == n || n.Opcode() == graph.GetAttr && w.Opcode() == graph.GetAttr && n.Target() == w.Target()
	})
}

// mark puts a copy into the place of a call by whose value is differentiated, so that the
// value stays apart from what the call is expanded to: from an operand that it may be, and
// from what other results of the call are computed from.
func mark(n *graph.Node) {
	if !n.Opcode().IsCall() {
		return
	}
	k := n.Graph().After(n).Function(std.Clone, nil, n)
	n.ReplaceUses(k, func(user *graph.Node) bool { return user != k })
}

// copy puts at the cursor what the gradients in g need and the values do not have, and
// returns the gradients.
func (p *part) copy(c *graph.Cursor, g *graph.Graph) []*graph.Node {
	out := g.Output().Args()
	stands := map[*graph.Node]*graph.Node{}
	for i, n := range out[:len(p.values)] {
		if stands[n] == nil {
			stands[n] = p.values[i]
		}
	}
	for _, i := range p.by {
		if n := out[i]; n.Op() == std.Clone && stands[n.Arg(0)] == nil {
			stands[n.Arg(0)] = p.values[i]
		}
	}
	needed := map[*graph.Node]bool{}
	for _, n := range out[len(p.values):] {
		needed[n] = true
	}
	for n := range g.Backward() {
		switch {
		case n.Opcode() == graph.Output || stands[n] != nil:
		case !needed[n]:
			stands[n] = nil // is not copied
		default:
			for a := range n.Inputs() {
				needed[a] = true
			}
		}
	}
	return c.GraphCopy(g, stands)[len(p.values):]
}
