package viewfuzz

import (
	"math/rand/v2"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// Symbols are the symbols of a chain's sizes.
var Symbols = []string{"A", "B"}

// chain is a graph that grows.
type chain struct {
	r    *rand.Rand
	c    *graph.Cursor
	bad  bool // the last call was refused
	pool []*graph.Node
	undo map[*graph.Node]call // the inverse of the view that a value was made by
}

type call struct {
	op    *op.Op
	attrs any
}

// Build returns the chain of a seed: inputs that define A and B, one or two of sizes that
// follow from them, and views with elementwise calls between.
func Build(seed uint64) *graph.Module {
	g := graph.New("views")
	m := graph.NewModule(g)
	v := &chain{r: rand.New(rand.NewPCG(seed, 25)), c: g.At(), undo: map[*graph.Node]call{}}
	v.c.OnError = func(error) { v.bad = true }
	for _, name := range Symbols {
		g.DefineSymbol(name, v.c.Placeholder(strings.ToLower(name), shape.TensorType(array.Bool, shape.Of(shape.Sym(name))), nil), 0)
	}
	x := v.c.Placeholder("x", shape.TensorType(array.F32, shape.Of(v.sizes()...)), nil)
	v.pool = append(v.pool, x)
	if v.r.IntN(3) == 0 {
		v.pool = append(v.pool, v.c.Placeholder("y", x.Type(), nil))
	}
	for range 3 + v.r.IntN(8) {
		v.step(v.pool[max(0, len(v.pool)-1-v.r.IntN(2)*v.r.IntN(3))])
	}
	last := v.pool[len(v.pool)-1]
	v.c.Output(&graph.Structure{Kind: graph.Results, Fields: []*graph.Structure{graph.Leaf(0), graph.Leaf(1)}},
		last, v.pool[max(0, len(v.pool)-1-v.r.IntN(4))])
	return m
}

// divisors make quotients that are the same for all small sizes, and such that are not.
var divisors = []int{2, 2, 3, 4, 5, 7, 16, 64, 64, 100}

// size is an expression of the symbols.
func (v *chain) size() shape.Dim {
	s := shape.Sym(Symbols[v.r.IntN(2)])
	k := divisors[v.r.IntN(len(divisors))]
	switch v.r.IntN(12) {
	case 0, 1:
		return s
	case 2:
		return s.AddInt(-1).FloorDivInt(k).AddInt(1) // of windows
	case 3:
		return s.FloorDivInt(k).AddInt(1)
	case 4:
		return s.Sub(s.FloorDivInt(k).MulInt(k)).AddInt(v.r.IntN(2)) // A%k
	case 5:
		return shape.Sym("A").Add(shape.Sym("B")).FloorDivInt(k).AddInt(1)
	case 6:
		return s.MulInt(1 + v.r.IntN(3)).AddInt(v.r.IntN(3))
	case 7:
		return shape.Sym("A").Mul(shape.Sym("B")).FloorDivInt(k).AddInt(1)
	}
	return shape.Const(1 + v.r.IntN(8))
}

// sizes are those of an input, at least one of which follows from symbols.
func (v *chain) sizes() []shape.Dim {
	dims := make([]shape.Dim, 2+v.r.IntN(3))
	for i := range dims {
		dims[i] = v.size()
	}
	dims[v.r.IntN(len(dims))] = v.size()
	return dims
}

// step adds a call of x.
func (v *chain) step(x *graph.Node) {
	rank := x.Type().Rank()
	switch n := v.r.IntN(24); {
	case n < 3:
		v.elementwise(x)
	case n < 8:
		v.permute(x)
	case n < 12:
		v.reshape(x)
	case n < 14 && rank > 1:
		k := v.r.IntN(rank - 1)
		v.view(x, call{std.Reshape, std.ReshapeAttrs{Shape: x.Type().Dims()}}, std.Flatten, std.FlattenAttrs{StartDim: k, EndDim: k + 1 + v.r.IntN(rank-k-1)})
	case n < 15:
		v.unflatten(x)
	case n < 16:
		k := v.r.IntN(rank + 1)
		v.view(x, call{std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(k)}}, std.Unsqueeze, std.DimAttrs{Dim: k})
	case n < 17 && rank > 0:
		k := v.r.IntN(rank)
		if x.Type().Dim(k).Is(1) {
			v.view(x, call{std.Unsqueeze, std.DimAttrs{Dim: k}}, std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(k)})
		}
	case n < 18 && rank < 6:
		v.expand(x)
	case n < 20 && rank > 0:
		v.cut(x)
	default:
		if u := v.undo[x]; u.op != nil {
			v.view(x, call{}, u.op, u.attrs)
		}
	}
}

