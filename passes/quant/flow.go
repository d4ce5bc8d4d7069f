package quant

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/quant/internal/form"
	"github.com/gofx-dev/gofx/shape"
)

// fuse lets units take in the operators after them that the backend computes
// together with them.
func (r *resolver) fuse() {
	for n := range r.g.Nodes() {
		v := r.verdicts[n]
		if v == nil || v.unit == nil || v.unit.mode != Static || v.unit.head != n {
			continue
		}
		for r.takeIn(v.unit) {
		}
	}
}

// takeIn makes the only user of the unit's result a member of it, where it can.
func (r *resolver) takeIn(u *unit) bool {
	n := r.onlyUser(u.tail)
	if n == nil || n.Type().DType() != array.F32 {
		return false
	}
	stage := slices.IndexFunc(u.Fused[u.stages:], func(list []*op.Op) bool { return slices.Contains(list, n.Op()) })
	if stage < 0 {
		return false
	}
	v := r.verdicts[n]
	if v == nil || v.asked.Mode != Static || v.unit != nil && v.unit.head != n {
		return false
	}
	if reason, _, bad := r.unfit(n); bad && reason != NoForm {
		return false
	}
	var more []use
	for i, a := range n.Args() {
		switch {
		case a == nil || a == u.tail:
			continue
		case a.Type().Kind() != shape.Tensor || a.Type().DType() != array.F32 || r.effects.Overwritten(a) || !a.Type().Dims().Same(u.tail.Type().Dims()):
			return false
		}
		more = append(more, use{n, i})
	}
	if codec := n.Op().Codec(); len(more) > 0 && !codec.Equal(n.Attrs(), codec.Zero()) {
		return false // a sum with a factor
	}
	u.stages += stage + 1
	u.operands = append(u.operands, more...)
	u.members = append(u.members, n)
	u.tail = n
	v.unit, v.mode = u, Static
	v.why = []Why{{Within, "computed with " + u.head.String()}}
	return true
}

// onlyUser returns the node that alone uses a value, once; nil when there is none.
func (r *resolver) onlyUser(n *graph.Node) *graph.Node {
	var only *graph.Node
	for u := range n.Users() {
		if observes(u) {
			continue
		}
		if only != nil || u.Opcode() == graph.Output {
			return nil
		}
		only = u
	}
	if only != nil && slices.Index(only.Args(), n) != len(only.Args())-1-slices.Index(reversed(only.Args()), n) {
		return nil
	}
	return only
}

