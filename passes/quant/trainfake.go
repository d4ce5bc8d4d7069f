package quant

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/quant/internal/form"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// fake writes the graph that is trained, or with nil settings the one that is evaluated.
func (t *trainee) fake() error {
	t.findPlaces()
	if err := t.prologue(); err != nil {
		return err
	}
	values, takes := t.takes()
	for _, q := range values {
		if err := t.value(q, takes[q.node]); err != nil {
			return err
		}
	}
	for _, u := range t.units {
		if u.mode == Dynamic {
			if err := t.dynamicRanges(u); err != nil {
				return err
			}
		}
		for _, w := range u.weights {
			if err := t.weight(u, w); err != nil {
				return err
			}
		}
		t.ctx.Rewrote(u.head, nil, "fake-quantised: "+u.mode.String())
	}
	for _, f := range t.folds {
		if err := t.unfold(f); err != nil {
			return err
		}
	}
	if t.settings != nil {
		for n := range t.g.Nodes() {
			if err := t.normOfItsOwn(n); err != nil {
				return err
			}
		}
		t.write()
	}
	t.module.DropUnused()
	return nil
}

// findPlaces finds where the scales of groups of values come from.
func (t *trainee) findPlaces() {
	for _, q := range t.order {
		p := t.places[q.lead]
		if p == nil {
			p = &place{key: q.lead.node.Name(), fixed: true}
			t.places[q.lead] = p
		}
		p.fixed = p.fixed && q.fixed != nil && q.lead.fixed != nil && *q.fixed == *q.lead.fixed
		if q.fixed != nil {
			p.covers = op.Range{Lo: min(p.covers.Lo, q.fixed.Lo), Hi: max(p.covers.Hi, q.fixed.Hi)}
		} else if t.observed(q) {
			p.seen = append(p.seen, q.node.Name()+"."+seenState)
		}
	}
}

// prologue reads the state at the start of the graph, where all nodes can use it.
func (t *trainee) prologue() error {
	t.switches()
	for _, q := range t.order {
		p := t.places[q.lead]
		if q != q.lead || p.fixed {
			continue
		}
		for _, key := range p.seen {
			t.state(key, MinMax.nothingSeen(), true)
		}
		t.delta(p.key, array.New(array.F32))
	}
	for _, u := range t.units {
		for _, w := range u.weights {
			if _, known := t.steps[w.form()]; known {
				continue
			}
			key := keyOf(u, w)
			t.steps[w.form()] = key
			lo, hi := w.extremes(tensor.New(w.view(tensor.New(w.value)).Array()))
			t.state(key+".least", array.Clone(array.Contiguous(lo.Array())), true)
			t.state(key+".most", array.Clone(array.Contiguous(hi.Array())), true)
			t.delta(key, array.New(array.F32, lo.Shape()...))
		}
	}
	for _, f := range t.folds {
		for _, path := range f.paths() {
			t.param(path)
		}
		t.now[":"+f.from[normMean]], t.now[":"+f.from[normVariance]] = t.param(f.from[normMean]), t.param(f.from[normVariance])
	}
	if t.settings != nil {
		for n := range t.g.Nodes() {
			if mean, variance := runningStats(n); mean != "" {
				t.now[":"+mean], t.now[":"+variance] = t.param(mean), t.param(variance)
			}
		}
	}
	return t.missing.Err()
}

// delta reads what is learned of a scale, relative to what was observed.
func (t *trainee) delta(key string, zero *array.Array) {
	if t.settings != nil && t.settings.Observe > 0 || t.module.Param(statePath+"."+key+".delta") != nil {
		t.state(key+".delta", zero, false)
	}
}

// deltaAt returns what is learned of a scale, nil where nothing is: a constant while ranges are observed.
func (t *trainee) deltaAt(c *graph.Cursor, key string) *graph.Node {
	d := t.now[key+".delta"]
	if d == nil || t.observing == nil {
		return d
	}
	return c.Function(std.Where, std.WhereAttrs{}, t.observing, c.Function(std.Detach, nil, d), d)
}

// after returns a cursor after a value, after what the graph begins with for an input.
func (t *trainee) after(n *graph.Node) *graph.Cursor {
	if n.Opcode() != graph.Placeholder {
		return t.g.After(n)
	}
	return t.g.After(t.last).From(n)
}

// value puts fake_quantize after a value, where converter.value puts quantize and dequantize.
func (t *trainee) value(q *ranged, takes []use) error {
	c := t.after(q.node)
	scale, zero, err := t.valueSteps(q, c)
	if err != nil {
		return err
	}
	y := c.Function(std.FakeQuantize, std.FakeQuantizeAttrs{DType: q.dtype}, q.node, scale, zero)
	if q.node.Opcode() == graph.Placeholder {
		t.last = y
	}
	if q.made {
		q.node.ReplaceUses(y, y.Precedes)
		return nil
	}
	for _, o := range takes {
		o.user.SetArg(o.arg, y)
	}
	return nil
}

