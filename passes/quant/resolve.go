package quant

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/passes/quant/internal/form"
	"github.com/gofx-dev/gofx/shape"
)

// Resolve decides what of a configuration a backend can grant for the graph of a
// module, which is not changed: every call must be a call_function. A strict
// configuration that is not granted as a whole is an error that lists all refusals;
// the plan is returned as well. Observers of a prepared graph are passed over.
func Resolve(m *graph.Module, c *Config, b *Backend) (*Plan, error) {
	r, err := resolve(m, c, b, nil)
	if r == nil {
		return nil, err
	}
	return r.plan, err
}

func resolve(m *graph.Module, c *Config, b *Backend, seen []*observation) (*resolution, error) {
	errs := append(c.check(), b.check()...)
	if n := passes.Functional.Violation(m.Graph); n != nil {
		errs = append(errs, n.Error(passes.MissingFact, "the graph is not functional: "+n.Text()).WithHint(passes.Functional.Cure))
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	r := &resolver{module: m, g: m.Graph, config: c, backend: b, known: map[*op.Op]*Operator{}, rules: newRules(c), params: passes.NewParams(m, m.Graph),
		effects: graph.EffectsOf(m.Graph), verdicts: make(map[*graph.Node]*verdict, m.Graph.Len()), values: make(map[*graph.Node]*ranged, m.Graph.Len()), infinite: infinite(seen)}
	for i := range b.Operators {
		r.known[b.Operators[i].Op] = &b.Operators[i]
	}
	for n := range r.g.Nodes() {
		if n.Opcode().IsCall() && !observes(n) {
			r.verdicts[n] = r.judge(n)
		}
	}
	r.fuse()
	units := r.flow()
	r.findOtherForms(units)
	for _, u := range units {
		r.ask(u)
	}
	groups := r.group(units)
	out := &resolution{resolver: r, units: units, plan: &Plan{Backend: b.Name, Groups: groups}}
	out.write()
	if errs := r.rules.idle(); len(errs) > 0 {
		errs.Sort()
		return nil, errs
	}
	if c.Strict {
		errs := out.plan.refusals()
		errs.Sort()
		return out, errs.Err()
	}
	return out, nil
}

// Unit is an operator that a plan quantises.
type Unit struct {
	Node    *graph.Node
	Members []*graph.Node // the node, and those that are computed together with it
}

// Units returns what Convert would quantise of a prepared and calibrated graph, in the
// order of the last members. The nodes are those of a copy without observers.
func Units(prepared *graph.Module, c *Config, b *Backend) ([]Unit, error) {
	m := graph.Clone(prepared)
	seen, err := strip(m)
	if err != nil {
		return nil, err
	}
	r, err := resolve(m, c, b, seen)
	if err != nil {
		return nil, err
	}
	list := make([]Unit, len(r.units))
	for i, u := range r.units {
		list[i] = Unit{u.head, u.members}
	}
	return list, nil
}

// judge decides about the operator of n on its own.
func (r *resolver) judge(n *graph.Node) *verdict {
	v := &verdict{asked: r.rules.of(n)}
	o := n.Op()
	if v.Mode == Float {
		return v.refuse(NotAsked, "")
	}
	if reason, text, bad := r.unfit(n); bad {
		return v.refuse(reason, text)
	}
	entry := r.entry(o)
	if entry == nil {
		text := r.backend.Name + " has none of " + o.Key()
		if o.Composite() {
			text += ", it may have of what decompose makes of it"
		}
		return v.refuse(NoForm, text)
	}
	if entry.Faster != "" && !v.explicit {
		return v.refuse(FasterInFloat, entry.Faster)
	}
	u := &unit{Operator: entry, asked: v.asked, head: n, tail: n, members: []*graph.Node{n}, mode: v.Mode}
	if !entry.has(v.Mode) {
		// A lookup has no operand to quantise; its weight still can be. The states of a
		// recurrent network are quantised in each step or not at all.
		switch {
		case entry.has(Dynamic) && form.Recurrent[o] != nil:
			u.mode = Dynamic
		case entry.has(WeightOnly) && o.Quant == op.QuantWeighted:
			u.mode = WeightOnly
		default:
			return v.refuse(NoMode, r.backend.Name+" has "+o.Key()+" "+modes(entry.Modes))
		}
		v.refuse(NoMode, r.backend.Name+" has "+o.Key()+" "+modes(entry.Modes))
	}
	if !r.operandsOf(u, v) {
		return v
	}
	v.mode, v.unit = u.mode, u
	return v
}

func modes(list []Mode) string {
	var s []string
	for _, m := range list {
		s = append(s, m.String())
	}
	return strings.Join(s, " and ") + " only"
}

// entry returns what the backend can do with an operator. What only moves elements
// moves those of any type; an operator of the user's own computes in floats, on
// quantised values where its record does not forbid it.
func (r *resolver) entry(o *op.Op) *Operator {
	if e, ok := r.known[o]; ok {
		return e
	}
	var e *Operator
	both := []array.DType{array.U8, array.I8}
	switch {
	case o.Class == op.Movement && o.Quant == op.QuantShared:
		e = &Operator{Op: o, Modes: []Mode{Static}, Activations: both, Follows: true}
	case o.Path != "":
		e = &Operator{Op: o, Modes: []Mode{Static}, Activations: both, Follows: o.Quant == op.QuantShared}
		if i := slices.IndexFunc(o.In, func(a op.Operand) bool { return a.Name == "weight" }); o.Quant == op.QuantWeighted && i > 0 {
			e.Weight = Weight{Operand: i, DTypes: []array.DType{array.I8, array.U8}, Granularities: []Granularity{PerChannel, PerTensor}, Affine: true}
			e.Modes = append(e.Modes, WeightOnly)
		}
	}
	r.known[o] = e
	return e
}

// weightsOf finds the weights of a unit; false when there is something in the way.
func (r *resolver) weightsOf(u *unit, v *verdict) bool {
	n, o, can := u.head, u.head.Op(), u.Weight
	if !can.exists() {
		return true
	}
	for i := can.Operand; i < n.NumArgs() && (i == can.Operand || can.Rest); i++ {
		if i > can.Operand && (n.Arg(i) == nil || n.Arg(i).Type().Rank() != 2) {
			continue
		}
		from, why := r.origin(u, i)
		switch {
		case why == "" && from.path != "" && from.value.DType() == array.F32 && from.value.Rank() > 0 && (o.Quant == op.QuantWeighted || from.value.Rank() > 1):
			w, bad := u.weightOf(i, from)
			if bad != nil {
				v.refuse(bad.Reason, bad.Text)
				return false
			}
			u.weights = append(u.weights, w)
		case o.Quant == op.QuantWeighted || u.mode == WeightOnly:
			if why == "" {
				why = "its weight is no f32 parameter"
			}
			v.refuse(ComputedWeight, why)
			return false
		}
	}
	return true
}

// operandsOf finds the operands that the unit's operator takes quantised, and its
// weight; false when there is something in the way.
func (r *resolver) operandsOf(u *unit, v *verdict) bool {
	n, o := u.head, u.head.Op()
	if !r.weightsOf(u, v) {
		return false
	}
	if u.mode == WeightOnly {
		return u.weights != nil
	}
	for i, a := range n.Args() {
		if a == nil || slices.ContainsFunc(u.weights, func(w *weight) bool { return w.arg == i }) || o.Quant == op.QuantWeighted && i > 0 {
			continue
		}
		t := a.Type()
		if t.Kind() == shape.Tensor && t.DType() != array.F32 && (t.DType().IsFloat() || o.Class != op.Movement) {
			v.refuse(OtherFloats, "operand "+strconv.Itoa(i)+" is "+t.String())
			return false
		}
		if t.DType() != array.F32 {
			continue // the index of what moves elements
		}
		if r.effects.Overwritten(a) {
			v.refuse(WrittenMemory, "of operand "+a.String())
			return false
		}
		u.operands = append(u.operands, use{n, i})
	}
	if len(u.operands) == 0 {
		v.refuse(NoForm, "it has no operand of floats")
		return false
	}
	return true
}

// write makes the entries of the plan.
func (r *resolution) write() {
	weights := make(map[*graph.Node]*unit, len(r.units))
	for _, u := range r.units {
		weights[u.head] = u
	}
	r.plan.Entries = make([]Entry, 0, len(r.verdicts)+len(r.units)+len(r.values))
	for n := range r.g.All() {
		if observes(n) {
			continue
		}
		if n.Opcode().IsCall() {
			v := r.verdicts[n]
			if v == nil {
				v = &verdict{asked: r.rules.of(n)}
				v.refuse(InRegion, "")
				if v.Mode == Float {
					v.why[0].Reason = NotAsked
				}
			}
			granted, why := v.mode.String(), v.why
			if text := integer.FloatsOnly(n); v.mode == Static && text != "" {
				granted += ", computed in f32 between"
				why = append(slices.Clone(why), Why{Between, text})
			}
			r.add(n, Entry{Part: OperatorPart, Asked: v.asked.Mode.String(), By: v.by, Granted: granted, Why: why})
		}
		if u := weights[n]; u != nil {
			for _, w := range u.weights {
				r.add(n, Entry{Part: WeightPart, Param: w.path, Asked: u.asked.Weight.ask(), By: u.by, Granted: w.String(), Why: w.why})
			}
		}
		if q := r.values[n]; q != nil {
			r.add(n, Entry{Part: ValuePart, Asked: q.scheme.ask(), By: q.by, Granted: q.String(), Group: q.group, Why: q.why})
		}
	}
}

func (r *resolution) add(n *graph.Node, e Entry) {
	e.Node, e.Op, e.pos = n.Name(), form.OpName(n), n.Pos()
	r.plan.Entries = append(r.plan.Entries, e)
}
