package grad

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/expand"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// Way is how calls of an operator are differentiated.
type Way string

// The ways, in the order in which they are looked for.
const (
	ByRule          Way = "rule"
	ByExpression    Way = "expression"
	ByDecomposition Way = "decomposition"
	ByView          Way = "inverse of the view"
	ByExpansion     Way = "expansion"
	Stops           Way = "stops"
	NoWay           Way = ""
)

var table = expand.Table()

// How returns how calls of an operator are differentiated. Where they are not, why is the
// reason that the operator gives, or that none is written.
func How(o *op.Op) (way Way, why string) {
	switch {
	case o.StopsGrad():
		return Stops, "no gradient goes back through it, by intent"
	case o.HasGrad():
		return ByRule, ""
	case o.Smooth():
		return ByExpression, ""
	case o.Composite():
		return ByDecomposition, ""
	case o.Scatters() && o.ViewOf > 0:
		return ByView, ""
	case table[o] != nil && o.NoGrad() == "":
		return ByExpansion, ""
	case o.NoGrad() != "":
		return NoWay, o.NoGrad()
	case o.AdHoc:
		return NoWay, "it is a Go function, of which only its results are seen"
	}
	return NoWay, "no rule is written"
}

// prepare finds the calls that are differentiated and expands those that are
// differentiated as others, until none is left; it finds those that cannot be.
func (d *differentiation) prepare() error {
	d.spread()
	d.madeForEvaluation()
	var why map[*graph.Node]string
	for {
		d.spread()
		why = map[*graph.Node]string{}
		left := func(n *graph.Node) bool {
			way, _ := How(n.Op())
			return !d.depends[n] || way != ByDecomposition && way != ByExpansion || d.noted[n]
		}
		p := simplify.ExpandExcept(left, func(n *graph.Node, reason string) { why[n] = reason }, table)
		changed, err := p.Run(d.ctx, d.g)
		if err != nil {
			return err
		}
		if !changed {
			break
		}
	}
	for n := range d.g.All() {
		if d.depends[n] && n.Opcode().IsCall() && !d.noted[n] {
			if e := d.refused(n, why[n]); e != nil {
				d.fault(e)
			}
		}
	}
	return nil
}

// refused returns why a call cannot be differentiated, nil where it can.
func (d *differentiation) refused(n *graph.Node, unexpanded string) *diag.Error {
	o := n.Op()
	switch {
	case o == op.GetItem:
		return nil
	case len(n.Regions()) > 0:
		return d.refusedFlow(n)
	case n.Graph() != d.g && n.Effect() == op.Effectful:
		return nil // the call of control flow is refused for it
	case o == nil || o.Structural():
		return n.Error(op.NoGradient, "the gradient goes through a call of which nothing is known")
	}
	way, why := How(o)
	switch {
	case unexpanded != "":
		return n.Error(op.NoGradient, "the call cannot be differentiated: "+unexpanded)
	case way == ByDecomposition || way == ByExpansion:
		return n.Error(op.NoGradient, "the call cannot be differentiated: the rank of an operand is not known").WithHint("give the inputs' types")
	case way == NoWay:
		return n.Error(op.NoGradient, o.Name+" has no gradient: "+why).WithHint("use other operators, or Detach() for a value that counts as constant")
	}
	return nil
}

// spread finds the nodes between the targets and what is differentiated.
func (d *differentiation) spread() {
	a := newActivity()
	for _, t := range d.wrt {
		for _, n := range t.nodes {
			a.from[n] = true
		}
	}
	a.forward(d.g)
	for _, i := range d.seeded {
		a.to[d.g.Output().Arg(i)] = true
	}
	a.backward(d.g)
	d.depends = map[*graph.Node]bool{}
	for n := range d.g.All() {
		if a.depends(n) {
			d.depends[n] = true
		}
	}
}