// view adds a view of x, undone by u, unless its type rule refuses it.
func (v *chain) view(x *graph.Node, u call, o *op.Op, attrs any) *graph.Node {
	n := v.try(o, attrs, x)
	if n != nil {
		v.pool, v.undo[n] = append(v.pool, n), u
	}
	return n
}

// mostCost bounds the expressions of a value's number of elements.
const mostCost = 120

// try makes a call, nil where that is refused or its result has no sizes.
func (v *chain) try(o *op.Op, attrs any, in ...*graph.Node) *graph.Node {
	v.bad = false
	n := v.c.Function(o, attrs, in...)
	t := n.Type()
	known := t.Kind() == shape.Tuple || t.Kind() == shape.Tensor && t.Ranked()
	for i := 0; known && i < t.Rank(); i++ {
		known = !t.Dim(i).IsUnknown()
	}
	if known && t.Kind() == shape.Tensor { // plans refuse arithmetic with sizes beyond the limits of package shape
		count := t.Dims().Prod()
		known = !count.IsUnknown() && count.Cost() <= mostCost
	}
	if v.bad || !known {
		_ = n.Graph().Erase(n)
		return nil
	}
	return n
}

// elementwise adds a call that moves nothing.
func (v *chain) elementwise(x *graph.Node) {
	add := func(n *graph.Node) {
		if n != nil {
			v.pool, v.undo[n] = append(v.pool, n), v.undo[x]
		}
	}
	switch v.r.IntN(4) {
	case 0:
		add(v.try(std.Relu, nil, x))
	case 1:
		add(v.try(std.Neg, nil, x))
	case 2:
		for _, o := range v.pool {
			if o != x && o.Type().Same(x.Type()) {
				add(v.try(std.Add, nil, x, o))
				return
			}
		}
		add(v.try(std.Clone, nil, x))
	default:
		if x.Type().Rank() > 0 {
			k := v.r.IntN(x.Type().Rank())
			if part := v.try(std.Slice, std.SliceAttrs{Dim: k, Stop: shape.Const(1)}, x); part != nil && part.Type().Dim(k).Is(1) {
				add(v.try(std.Maximum, nil, x, part)) // broadcasts
			}
		}
	}
}

func (v *chain) permute(x *graph.Node) {
	rank := x.Type().Rank()
	if v.r.IntN(3) == 0 && rank > 1 {
		a := std.TransposeAttrs{Dim0: v.r.IntN(rank), Dim1: v.r.IntN(rank)}
		v.view(x, call{std.Transpose, a}, std.Transpose, a)
		return
	}
	if v.r.IntN(6) == 0 && rank > 1 {
		from, to := v.r.IntN(rank), v.r.IntN(rank)
		v.view(x, call{std.Movedim, std.MovedimAttrs{Source: op.IntList(to), Destination: op.IntList(from)}}, std.Movedim, std.MovedimAttrs{Source: op.IntList(from), Destination: op.IntList(to)})
		return
	}
	perm := v.r.Perm(rank)
	back := make([]int, rank)
	for i, d := range perm {
		back[d] = i
	}
	v.view(x, call{std.Permute, std.PermuteAttrs{Dims: op.IntList(back...)}}, std.Permute, std.PermuteAttrs{Dims: op.IntList(perm...)})
}

