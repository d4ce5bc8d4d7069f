package quant

import (
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant/internal/form"
)

// Convert returns the pass quant-convert, which removes the observers of a prepared
// graph and writes its quantised form with the same configuration and backend:
// quantize and dequantize around the operators that are granted, weights stored in 8
// or 4 bits after dequantize. Operators compute in floats, so that the result runs
// in every engine; a target makes integer operators of it. Nothing needs to be
// prepared for modes dynamic and weight_only.
func Convert(c *Config, b *Backend) passes.Pass {
	return passes.Pass{
		Name: "quant-convert", Doc: "Writes the quantised form of a calibrated graph: quantize and dequantize around operators.",
		Whole: true, Order: []passes.Before{{First: "quant-convert", Then: "quant-lower", Why: "integer operators are made of the quantised form"}},
		Requires: []passes.Fact{passes.Functional, passes.Flat},
		Run: func(ctx *passes.Ctx, g *graph.Graph) (bool, error) {
			seen, err := strip(ctx.Module)
			if err != nil {
				return false, err
			}
			if errs := nonFinite(seen, ""); len(errs) > 0 {
				return false, errs
			}
			r, err := resolve(ctx.Module, c, b, seen)
			if err != nil {
				return false, err
			}
			r.log(ctx)
			k := &converter{resolution: r, ctx: ctx, at: map[*ranged]*parameter{}, stored: map[string]stored{}, dynamic: map[*graph.Node]*graph.Node{}}
			if err := k.solve(seen); err != nil {
				return false, err
			}
			k.rewrite()
			ctx.Module.DropUnused()
			ctx.Note(r.plan.summary())
			return ctx.Matches() > 0 || len(seen) > 0, nil
		},
	}
}

// solve gives every group of values its parameters.
func (k *converter) solve(seen []*observation) error {
	at := map[*graph.Node]*observation{}
	for _, o := range seen {
		at[o.node] = o
	}
	var errs diag.List
	for _, q := range k.order {
		p := k.at[q.lead]
		if p == nil {
			p = &parameter{fixed: true}
			k.at[q.lead] = p
		}
		p.fixed = p.fixed && q.fixed != nil && q.lead.fixed != nil && *q.fixed == *q.lead.fixed
		switch o := observed(at, q.node); {
		case q.fixed != nil:
			p.covers = op.Range{Lo: min(p.covers.Lo, q.fixed.Lo), Hi: max(p.covers.Hi, q.fixed.Hi)}
		case !k.observed(q):
		case o == nil:
			errs = append(errs, q.node.Error(NotPrepared, "the value has no observer").
				WithHint("run quant-prepare with the same configuration and backend, after all other passes, and calibrate"))
		case o.empty():
			errs = append(errs, q.node.Error(Uncalibrated, "observer "+strconv.Quote(statePath+"."+q.node.Name())+" has seen nothing").
				WithHint("calibrate the prepared graph with inputs that reach the value"))
		default:
			p.seen = append(p.seen, o)
		}
	}
	if len(errs) == 0 {
		k.ranges()
	}
	return errs.Err()
}

// ranges finds the ranges of all groups, which do not depend on each other, on all
// processors.
func (k *converter) ranges() {
	var leads []*ranged
	for _, q := range k.order {
		if q.lead == q && !k.at[q].fixed {
			leads = append(leads, q)
		}
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(leads)) {
		all.Go(func() {
			s := nothing()
			for i := next.Add(1) - 1; int(i) < len(leads); i = next.Add(1) - 1 {
				q := leads[i]
				p := k.at[q]
				s.forget()
				for _, o := range p.seen {
					s.add(o)
				}
				lo, hi := s.interval(q.observe, q.sym)
				p.lo, p.hi = min(lo, p.covers.Lo), max(hi, p.covers.Hi)
			}
		})
	}
	all.Wait()
}

// observed returns what has been seen of a value, or of what it is a view of, whose
// elements it shows: those of a group have one observer.
func observed(at map[*graph.Node]*observation, n *graph.Node) *observation {
	for at[n] == nil && n.Viewed() != nil {
		n = n.Viewed()
	}
	return at[n]
}

// takes returns the values that get parameters, in the order of the graph, and where each is taken
// as a quantised operand.
func (r *resolution) takes() (values []*ranged, takes map[*graph.Node][]use) {
	for n := range r.g.Nodes() {
		if q := r.values[n]; q != nil {
			values = append(values, q)
		}
	}
	takes = map[*graph.Node][]use{}
	for _, u := range r.units {
		if u.mode != Static {
			continue
		}
		for _, o := range u.operands {
			takes[o.value()] = append(takes[o.value()], o)
		}
	}
	return values, takes
}

