package quant

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant/internal/form"
	"github.com/gofx-dev/gofx/shape"
)

// resolution is a plan with the nodes that it speaks of.
type resolution struct {
	*resolver
	plan  *Plan
	units []*unit // those that are quantised, in the order of their last nodes
}

// resolver decides.
type resolver struct {
	module   *graph.Module
	g        *graph.Graph
	config   *Config
	backend  *Backend
	known    map[*op.Op]*Operator
	rules    *rules
	params   *passes.Params
	effects  *graph.Effects
	verdicts map[*graph.Node]*verdict
	values   map[*graph.Node]*ranged
	order    []*ranged            // in the order in which they were asked for
	infinite map[*graph.Node]bool // values that were seen infinite, which have no range
}

// verdict is what is decided about the operator of a node.
type verdict struct {
	asked
	mode Mode // granted
	unit *unit
	why  []Why
}

func (v *verdict) refuse(r Reason, text string) *verdict {
	v.why = append(v.why, Why{r, text})
	return v
}

// unit is one operator, with those that are fused with it, that runs quantised.
type unit struct {
	*Operator
	asked
	head, tail *graph.Node
	members    []*graph.Node // head to tail
	stages     int           // of Fused that are after the tail
	mode       Mode
	operands   []use // that are quantised
	weights    []*weight
	result     bool // the result is quantised
}

// use is an operand of a node.
type use struct {
	user *graph.Node
	arg  int
}

func (u use) value() *graph.Node { return u.user.Arg(u.arg) }

// origin is the parameter that is the weight of a unit.
type origin struct {
	path  string
	value *array.Array // as it is stored quantised
	// turned tells that the axes of value are those of the parameter exchanged, right
	// that the unit takes value so.
	turned, right bool
}

// weight is how the weight of a unit is quantised.
type weight struct {
	origin
	arg     int // which operand it is
	dtype   array.DType
	bits    int
	kind    Granularity
	axis    int // of its channels
	group   int
	sym     Symmetry
	observe Observer
	why     []Why
}

// ranged is a value that gets parameters.
type ranged struct {
	node    *graph.Node
	scheme  Scheme // as asked
	dtype   array.DType
	sym     Symmetry
	observe Observer
	fixed   *op.Range // the range, where the operator fixes it
	by      string
	made    bool // its producer runs quantised, so that all users take it so
	group   int
	lead    *ranged // of the group; itself without one
	why     []Why
}

func (q *ranged) like(p *ranged) bool {
	return q.dtype == p.dtype && q.sym == p.sym && q.observe == p.observe
}

// String returns "u8 affine, histogram".
func (q *ranged) String() string {
	s := q.dtype.String() + " " + q.sym.String() + ", "
	if q.fixed != nil {
		return s + "fixed range"
	}
	return s + q.observe.String()
}

func (q *ranged) leader() *ranged {
	for q.lead != q {
		q.lead = q.lead.lead // halves the path for the next look
		q = q.lead
	}
	return q
}

func (q *ranged) join(p *ranged) { p.leader().lead = q.leader() }

// agree makes a member of a group like its first one.
func (q *ranged) agree(first *ranged, group int) {
	q.lead, q.group = first, group
	if q == first {
		return
	}
	if !q.like(first) {
		q.why = append(q.why, Why{OtherScheme, "its group is " + first.String()})
	}
	q.dtype, q.sym, q.observe = first.dtype, first.sym, first.observe
}

// unfit says why a node cannot be quantised whatever the backend can do.
func (r *resolver) unfit(n *graph.Node) (Reason, string, bool) {
	o, t := n.Op(), n.Type()
	if form.Recurrent[o] != nil && t.Kind() == shape.Tuple && t.Len() > 0 {
		t = t.Member(0) // the others are states, of its type
	}
	switch {
	case o == nil || o.AdHoc:
		return OpaqueCode, "", true
	case o.Structural():
		return Structure, "", true
	case t.Kind() == shape.Tuple:
		return TupleResult, t.String(), true
	case t.Kind() != shape.Tensor || t.DType() == array.Invalid || !t.Ranked():
		return UnknownType, t.String(), true
	case !t.DType().IsFloat():
		return NoFloats, t.String(), true
	case t.DType() != array.F32:
		return OtherFloats, t.String(), true
	case o.Quant == op.QuantNever:
		return NeverDeclared, "", true
	case passes.Training(n):
		return InTraining, "", true
	case n.Effect() != op.Pure:
		return NeverDeclared, o.Key() + " has effects, or gives other values in each run", true
	case r.effects.Overwritten(n):
		return WrittenMemory, "", true
	case r.isInfinite(n):
		return InfiniteValue, "", true
	}
	for i := range n.NumArgs() {
		if a := n.Arg(i); a != nil && r.isInfinite(a) {
			return InfiniteValue, "operand %" + a.Name(), true
		}
	}
	return 0, "", false
}

// isInfinite reports whether a value, or what it shows elements of, was seen infinite.
func (r *resolver) isInfinite(n *graph.Node) bool {
	for !r.infinite[n] {
		if n = n.Viewed(); n == nil {
			return false
		}
	}
	return true
}
