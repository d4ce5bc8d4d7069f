package lower

import (
	"maps"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// control lowers a call of cond, while or scan to a step with bodies.
func (b *Builder) control(n *graph.Node, args []*Operand) ([]*Operand, error) {
	if err := n.CheckControl(); err != nil {
		return nil, err
	}
	for _, t := range n.Type().Members() {
		if _, err := concrete(n, t); err != nil {
			return nil, err
		}
	}
	c := &call{b: b, n: n, in: args}
	switch n.Op() {
	case op.Cond:
		return c.cond()
	case op.While:
		return c.while()
	}
	return c.scan()
}

// body lowers a region over values that lie in buffers, and adds it to the bodies of f. end is given
// the results, and adds what becomes of them; it is not called when the region has errors. A body that
// cannot run with the sizes that it is given is an error when it runs; others are reported.
func (c *call) body(f *Flow, region int, args []*Operand, end func(out []*Operand) error) error {
	b := c.b
	outer, packs, before := b.Steps, maps.Clone(b.packs), len(b.errs)
	b.Steps = nil
	err := c.lowered(region, args, end)
	steps, errs := b.Steps, slices.Clone(b.errs[before:])
	b.Steps, b.errs = outer, b.errs[:before]
	errs.Add(err)
	f.Bodies, f.Wrong = append(f.Bodies, nil), append(f.Wrong, nil)
	switch {
	case len(errs) == 0:
		f.Bodies[region] = steps
		// What was packed in the body may not be there when others run, or be of another round.
		maps.DeleteFunc(b.packs, func(key string, v *Operand) bool { return packs[key] == nil && !b.Buffers[v.Buf].Setup })
	case bySizes(errs):
		f.Wrong[region], b.packs = errs[0], packs // its steps are not done
	default:
		return errs
	}
	return nil
}

// lowered makes the steps of a region.
func (c *call) lowered(region int, args []*Operand, end func(out []*Operand) error) error {
	b := c.b
	types := make([]shape.Type, len(args))
	for i, v := range args {
		types[i] = shape.TypeOf(v.Header)
	}
	m, err := lowering.PrepareRegion(b.m, c.n.Regions()[region], types)
	if err != nil {
		return c.unfit(region, err)
	}
	if err := Legalize(m.Graph, b.info.Doubles); err != nil {
		return err
	}
	b.Expanded += expanded(m.Graph)
	out, err := b.fold(m.Graph, args)
	if err != nil || slices.Contains(out, nil) {
		return err
	}
	return end(out)
}

// bySizes reports whether errors of a body follow from its sizes: others hold whatever these are.
func bySizes(errs diag.List) bool {
	return !slices.ContainsFunc(errs, func(e *diag.Error) bool { return e.Code == lowering.UnknownSize || e.Code == interp.NoParam })
}

// unfit is the error of a body that cannot run with its sizes, at the call in it that cannot.
func (c *call) unfit(region int, err error) error {
	var l diag.List
	l.Add(err)
	msg := "region " + c.n.Regions()[region].Name + " cannot run with these sizes: " + l[0].Msg
	e := *l[0]
	e.Code, e.Msg, e.Hint = interp.GuardFailed, msg, "give other sizes, or another condition"
	if e.Node == "" { // what the region relies on, which may have a place
		e.Node, e.Op = c.n.Name(), c.n.Op().Key()
		e.At(c.n.Pos())
	}
	return &e
}

// add adds the step of control flow; between are the buffers that it has between its bodies.
func (c *call) add(f *Flow, between ...int) {
	c.b.Steps = append(c.b.Steps, Step{Flow: f, Args: between, Node: c.n})
}

// rewritten returns a new value that steps write more than once.
func (b *Builder) rewritten(d array.DType, dims []int) *Operand {
	v := b.temp(d, dims)
	b.Buffers[v.Buf].rewritten = true
	return v
}

// fits reports results of a body that are not of the types of those that they become.
func (c *call) fits(got, want []*Operand) error {
	same := func(x, y *Operand) bool { return x.DType() == y.DType() && slices.Equal(x.Shape(), y.Shape()) }
	if !slices.EqualFunc(got, want, same) {
		return c.refuse("the results of its region have other types than its own")
	}
	return nil
}

// store has x written to another place: by what computes x, where nothing else wants that.
func (c *call) store(to, x *Operand, alone bool, m *Shift) {
	b := c.b
	at := len(b.Steps)
	if p := x.todo; p != nil && alone && (p.from == nil || m == nil) {
		b.store(p, x.Shape(), []*Operand{to})
	} else {
		b.place(x)
		c.copyTo(to, x)
	}
	if m != nil && len(b.Steps) > at {
		b.Steps[len(b.Steps)-1].Shift = m
	}
}

// sole reports which results of a region nothing else uses.
func sole(r *graph.Graph) []bool { return solitary(r.Output()) }

// answer returns the buffer of a bool that the host reads.
func (c *call) answer(v *Operand) (int, error) {
	if v.DType() != array.Bool || v.Header.Len() != 1 {
		return 0, c.refuse("its condition is " + shape.TypeOf(v.Header).String() + ", expected bool[]")
	}
	return c.b.dense(v).Buf, nil
}

func (c *call) cond() ([]*Operand, error) {
	test, err := c.answer(c.in[0])
	if err != nil {
		return nil, err
	}
	for i := range c.in {
		c.placed(i)
	}
	var out []*Operand
	for _, t := range c.n.Type().Members() {
		_, dims, _ := t.Concrete()
		out = append(out, c.b.rewritten(t.DType(), dims))
	}
	f := &Flow{Op: op.Cond, Test: test}
	for r, region := range c.n.Regions() {
		alone := sole(region)
		err := c.body(f, r, c.in[1:], func(got []*Operand) error {
			if err := c.fits(got, out); err != nil {
				return err
			}
			for i, x := range got {
				c.store(out[i], x, alone[i], nil)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	c.add(f, test)
	return out, nil
}

// begin returns the values that a loop carries, which hold the operands when it begins, and its
// operands that stay as they are, in order: rounds would copy views with gaps.
func (c *call) begin(carry, constant int) (carried, constants []*Operand) {
	alone := solitary(c.n)
	for i, x := range c.in[:carry] {
		v := c.b.rewritten(x.DType(), x.Shape())
		c.store(v, x, alone[i], nil)
		carried = append(carried, v)
	}
	for i := constant; i < len(c.in); i++ {
		constants = append(constants, c.dense(i))
	}
	return carried, constants
}

// next has the carried values become what a round made of them. Those that are one of them, or
// views of it, are copied before any is overwritten.
func (c *call) next(carried, got []*Operand) {
	for i, x := range got {
		c.b.place(x)
		switch {
		case x.Buf == carried[i].Buf && x.view().IsDense():
			got[i] = nil // stays what it is
		case slices.ContainsFunc(carried, func(v *Operand) bool { return v.Buf == x.Buf }):
			got[i] = c.b.copy(x)
		}
	}
	for i, x := range got {
		if x != nil {
			c.copyTo(carried[i], x)
		}
	}
}

func (c *call) while() ([]*Operand, error) {
	a := c.n.Attrs().(op.LoopAttrs)
	n := a.Carry
	carried, constants := c.begin(n, n)
	args := slices.Concat(carried, constants)
	f := &Flow{Op: op.While, Test: carried[0].Buf, Most: a.MaxTrips} // until the test is known
	err := c.body(f, 0, args, func(got []*Operand) (err error) {
		f.Test, err = c.answer(got[0])
		return err
	})
	if err != nil {
		return nil, err
	}
	err = c.body(f, 1, args, func(got []*Operand) error {
		if err := c.fits(got, carried); err != nil {
			return err
		}
		c.next(carried, slices.Clone(got))
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.add(f, f.Test)
	return carried, nil
}

// inRounds is an offset of views whose place depends on the round: any but 0, which kernels have
// no number for.
const inRounds = 1

func (c *call) scan() ([]*Operand, error) {
	a := c.n.Attrs().(op.LoopAttrs)
	f := &Flow{Op: op.Scan}
	for i := a.Carry; i < a.Carry+a.Seqs; i++ {
		rounds := c.in[i].Shape()[0]
		if i > a.Carry && rounds != f.Rounds {
			return nil, c.n.Error(op.SizeMismatch, "sequence "+strconv.Itoa(i-a.Carry)+" has "+strconv.Itoa(rounds)+
				" slices, expected as many as the first, "+strconv.Itoa(f.Rounds))
		}
		f.Rounds = rounds
	}
	var stacked []*Operand
	for i, t := range c.n.Type().Members() {
		if i >= a.Carry {
			_, dims, _ := t.Concrete()
			stacked = append(stacked, c.b.rewritten(t.DType(), dims))
		}
	}
	if f.Rounds == 0 {
		for i := range a.Carry {
			c.placed(i)
		}
		return slices.Concat(c.in[:a.Carry], stacked), nil
	}
	carried, constants := c.begin(a.Carry, a.Carry+a.Seqs)
	parts, cut := c.slices(a)
	alone := sole(c.n.Regions()[0])
	err := c.body(f, 0, slices.Concat(carried, parts, constants), func(got []*Operand) error {
		return c.round(carried, stacked, got, alone)
	})
	if err != nil {
		return nil, err
	}
	f.Bodies[0] = append(cut, f.Bodies[0]...)
	var between []int
	for _, v := range stacked {
		between = append(between, v.Buf)
	}
	c.add(f, between...)
	return slices.Concat(carried, stacked), nil
}

// slices returns a round's slices of sequences, and the steps that copy them.
func (c *call) slices(a op.LoopAttrs) (values []*Operand, cut []Step) {
	b, inputs := c.b, c.n.Regions()[0].Inputs()
	for i := a.Carry; i < a.Carry+a.Seqs; i++ {
		x := c.placed(i)
		h := x.Header
		v := b.rewritten(x.DType(), x.Shape()[1:])
		values = append(values, v)
		if inputs[i].NumUses() == 0 {
			continue
		}
		part := &Operand{Header: over(x.DType(), x.Shape()[1:], h.Strides()[1:], inRounds), Buf: x.Buf}
		outer := b.Steps
		b.Steps = nil
		c.store(v, part, false, &Shift{start: h.Offset(), stride: h.Strides()[0]})
		cut = append(cut, b.Steps...)
		b.Steps = outer
	}
	return values, cut
}

// round has what a round of a scan made written to its places in the stacked results, and the
// carried values become the new ones.
func (c *call) round(carried, stacked, got []*Operand, alone []bool) error {
	var rows []*Operand
	for _, v := range stacked {
		row := source.Dense(v.DType(), v.Shape()[1:])
		rows = append(rows, &Operand{Header: over(v.DType(), row.Shape, row.Strides, inRounds), Buf: v.Buf})
	}
	if err := c.fits(got, slices.Concat(carried, rows)); err != nil {
		return err
	}
	for i, row := range rows {
		k := len(carried) + i
		c.store(row, got[k], alone[k], &Shift{stride: row.Header.Len()})
	}
	c.next(carried, slices.Clone(got[:len(carried)]))
	return nil
}
