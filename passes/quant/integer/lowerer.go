package integer

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

// lowerer is one run of Lower. Nodes are visited once, in order: a dequantize that
// moves after a call is seen by those that follow.
type lowerer struct {
	c      *passes.Ctx
	params *passes.Params
	w      kernel.Workspace
	// What the graph writes.
	effects *graph.Effects
}

// overwritten returns an operand of a dequantize that the graph writes, nil for none:
// it must not be read later than it is.
func (l *lowerer) overwritten(d *graph.Node) *graph.Node {
	for b := range d.Inputs() {
		if l.effects.Overwritten(b) {
			return b
		}
	}
	return nil
}

// quantity is a dequantised operand: what dequantize reads.
type quantity struct {
	q, scale, zero *graph.Node
	call           *graph.Node // the dequantize
}

// quantised returns what an operand dequantises; ok is false for others.
func quantised(n *graph.Node) (v quantity, ok bool) {
	if n == nil || n.Op() != std.Dequantize {
		return v, false
	}
	return quantity{q: n.Arg(0), scale: n.Arg(1), zero: n.Arg(2), call: n}, true
}

// params returns the scale and the zero point of a quantize or dequantize.
func params(n *graph.Node) (scale, zero *graph.Node) { return n.Arg(1), n.Arg(2) }

// same reports whether two nodes have one value, or are both absent.
func (l *lowerer) same(a, b *graph.Node) bool {
	return a == b || a != nil && b != nil && a.Opcode() == graph.GetAttr && b.Opcode() == graph.GetAttr &&
		a.Target() == b.Target() && !a.Live() && !b.Live() && !l.effects.WrittenState(a.Target())
}

// one reports whether a scale or a zero point is of a whole tensor.
func one(n *graph.Node) bool {
	return n == nil || n.Type().Ranked() && (n.Type().Rank() == 0 || n.Type().Rank() == 1 && n.Type().Dim(0).Is(1))
}

// notWhole says why an operand is not a tensor of 8 bits with one scale, "" when it is.
func notWhole(name string, v quantity) string {
	if d := v.q.Type().DType(); d != array.U8 && d != array.I8 {
		return name + " is dequantised from " + d.String() + ", expected u8 or i8"
	}
	if d := v.call.Type().DType(); d != array.F32 {
		return name + " is dequantised to " + d.String() + ", expected f32"
	}
	if !v.q.Type().Ranked() {
		return "the rank of " + name + " is not known"
	}
	if !one(v.scale) || !one(v.zero) {
		return name + " has a scale or a zero point for each index of an axis, expected one of each"
	}
	return ""
}

// user returns the only user of a value, nil when there are none or several.
func user(n *graph.Node) *graph.Node {
	if n.NumUses() != 1 {
		return nil
	}
	for u := range n.Users() {
		return u
	}
	return nil
}

// ending is what follows a call: a dequantised residual, an activation that integer
// operators have, and the quantize that ends the float part; nil where there is none.
type ending struct {
	residual quantity
	relu     bool
	max      float64
	quantize *graph.Node
}

// makesBytes reports whether a quantize makes 8 bits of f32, with one scale.
func makesBytes(q *graph.Node) bool {
	d := q.Type().DType()
	return (d == array.U8 || d == array.I8) && q.Arg(0).Type().DType() == array.F32 && one(q.Arg(1)) && one(q.Arg(2))
}

// follow finds the ending of a call, with a residual where sum says so.
func (l *lowerer) follow(n *graph.Node, sum bool) (e ending) {
	u := user(n)
	if v, ok := l.residual(n, u); ok && sum {
		e.residual, u = v, user(u)
	}
	if u != nil {
		if relu, limit, ok := activation(u); ok {
			e.relu, e.max = relu, limit
			u = user(u)
		}
	}
	if u == nil || u.Op() != std.Quantize || !makesBytes(u) {
		return ending{}
	}
	e.quantize = u
	return e
}

// residual returns what u, the user of n, adds to it, if that is dequantised and of its
// sizes.
func (l *lowerer) residual(n, u *graph.Node) (v quantity, ok bool) {
	if u == nil || u.Op() != std.Add || u.NumArgs() != 2 || u.Arg(1) == nil || !u.Op().Codec().Equal(u.Attrs(), std.AddAttrs{}) {
		return v, false
	}
	other := u.Arg(0)
	if other == n {
		other = u.Arg(1)
	}
	if v, ok = quantised(other); !ok || notWhole("the residual", v) != "" || l.overwritten(v.call) != nil {
		return v, false
	}
	return v, n.Type().Ranked() && v.q.Type().Dims().Same(n.Type().Dims())
}

// activation reports whether a call limits its operand from 0, or from 0 to a maximum.
func activation(n *graph.Node) (relu bool, limit float64, ok bool) {
	switch a := n.Attrs().(type) {
	case std.ClampAttrs:
		lo, hi := a.Min, a.Max
		if n.Op() == std.Clamp && n.NumArgs() == 1 && lo.Present() && lo.Float64() == 0 && (!hi.Present() || hi.Float64() > 0) {
			if hi.Present() {
				limit = hi.Float64()
			}
			return true, limit, true
		}
	default:
		switch n.Op() {
		case std.Relu:
			return true, 0, true
		case std.Relu6:
			return true, 6, true
		}
	}
	return false, 0, false
}

// replace puts by in the place of old, and removes what only old read.
func (l *lowerer) replace(old, by *graph.Node, why string) error {
	args := old.Args()
	if err := l.c.Replace(old, by, why); err != nil {
		return err
	}
	passes.SweepUnused(args)
	return nil
}

// store adds a parameter and reads it.
func (l *lowerer) store(c *graph.Cursor, hint string, a *array.Array) *graph.Node {
	path := l.c.Module.FreshPath(hint)
	l.c.Module.SetParam(graph.Param{Path: path, Value: a, Buffer: true})
	return c.GetAttr(path)
}

// constants returns the scale and the zero point of a quantize or dequantize, where
// they are the same in every run, and else why not; an absent zero point is nil.
func (l *lowerer) constants(n *graph.Node) (scale, zero *array.Array, why string) {
	if _, scale, why = l.params.Constant(n, 1); why != "" {
		return nil, nil, why
	}
	_, zero, why = l.params.Constant(n, 2)
	return scale, zero, why
}