// reshape gives x sizes that are products of its own, often in another order, so that
// an apparent permutation is none.
func (v *chain) reshape(x *graph.Node) {
	var parts []shape.Dim
	for _, d := range x.Type().Dims().Slice() {
		if n, known := d.Int(); known && n > 3 && v.r.IntN(2) == 0 {
			for k := 2; k*k <= n; k++ {
				if n%k == 0 {
					parts, d = append(parts, shape.Const(k)), shape.Const(n/k)
					break
				}
			}
		}
		parts = append(parts, d)
	}
	if v.r.IntN(2) == 0 {
		v.r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	}
	var dims []shape.Dim
	for _, d := range parts {
		if n := len(dims); n > 0 && v.r.IntN(3) == 0 {
			dims[n-1] = dims[n-1].Mul(d)
			continue
		}
		if v.r.IntN(8) == 0 {
			dims = append(dims, shape.Const(1))
		}
		dims = append(dims, d)
	}
	if len(dims) > 0 && v.r.IntN(4) == 0 {
		dims[v.r.IntN(len(dims))] = shape.Const(-1)
	}
	if len(dims) <= 7 {
		v.view(x, call{std.Reshape, std.ReshapeAttrs{Shape: x.Type().Dims()}}, std.Reshape, std.ReshapeAttrs{Shape: shape.Of(dims...)})
	}
}

func (v *chain) unflatten(x *graph.Node) {
	if x.Type().Rank() == 0 || x.Type().Rank() > 5 {
		return
	}
	k := v.r.IntN(x.Type().Rank())
	d := x.Type().Dim(k)
	sizes := shape.ConstDims(-1, 2+v.r.IntN(3)) // often only a guard makes it fit
	if n := shape.Sym(Symbols[v.r.IntN(2)]); v.r.IntN(2) == 0 {
		if q, ok := d.DivExact(n); ok {
			sizes = shape.Of(n, q)
		}
	}
	v.view(x, call{std.Flatten, std.FlattenAttrs{StartDim: k, EndDim: k + 1}}, std.Unflatten, std.UnflattenAttrs{Dim: k, Sizes: sizes})
}

func (v *chain) expand(x *graph.Node) {
	dims := x.Type().Dims()
	for i := range dims.Len() {
		if dims.At(i).Is(1) {
			dims = dims.With(i, v.size())
		}
	}
	if v.r.IntN(2) == 0 {
		dims = shape.Of(shape.Const(1 + v.r.IntN(2))).Concat(dims)
	}
	v.view(x, call{}, std.Expand, std.ExpandAttrs{Shape: dims})
}

// cut takes a part of a dimension.
func (v *chain) cut(x *graph.Node) {
	k := v.r.IntN(x.Type().Rank())
	d := x.Type().Dim(k)
	switch v.r.IntN(7) {
	case 0:
		v.view(x, call{}, std.Slice, std.SliceAttrs{Dim: k, Stop: std.End, Step: divisors[v.r.IntN(len(divisors))]})
	case 1:
		v.view(x, call{}, std.Slice, std.SliceAttrs{Dim: k, Start: shape.Const(v.r.IntN(2)), Stop: std.End})
	case 2:
		v.view(x, call{}, std.Narrow, std.NarrowAttrs{Dim: k, Length: d.FloorDivInt(1 + v.r.IntN(2))})
	case 3:
		v.view(x, call{}, std.Select, std.SelectAttrs{Dim: k, Index: -v.r.IntN(2)})
	case 4:
		if x.Type().Rank() > 1 {
			v.view(x, call{}, std.Diagonal, std.DiagonalAttrs{Dim1: k, Dim2: (k + 1) % x.Type().Rank()})
		}
	case 5:
		v.item(x, std.Chunk, std.ChunkAttrs{Chunks: 2, Dim: k}, 2)
	default:
		if n, known := d.Int(); known && n > 1 {
			v.item(x, std.Split, std.SplitAttrs{Sizes: shape.ConstDims(1, n-1), Dim: k}, 2)
		}
	}
}

// item takes a member out of a tuple of views.
func (v *chain) item(x *graph.Node, o *op.Op, attrs any, count int) {
	if t := v.try(o, attrs, x); t != nil {
		n := v.c.ItemNode(t, v.r.IntN(count))
		v.pool, v.undo[n] = append(v.pool, n), call{}
	}
}
