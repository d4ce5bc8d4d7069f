package xla

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
	"github.com/gofx-dev/gofx/op"
)

// body emits a region of a call on args, which b gives; weights are those that it reads.
func (e *emitter) body(c *call, r *graph.Graph, b *stablehlo.Builder, weights map[string]*value, args []*value) []*value {
	types := (&call{in: args}).types()
	m, err := lowering.PrepareRegion(e.module, r, types)
	if err == nil {
		err = legalize(m.Graph)
	}
	if err != nil {
		var l diag.List
		l.Add(err)
		for i, one := range l {
			if one.Node == "" { // of the region as a whole
				own := *one
				own.Node = c.node.Name()
				if own.Pos.String() == "" {
					own.Pos = c.node.Pos()
				}
				l[i] = &own
			}
		}
		*e.errs = append(*e.errs, l...)
		return nil
	}
	inner := &emitter{module: m, build: b, weights: weights, errs: e.errs}
	return inner.graph(m.Graph, args)
}

// checked refuses a call of control flow whose regions do not fit.
func checked(c *call) {
	if err := c.node.CheckControl(); err != nil {
		refuse(err.Msg)
	}
}

// cond emits the dialect's if, whose regions take no arguments and use values from around them.
func (e *emitter) cond(c *call) []*value {
	checked(c)
	var regions []*stablehlo.Region
	for _, r := range c.node.Regions() {
		b := stablehlo.NewBuilder()
		out := e.body(c, r, b, e.weights, c.in[1:])
		if !e.returns(out, c.out) {
			return stand(c.out)
		}
		regions = append(regions, b.Return(out...))
	}
	return c.Add(&stablehlo.Op{Name: "if", Operands: c.in[:1], Regions: regions})
}

// returns reports whether a body has given values of the types that the call has.
func (e *emitter) returns(out []*value, want []hlo) bool {
	if len(*e.errs) > 0 {
		return false
	}
	if !slices.EqualFunc(out, want, func(v *value, t hlo) bool { return v.Type.Equal(t) }) {
		refuse("the results of its region have other types than its own")
	}
	return true
}

// stand returns values that stand for results of a call that cannot be emitted.
func stand(types []hlo) []*value {
	var out []*value
	for _, t := range types {
		out = append(out, &value{Type: t})
	}
	return out
}

// read lists the weights that regions read, in a fixed order.
func (e *emitter) read(regions []*graph.Graph) (paths []string) {
	for _, r := range regions {
		for n := range r.All() {
			if n.Opcode() == graph.GetAttr && !slices.Contains(paths, n.Target()) {
				paths = append(paths, n.Target())
			}
		}
	}
	return paths
}

// loop emits the dialect's while. Carried values come first, what the regions only read
// follows them unchanged: constants, then weights. more and next get the carried and
// the constant values.
func (e *emitter) loop(c *call, carried, constant []*value, regions []*graph.Graph,
	more, next func(c *call, inner *emitter, v []*value) []*value) []*value {
	paths := e.read(regions)
	in := slices.Concat(carried, constant)
	known := len(in)
	for _, p := range paths {
		in = append(in, e.weights[p])
	}
	var types []hlo
	for _, v := range in {
		types = append(types, v.Type)
	}
	var bodies []*stablehlo.Region
	for _, f := range []func(*call, *emitter, []*value) []*value{more, next} {
		b := stablehlo.NewBuilder(types...)
		inner := &emitter{module: e.module, build: b, weights: map[string]*value{}, errs: e.errs}
		for i, p := range paths {
			inner.weights[p] = b.Arg(known + i)
		}
		out := f(&call{Builder: b, node: c.node, open: c.open}, inner, b.Region.Args[:known])
		if len(*e.errs) > 0 {
			return stand(c.out)
		}
		if len(bodies) == 1 {
			out = append(out, b.Region.Args[len(carried):]...)
		}
		bodies = append(bodies, b.Return(out...))
	}
	return c.Add(&stablehlo.Op{Name: "while", Operands: in, Regions: bodies})[:len(carried)]
}

func (e *emitter) while(c *call) []*value {
	checked(c)
	a, r := c.node.Attrs().(op.LoopAttrs), c.node.Regions()
	n := a.Carry
	if a.MaxTrips > 0 {
		refuse("StableHLO cannot refuse more than max_trips")
	}
	body := func(g *graph.Graph, want []hlo) func(*call, *emitter, []*value) []*value {
		return func(c *call, inner *emitter, v []*value) []*value {
			out := inner.body(c, g, c.Builder, inner.weights, v)
			inner.returns(out, want)
			return out
		}
	}
	return e.loop(c, c.in[:n], c.in[n:], r, body(r[0], []hlo{stablehlo.Of(array.Bool)}), body(r[1], c.out))
}

// scan is a while over a counter, the carried values and the results so far.
func (e *emitter) scan(c *call) []*value {
	checked(c)
	a := c.node.Attrs().(op.LoopAttrs)
	if a.Seqs == 0 {
		refuse("a scan without sequences")
	}
	i64 := stablehlo.Of(array.I64)
	seqs := c.in[a.Carry : a.Carry+a.Seqs]
	count := uint64(seqs[0].Type.Dims[0])
	if count == 0 { // no slice of an empty sequence could be written down
		out := slices.Clone(c.in[:a.Carry])
		for _, t := range c.out[a.Carry:] {
			out = append(out, c.Const(t, 0))
		}
		return out
	}
	carried := append([]*value{c.Const(i64, 0)}, c.in[:a.Carry]...)
	for _, t := range c.out[a.Carry:] {
		carried = append(carried, c.Const(t, 0))
	}
	more := func(c *call, _ *emitter, v []*value) []*value {
		return []*value{c.Compare("LT", v[0], c.Const(i64, count))}
	}
	next := func(k *call, inner *emitter, v []*value) []*value {
		zero := k.Const(i64, 0)
		first := func(rank int) []*value { return append([]*value{v[0]}, slices.Repeat([]*value{zero}, rank-1)...) }
		args := slices.Clone(v[1 : 1+a.Carry])
		rest := v[len(carried):]
		for _, s := range rest[:a.Seqs] {
			sizes := slices.Clone(s.Type.Dims)
			sizes[0] = 1
			part := k.Add(k.With("dynamic_slice", append([]*value{s}, first(len(sizes))...), "slice_sizes", stablehlo.Ints(sizes)))[0]
			args = append(args, k.Reshape(part, sizes[1:]...))
		}
		got := inner.body(k, k.node.Regions()[0], k.Builder, inner.weights, append(args, rest[a.Seqs:]...))
		want := slices.Clone(c.out)
		for i := a.Carry; i < len(want); i++ {
			want[i] = want[i].With(want[i].Dims[1:]...)
		}
		if !inner.returns(got, want) {
			return nil
		}
		out := append([]*value{k.Op("add", v[0], k.Const(i64, 1))}, got[:a.Carry]...)
		for i, x := range got[a.Carry:] {
			all := v[1+a.Carry+i]
			one := k.Reshape(x, append([]int{1}, x.Type.Dims...)...)
			out = append(out, k.Op("dynamic_update_slice", append([]*value{all, one}, first(all.Type.Rank())...)...))
		}
		return out
	}
	return e.loop(c, carried, c.in[a.Carry:], c.node.Regions(), more, next)[1:]
}