// valueSteps returns the scale and the zero point of a value, which is observed first.
func (t *trainee) valueSteps(q *ranged, c *graph.Cursor) (scale, zero *graph.Node, err error) {
	p := t.places[q.lead]
	if p.fixed {
		s, z := fixedParameters(*q.lead.fixed, q.dtype, q.sym)
		number := func(v float64) *graph.Node {
			return c.Function(std.Full, std.FullAttrs{Size: shape.ConstDims(), Value: op.Float(v), DType: array.F32})
		}
		return number(float64(s)), number(float64(z)), nil
	}
	if key := q.node.Name() + "." + seenState; t.settings != nil && slices.Contains(p.seen, key) {
		a := tensor.ObserveAttrs{}
		switch q.observe.Kind {
		case MinMax:
		case MovingAverage:
			a.Averaging = q.observe.Averaging
		default: // histograms are of values that stay as they are
			a.Averaging = Observer{}.or(MovingAverage).Averaging
		}
		next, err := t.one(c, func(in ...*tensor.Tensor) *tensor.Tensor { return in[0].Detach().Observe(in[1], a) }, q.node, t.now[key])
		if err != nil {
			return nil, nil, err
		}
		t.observe(c, key, next)
	}
	args := make([]*graph.Node, 0, len(p.seen)+1)
	for _, key := range p.seen {
		args = append(args, t.now[key])
	}
	if d := t.deltaAt(c, p.key); d != nil {
		args = append(args, d)
	}
	out, err := t.record(c, func(in ...*tensor.Tensor) []*tensor.Tensor {
		scale, zero := p.learned(q, in, t.gain(q.node.Type().Dims().Slice(), q.dtype))
		return []*tensor.Tensor{scale, zero}
	}, args...)
	if err != nil {
		return nil, nil, err
	}
	return out[0], out[1], nil
}

// observe replaces what has been seen while ranges are observed.
func (t *trainee) observe(c *graph.Cursor, key string, next *graph.Node) {
	if t.observing != nil {
		next = c.Function(std.Where, std.WhereAttrs{}, t.observing, next, t.now[key])
	}
	t.now[key] = next
}

// learned computes the scale and the zero point of a group of values from what its observers
// have seen and, last, what was learned.
func (p *place) learned(q *ranged, in []*tensor.Tensor, gain float64) (scale, zero *tensor.Tensor) {
	seen, delta := in[:len(p.seen)], (*tensor.Tensor)(nil)
	if len(in) > len(seen) {
		delta = in[len(seen)]
	}
	lo, hi := seen[0].Select(0, 0), seen[0].Select(0, 1)
	for _, s := range seen[1:] {
		lo, hi = tensor.Minimum(lo, s.Select(0, 0)), tensor.Maximum(hi, s.Select(0, 1))
	}
	least, most := byteRange(q.dtype)
	l := levels{least: least, most: most, symmetric: q.sym == Symmetric, half: 127}
	return l.steps(lo.MinimumScalar(p.covers.Lo), hi.MaximumScalar(p.covers.Hi), delta, gain)
}

// levels are the integers that a range is mapped to.
type levels struct {
	least, most float64
	symmetric   bool
	half        float64 // steps on either side of the middle, where symmetric
}

// steps computes scale and zero point of ranges, as parameters does, over tensors of f64, and
// multiplies the scale by 1 + delta. Learning keeps a zero point where it was observed.
func (l levels) steps(lo, hi, delta *tensor.Tensor, gain float64) (scale, zero *tensor.Tensor) {
	lo, hi = lo.MinimumScalar(0), hi.MaximumScalar(0)
	var s *tensor.Tensor
	if l.symmetric {
		s = tensor.Maximum(lo.Neg(), hi).DivScalar(l.half)
	} else {
		s = hi.Sub(lo).DivScalar(l.most - l.least)
	}
	s = s.Clamp(0x1p-126, math.MaxFloat32).MaskedFill(s.EqScalar(0), 1)
	scale = s.Cast(array.F32)
	if l.symmetric {
		zero = scale.ZerosLike().AddScalar(math.Ceil((l.least + l.most) / 2))
	} else {
		zero = lo.Div(scale.Cast(array.F64)).Neg().AddScalar(l.least).Round().Clamp(l.least, l.most).Cast(array.F32)
	}
	if delta != nil {
		if fixed := delta.Detach(); gain != 1 {
			delta = fixed.Add(delta.Sub(fixed).MulScalar(gain)) // the same number, with a smaller gradient
		}
		scale = scale.Mul(delta.Clamp(-0.9375, 15).AddScalar(1))
	}
	return scale, zero
}

// gain is what the gradient of a scale is multiplied by: 1/sqrt(elements · the largest integer),
// by which Esser et al. bring the steps of a scale and of the weights to one size; 1 where
// nothing is trained. The batch does not count.
func (t *trainee) gain(dims []shape.Dim, d array.DType) float64 {
	if t.settings == nil {
		return 1
	}
	n := 1.0
	for i, d := range dims {
		if k, known := d.Int(); known && (i > 0 || len(dims) == 1) {
			n *= float64(k)
		}
	}
	_, most := byteRange(d)
	return 1 / math.Sqrt(max(n*most, 1))
}

// dynamicRanges fake-quantises operands by the range that they have in each run.
func (t *trainee) dynamicRanges(u *unit) error {
	if form.Recurrent[u.head.Op()] != nil || isQuantisedInParts(u.head) {
		return u.head.Error(NotPrepared, u.head.Op().Name+" in mode dynamic has no form that is trained").WithHint("exclude it, or give it mode weight_only")
	}
	for _, o := range u.operands {
		v := o.value()
		y := t.dynamic[v]
		if y == nil {
			c := t.after(v)
			parts := c.Function(std.DynamicQuantize, nil, c.Function(std.Detach, nil, v))
			y = c.Function(std.FakeQuantize, std.FakeQuantizeAttrs{DType: array.U8}, v, c.ItemNode(parts, 1), c.ItemNode(parts, 2))
			if v.Opcode() == graph.Placeholder {
				t.last = y
			}
			t.dynamic[v] = y
		}
		o.user.SetArg(o.arg, y)
	}
	return nil
}