// rewrite writes the quantised form.
func (k *converter) rewrite() {
	values, takes := k.takes()
	for _, q := range values {
		k.value(q, takes[q.node])
	}
	for _, u := range k.units {
		to := form.Recurrent[u.head.Op()]
		switch {
		case u.mode == Dynamic && to != nil:
			k.recurrent(u, to)
			continue
		case u.mode == Dynamic && isQuantisedInParts(u.head):
			k.quantiseParts(u.head)
			continue
		case u.mode == Dynamic:
			k.useDynamicRanges(u.operands)
		}
		for _, w := range u.weights {
			k.weight(u.head, w)
		}
		if u.mode != Static || u.result {
			k.ctx.Rewrote(u.head, nil, "quantised: "+u.mode.String())
			continue
		}
		k.ctx.Rewrote(u.head, nil, "quantised: "+u.mode.String()+", the result is float")
	}
}

// value puts quantize and dequantize after a value: for all users where it comes
// quantised, else for those that take it so.
func (k *converter) value(q *ranged, takes []use) {
	c := cursorBehind(q.node)
	p := k.parameter(q, c)
	bytes := c.Function(std.Quantize, std.QuantizeAttrs{DType: q.dtype}, q.node, p.scale, p.zero)
	floats := c.Function(std.Dequantize, std.DequantizeAttrs{}, bytes, p.scale, p.zero)
	if q.made {
		q.node.ReplaceUses(floats, func(user *graph.Node) bool { return user != bytes })
		return
	}
	for _, o := range takes {
		o.user.SetArg(o.arg, floats)
	}
}

// parameter returns the parameters of a value's group, stored and read.
func (k *converter) parameter(q *ranged, c *graph.Cursor) *parameter {
	p := k.at[q.lead]
	if p.scale != nil {
		return p
	}
	var scale float32
	var zero int
	switch {
	case p.learned != nil:
		scale, zero = p.learned.scales[0], p.learned.zeros[0]
	case p.fixed:
		scale, zero = fixedParameters(*q.lead.fixed, q.dtype, q.sym)
	default:
		scale, zero = parameters(p.lo, p.hi, q.dtype, q.sym)
	}
	path := "quantised." + q.node.Name()
	p.scale = k.constant(c, path+".scale", array.Scalar(scale))
	p.zero = k.constant(c, path+".zero", zeroArray(zero, q.dtype))
	return p
}

// constant stores a tensor and returns a node that reads it.
func (k *converter) constant(c *graph.Cursor, path string, a *array.Array) *graph.Node {
	path = k.module.FreshPath(path)
	k.module.SetParam(graph.Param{Path: path, Value: a, Buffer: true})
	return c.GetAttr(path)
}

// isQuantisedInParts reports whether an operator is quantised by expanding it: of its parts,
// products take both operands by the range that they have.
func isQuantisedInParts(n *graph.Node) bool { return n.Op() == std.ScaledDotProductAttention }

func (k *converter) quantiseParts(n *graph.Node) {
	prev, next, name := n.Prev(), n.Next(), n.String()
	out, err := k.g.Expand(n)
	if err != nil || out == nil {
		k.ctx.Refuse(n, name+" stays in float: the rank of an operand is not known")
		return
	}
	k.ctx.Rewrote(n, out, "quantised: dynamic, its products")
	at := k.g.First()
	if prev != nil {
		at = prev.Next()
	}
	var operands []use
	for ; at != nil && at != next; at = at.Next() {
		if at.Op() == std.Matmul {
			operands = append(operands, use{at, 0}, use{at, 1})
		}
	}
	k.useDynamicRanges(operands)
}

// useDynamicRanges quantises operands by the range that they have in each run.
func (k *converter) useDynamicRanges(operands []use) {
	for _, o := range operands {
		v := o.value()
		d := k.dynamic[v]
		if d == nil {
			c := cursorBehind(v)
			parts := c.Function(std.DynamicQuantize, nil, v)
			q, scale, zero := c.ItemNode(parts, 0), c.ItemNode(parts, 1), c.ItemNode(parts, 2)
			d = c.Function(std.Dequantize, std.DequantizeAttrs{}, q, scale, zero)
			k.dynamic[v] = d
		}
		o.user.SetArg(o.arg, d)
	}
}