func reversed(list []*graph.Node) []*graph.Node {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

// flow decides which units run quantised: products always; what follows only
// between quantised operators. It returns them in the order of their last nodes.
func (r *resolver) flow() []*unit {
	var units []*unit
	for n := range r.g.Nodes() {
		if v := r.verdicts[n]; v != nil && v.unit != nil && v.unit.tail == n {
			units = append(units, v.unit)
		}
	}
	given := map[*graph.Node]bool{} // values that come quantised
	for _, u := range units {
		if u.mode != Static {
			continue
		}
		comes := slices.ContainsFunc(u.operands, func(o use) bool { return given[o.value()] })
		if comes || u.leads() {
			given[u.tail] = true
		}
	}
	wanted := map[*graph.Node]bool{} // values that are taken quantised
	var active []*unit
	for i := len(units) - 1; i >= 0; i-- {
		u := units[i]
		if u.mode == Static {
			if !u.leads() && !(given[u.tail] && wanted[u.tail]) {
				r.drop(u, given[u.tail])
				continue
			}
			if u.result = wanted[u.tail] || !u.FloatResult; !u.result {
				r.shorten(u)
			}
			for _, o := range u.operands {
				wanted[o.value()] = true
			}
		}
		active = append(active, u)
	}
	slices.Reverse(active)
	return active
}

// shorten takes the members that have operands of their own, and those after them,
// out of a unit with a float result: to quantise their operands would gain nothing.
func (r *resolver) shorten(u *unit) {
	end := slices.IndexFunc(u.members, func(n *graph.Node) bool {
		return n != u.head && slices.ContainsFunc(u.operands, func(o use) bool { return o.user == n })
	})
	if end < 0 {
		return
	}
	out := *u
	out.members = u.members[end:]
	r.drop(&out, true)
	u.members, u.tail = u.members[:end], u.members[end-1]
	u.operands = slices.DeleteFunc(u.operands, func(o use) bool { return slices.Contains(out.members, o.user) })
}

// findOtherForms gives weights that are quantised alone a reason where the parameter is stored in
// another form as well: that costs memory, which such weights are to save.
func (r *resolver) findOtherForms(units []*unit) {
	weights, readers := map[*graph.Node][]*weight{}, map[string][]*graph.Node{}
	for _, u := range units {
		weights[u.head] = u.weights
	}
	for n := range r.g.All() {
		if n.Opcode() != graph.GetAttr {
			continue
		}
		for u := range n.Users() {
			if form.Exchanged(u) == nil {
				readers[n.Target()] = append(readers[n.Target()], u)
				continue
			}
			for v := range u.Users() {
				readers[n.Target()] = append(readers[n.Target()], v)
			}
		}
	}
	for _, u := range units {
		if u.mode != WeightOnly {
			continue
		}
		for _, w := range u.weights {
			w.findOtherForm(weights, readers[w.path])
		}
	}
}

// findOtherForm looks for a reader of the parameter that needs it in another form.
func (w *weight) findOtherForm(weights map[*graph.Node][]*weight, readers []*graph.Node) {
	for _, n := range readers {
		others := weights[n]
		i := slices.IndexFunc(others, func(o *weight) bool { return o.path == w.path })
		switch {
		case i < 0:
			w.why = append(w.why, Why{OtherScheme, w.path + " is stored in floats too, for " + n.String()})
		case others[i].form() != w.form():
			w.why = append(w.why, Why{OtherScheme, w.path + " is stored as " + others[i].String() + " too, for " + n.String()})
		default:
			continue
		}
		return
	}
}

// leads reports whether the unit is quantised whatever is around it.
func (u *unit) leads() bool { return !u.Follows || u.explicit }

// drop leaves the members of a unit in float.
func (r *resolver) drop(u *unit, comes bool) {
	why := Why{Unused, "nothing in front of it is quantised"}
	if comes {
		why.Text = "nothing after it is quantised"
	}
	for _, n := range u.members {
		v := r.verdicts[n]
		v.why = slices.DeleteFunc(v.why, func(w Why) bool { return w.Reason == Within })
		v.unit, v.mode, v.why = nil, Float, append(v.why, why)
	}
}

// ask enters the values that a unit takes and gives.
func (r *resolver) ask(u *unit) {
	if u.mode != Static {
		return
	}
	for _, o := range u.operands {
		r.want(u, o.value(), o.user)
	}
	if u.result {
		r.want(u, u.tail, u.tail).made = true
		return
	}
	v := r.verdicts[u.tail]
	v.why = append(v.why, Why{FloatResult, ""})
}

// want enters a value n, as the first member of a unit that speaks of it asks.
func (r *resolver) want(u *unit, n, by *graph.Node) *ranged {
	a := r.verdicts[by].asked
	q := &ranged{node: n, scheme: a.Activation, by: a.by}
	q.lead = q
	s := a.Activation
	q.dtype, q.sym, q.observe = s.DType, s.Symmetry, s.Observer
	refuse := func(text string) { q.why = append(q.why, Why{NoScheme, text}) }
	if !slices.Contains(u.activations(), s.DType) {
		q.dtype = u.activations()[0]
		if s.DType != array.Invalid {
			refuse(r.backend.Name + " takes " + names(u.activations()))
		}
	}
	if s.Granularity == PerChannel {
		refuse("values have one scale")
	}
	if q.sym == AnySymmetry {
		q.sym = Affine
	}
	q.observe = q.observe.or(Histogram)
	if old := r.values[n]; old != nil {
		if !old.like(q) {
			text := by.String() + " asks for " + q.String()
			if !slices.ContainsFunc(old.why, func(w Why) bool { return w.Text == text }) {
				old.why = append(old.why, Why{OtherScheme, text})
			}
		}
		return old
	}
	if o := n.Op(); o != nil && o.Quant == op.QuantFixed {
		q.fixed = &o.Range
	}
	r.values[n] = q
	r.order = append(r.order, q)
	return q
}

// group finds the values that have equal parameters, because an operator only moves
// or chooses between elements, and lets the first member speak for all.
func (r *resolver) group(units []*unit) [][]string {
	for _, u := range units {
		if u.mode != Static || !u.result {
			continue
		}
		operands := u.operands
		switch o := u.head.Op(); {
		case u.Sharing == Own || u.Sharing == AsDeclared && o.Quant != op.QuantShared:
			continue
		case u.Sharing == AsDeclared && !o.Variadic():
			operands = operands[:1]
		}
		q := r.values[u.tail]
		for _, o := range operands {
			q.join(r.values[o.value()])
		}
	}
	members := map[*ranged][]*ranged{}
	for _, q := range r.order {
		l := q.leader()
		members[l] = append(members[l], q)
	}
	var groups [][]string
	for _, q := range r.order {
		list := members[q]
		if len(list) < 2 {
			continue
		}
		slices.SortFunc(list, func(a, b *ranged) int {
			if a == b {
				return 0
			}
			if a.node.Precedes(b.node) {
				return -1
			}
			return 1
		})
		var names []string
		for _, m := range list {
			names = append(names, m.node.Name())
			m.agree(list[0], len(groups)+1)
		}
		groups = append(groups, names)
	}
	return groups
}
