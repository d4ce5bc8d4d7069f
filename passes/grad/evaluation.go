package grad

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
)

// madeForEvaluation notes the calls between targets and loss that nobody trains as they
// are: those in evaluation mode and those on quantised values. All are looked at before any
// is expanded: what a call in training mode is written with may look like evaluation.
func (d *differentiation) madeForEvaluation() {
	d.noted = map[*graph.Node]bool{}
	if d.AllowEvaluation {
		return
	}
	var from []*graph.Node
	for _, t := range d.wrt {
		from = append(from, t.nodes...)
	}
	on := d.between(from)
	for n := range d.g.All() {
		if !n.Opcode().IsCall() || n.Op() == nil {
			continue
		}
		switch {
		case (on[n] || d.depends[n]) && quantised(n.Op()):
			d.noted[n] = true
			d.fault(n.Error(Quantised, "the gradient goes through "+n.Op().Name+", which quantisation makes").
				WithHint("differentiate the graph before it is quantised, or set AllowEvaluation to keep integer weights as they are"))
		case d.depends[n] && evaluates(n):
			d.noted[n] = true
			d.fault(n.Error(EvaluationMode, n.Op().Name+" is in evaluation mode").
				WithHint("capture the model in training mode, or set AllowEvaluation to train it with these statistics and without dropout"))
		}
	}
}

// evaluates reports whether a call is in evaluation mode. Statistics that are computed of
// what is normalised are those of a batch: a norm in training, written out.
func evaluates(n *graph.Node) bool {
	if !n.Op().HasModes() || n.Op().Training(n.Attrs()) {
		return false
	}
	for _, a := range n.Args()[1:] {
		if a != nil && a.Opcode().IsCall() && reaches(n.Arg(0), a) {
			return false
		}
	}
	return true
}

// reaches reports whether a value is computed of another one.
func reaches(x, y *graph.Node) bool {
	seen := map[*graph.Node]bool{}
	var visit func(n *graph.Node) bool
	visit = func(n *graph.Node) bool {
		if n == x {
			return true
		}
		if seen[n] {
			return false
		}
		seen[n] = true
		for a := range n.Inputs() {
			if visit(a) {
				return true
			}
		}
		return false
	}
	return visit(y)
}

// quantised reports whether calls of an operator are on quantised values, or make them.
func quantised(o *op.Op) bool {
	return o.HasReference() || o.Narrow && o.Quant == op.QuantNever && o.Class != op.Movement
}

// between finds the nodes on ways from some to what is differentiated, of whatever type.
func (d *differentiation) between(from []*graph.Node) map[*graph.Node]bool {
	after := map[*graph.Node]bool{}
	for _, n := range from {
		after[n] = true
	}
	for n := range d.g.Nodes() {
		for a := range n.Inputs() {
			after[n] = after[n] || after[a]
		}
	}
	before, on := map[*graph.Node]bool{}, map[*graph.Node]bool{}
	for _, i := range d.seeded {
		before[d.g.Output().Arg(i)] = true
	}
	for n := range d.g.Backward() {
		if !before[n] {
			continue
		}
		if after[n] {
			on[n] = true
		}
		for a := range n.Inputs() {
			before[a] = true
		}
	}
	return on
}

// unreached is the mistake that no derivative comes back to a target. Where the loss
// depends on it all the same, it names the call at which floats end, that counts as constant, or
// that changes in steps only.
func (d *differentiation) unreached(t target) *diag.Error {
	on := d.between(t.nodes)
	for n := range d.g.Nodes() {
		if !on[n] || !n.Opcode().IsCall() {
			continue
		}
		if n.Op() != nil && n.Op().StopsGrad() {
			return n.Error(Unreached, "the loss depends on "+t.name+" through "+n.Target()+" only, which counts as constant").
				WithHint("leave " + t.name + " out, or set AllowUnused for a gradient of zeros")
		}
		if yes, known := isFloat(n.Type()); known && !yes {
			return n.Error(Unreached, "the loss depends on "+t.name+" through "+n.Target()+" only, whose result is "+n.Type().String()).
				WithHint("a derivative needs floats: leave " + t.name + " out, or set AllowUnused for a gradient of zeros")
		}
	}
	for n := range d.g.Nodes() {
		if _, flow := itemOf(n); flow || len(n.Regions()) > 0 {
			continue // a loop or branch may pass on what others gave it
		}
		if on[n] && n.Opcode().IsCall() && d.adjoint[n] != nil {
			return n.Error(Unreached, "the loss depends on "+t.name+" through "+n.Target()+" only, which changes in steps").
				WithHint("leave " + t.name + " out, or set AllowUnused for a gradient of zeros")
		}
	}
	return d.about(t, Unreached, "the loss does not depend on "+t.name).WithHint("leave it out, or set AllowUnused for a gradient of zeros")
}
