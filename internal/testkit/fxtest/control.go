package fxtest

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// RandomControl is RandomGraph with branches and loops, which are in each other up to depth 2:
// carried values of several types that bodies swap, drop and return twice, sequences, results
// that are operands, weights that bodies read, views. Decisions of the host follow from
// integers, or from floats that are not near each other.
func RandomControl(t *rapid.T) *graph.Module {
	g := graph.New("random")
	m := graph.NewModule(g)
	b := &randomGraph{t: t, m: m, c: g.At()}
	for i := range b.draw(1, 3, "inputs") {
		b.input(i)
	}
	b.param(0)
	for range b.draw(1, 3, "pieces") {
		for range b.draw(0, 4, "calls") {
			b.call()
		}
		b.control(2)
	}
	for range b.draw(0, 3, "calls") {
		b.call()
	}
	out := make([]*graph.Node, b.draw(1, 3, "results"))
	for i := range out {
		out[i] = b.pool[len(b.pool)-1-min(b.draw(0, 5, "result"), len(b.pool)-1)]
	}
	b.returns(out)
	return m
}

func (b *randomGraph) returns(out []*graph.Node) {
	s := &graph.Structure{Kind: graph.Results}
	for i := range out {
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	b.c.Output(s, out...)
}

// control makes a branch or a loop; depth is how deep others may be in it.
func (b *randomGraph) control(depth int) {
	count := len(b.pool)
	var n *graph.Node
	switch b.draw(0, 2, "control") {
	case 0:
		n = b.cond(depth)
	case 1:
		n = b.while(depth)
	default:
		n = b.scan(depth)
	}
	if n == nil {
		return
	}
	for i := range n.Regions()[len(n.Regions())-1].Output().NumArgs() {
		b.pool = append(b.pool, b.c.ItemNode(n, i))
	}
	// Some of the later nodes have these as operands.
	if len(b.pool)-count > 4 {
		b.pool = b.pool[:count+4]
	}
}

func (b *randomGraph) some(lo, hi int) []*graph.Node {
	list := make([]*graph.Node, b.draw(lo, hi, "operands"))
	for i := range list {
		list[i] = b.any()
	}
	return list
}

// region makes a region with inputs of some types, and calls in it.
func (b *randomGraph) region(name string, depth int, types []shape.Type) *randomGraph {
	r := &randomGraph{t: b.t, m: b.m}
	g := b.c.Graph().NewRegion(name)
	r.c = g.At()
	for i, t := range types {
		r.pool = append(r.pool, r.c.Placeholder(fmt.Sprintf("%s%d", name, i), t, nil))
	}
	for range b.draw(0, 4, "calls") {
		r.call()
	}
	if depth > 0 && b.draw(0, 2, "nested") == 0 {
		r.control(depth - 1)
	}
	return r
}

// like returns a value of a type, of which the pool must have one.
func (b *randomGraph) like(t shape.Type) *graph.Node {
	var same []*graph.Node
	for _, n := range b.pool {
		if n.Type().String() == t.String() {
			same = append(same, n)
		}
	}
	x, y := oneOf(b, "same", same...), oneOf(b, "same", same...)
	if b.draw(0, 2, "computed") > 0 {
		count := len(b.pool)
		o := oneOf(b, "binary", std.Maximum, std.Sub, std.Minimum)
		if b.try(o, nil, x, y) && b.pool[count].Type().String() == t.String() {
			return b.pool[count]
		}
	}
	return x
}

func types(list ...*graph.Node) []shape.Type {
	out := make([]shape.Type, len(list))
	for i, n := range list {
		out[i] = n.Type()
	}
	return out
}

// scalar makes a number of the graph.
func (b *randomGraph) scalar(d array.DType, v int) *graph.Node {
	return b.c.Function(std.Full, std.FullAttrs{Size: shape.ConstDims(), Value: op.Int(int64(v)), DType: d})
}

// answer makes a bool that does not hang on how floats are rounded.
func (b *randomGraph) answer() *graph.Node {
	x := b.any()
	if x.Type().DType() != array.Bool {
		f := b.c.Function(std.Cast, std.CastAttrs{DType: array.F32}, x)
		x = b.c.Function(std.Gt, std.BinaryAttrs{Other: op.Float(0.1234)}, f)
	}
	return b.c.Function(std.Any, std.ReduceAttrs{}, x)
}

func (b *randomGraph) cond(depth int) *graph.Node {
	in := b.some(1, 3)
	args := append([]*graph.Node{b.answer()}, in...)
	out := make([]shape.Type, b.draw(1, 3, "results"))
	for i := range out {
		out[i] = oneOf(b, "type", in...).Type()
	}
	var regions []*graph.Graph
	for _, name := range []string{"yes", "no"} {
		r := b.region(name, depth, types(in...))
		results := make([]*graph.Node, len(out))
		for i, t := range out {
			results[i] = r.like(t)
		}
		r.returns(results)
		regions = append(regions, r.c.Graph())
	}
	return b.c.Region(op.Cond, op.None{}, regions, args...)
}

func (b *randomGraph) while(depth int) *graph.Node {
	carried, constants := b.some(0, 3), b.some(0, 2)
	args := append([]*graph.Node{b.scalar(array.I64, b.draw(0, 2, "start"))}, carried...)
	carry := len(args)
	args = append(args, constants...)
	test := &randomGraph{t: b.t, m: b.m, c: b.c.Graph().NewRegion("test").At()}
	for i, t := range types(args...) {
		test.pool = append(test.pool, test.c.Placeholder(fmt.Sprintf("t%d", i), t, nil))
	}
	test.c.Output(nil, test.c.Function(std.Lt, nil, test.pool[0], test.scalar(array.I64, b.draw(0, 4, "rounds"))))
	r := b.region("body", depth, types(args...))
	results := []*graph.Node{r.c.Function(std.Add, nil, r.c.Graph().Inputs()[0], r.scalar(array.I64, 1))}
	for _, n := range carried {
		results = append(results, r.like(n.Type()))
	}
	r.returns(results)
	return b.c.Region(op.While, op.LoopAttrs{Carry: carry}, []*graph.Graph{test.c.Graph(), r.c.Graph()}, args...)
}

func (b *randomGraph) scan(depth int) *graph.Node {
	var seqs []*graph.Node
	for _, n := range append(b.some(1, 3), b.pool...) {
		rounds := n.Type().Dim(0)
		if n.Type().Rank() > 0 && (len(seqs) == 0 || len(seqs) < 3 && seqs[0].Type().Dim(0).Equal(rounds)) {
			seqs = append(seqs, n)
		}
	}
	if len(seqs) == 0 {
		return nil
	}
	carried, constants := b.some(0, 2), b.some(0, 2)
	args := append(append(append([]*graph.Node{}, carried...), seqs...), constants...)
	in := types(args...)
	for i := range seqs {
		t := in[len(carried)+i]
		in[len(carried)+i] = t.WithDims(t.Dims().Sub(1, t.Rank()))
	}
	r := b.region("round", depth, in)
	var results []*graph.Node
	for _, n := range carried {
		results = append(results, r.like(n.Type()))
	}
	for range b.draw(0, 2, "stacked") {
		if n := r.any(); n.Type().Rank() < maxRank {
			results = append(results, n)
		}
	}
	if len(results) == 0 {
		results = append(results, r.pool[0])
	}
	r.returns(results)
	return b.c.Region(op.Scan, op.LoopAttrs{Carry: len(carried), Seqs: len(seqs)}, []*graph.Graph{r.c.Graph()}, args...)
}
