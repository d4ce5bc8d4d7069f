package fxtest

import (
	"flag"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// RandomGraph draws a typed graph over elementwise operators, matrix products,
// reductions, joins and views: one to three inputs of rank 0 to 3 (the first
// dimension of the first one may be the symbol N), parameters, tuples, function
// and method calls, dead nodes, one to three results. Every call was accepted by
// its type rule without an assumption about sizes.
func RandomGraph(t *rapid.T) *graph.Module {
	return randomModule(t, (*randomGraph).call)
}

// randomModule draws a graph whose calls are made by call.
func randomModule(t *rapid.T, call func(b *randomGraph)) *graph.Module {
	g := graph.New("random")
	m := graph.NewModule(g)
	b := &randomGraph{t: t, m: m, c: g.At()}
	for i := range rapid.IntRange(1, 3).Draw(t, "inputs") {
		b.input(i)
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "params") {
		b.param(i)
	}
	for range rapid.IntRange(1, 24).Draw(t, "calls") {
		call(b)
	}
	out := make([]*graph.Node, rapid.IntRange(1, 3).Draw(t, "results"))
	s := &graph.Structure{Kind: graph.Results}
	for i := range out {
		// The latest values depend on most others.
		out[i] = b.pool[len(b.pool)-1-min(rapid.IntRange(0, 5).Draw(t, "result"), len(b.pool)-1)]
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	b.c.Output(s, out...)
	return m
}

// randomGraph is a graph that grows; pool holds its tensors.
type randomGraph struct {
	t    *rapid.T
	m    *graph.Module
	c    *graph.Cursor
	pool []*graph.Node
}

const (
	maxRank     = 4
	maxElements = 2048
	sizeOfN     = 5 // for estimates
)

func (b *randomGraph) draw(lo, hi int, what string) int {
	return rapid.IntRange(lo, hi).Draw(b.t, what)
}

func (b *randomGraph) sizes(rank int) []shape.Dim {
	out := make([]shape.Dim, rank)
	for i := range out {
		out[i] = shape.Const(b.draw(1, 4, "size"))
	}
	return out
}

func (b *randomGraph) input(i int) {
	dims := b.sizes(b.draw(0, 3, "rank"))
	symbolic := i == 0 && len(dims) > 0 && rapid.Bool().Draw(b.t, "symbolic")
	if symbolic {
		dims[0] = shape.Sym("N")
	}
	n := b.c.Placeholder(fmt.Sprintf("x%d", i), shape.TensorType(array.F32, shape.Of(dims...)), nil)
	if symbolic {
		b.m.Graph.DefineSymbol("N", n, 0)
	}
	b.pool = append(b.pool, n)
}

func (b *randomGraph) param(i int) {
	var sizes []int
	for _, d := range b.sizes(b.draw(0, 2, "rank")) {
		n, _ := d.Int()
		sizes = append(sizes, n)
	}
	b.pool = append(b.pool, b.newParam(fmt.Sprintf("layer%d.weight", i), sizes...))
}

func (b *randomGraph) newParam(path string, sizes ...int) *graph.Node {
	var g op.Gen
	a := g.Uniform(-1, 1, sizes...)
	b.m.SetParam(graph.Param{Path: path, Type: shape.TypeOf(a), Value: a})
	return b.c.GetAttr(path)
}

// call tries calls until a type rule accepts one.
func (b *randomGraph) call() {
	for range 20 {
		p := proposals[b.draw(0, len(proposals)-1, "operator")]
		o, attrs, in := p(b)
		if b.try(o, attrs, in...) {
			return
		}
	}
}

func (b *randomGraph) try(o *op.Op, attrs any, in ...*graph.Node) bool {
	if attrs == nil {
		attrs = o.Codec().Zero()
	}
	types := make([]shape.Type, len(in))
	for i, n := range in {
		types[i] = n.Type()
	}
	typ, err := o.Type(strict, attrs, types)
	if err != nil || !small(typ) || !b.everySize(o, attrs, types, typ) {
		return false
	}
	var n *graph.Node
	if len(in) > 0 && rapid.Bool().Draw(b.t, "method") {
		n = b.c.Method(o, attrs, in...)
	} else {
		n = b.c.Function(o, attrs, in...)
	}
	if count, tuple := o.NumResults(attrs); tuple {
		for i := range count {
			b.pool = append(b.pool, b.c.ItemNode(n, i))
		}
		return true
	}
	b.pool = append(b.pool, n)
	return true
}

// everySize reports whether a call is legal whatever N is, up to MaxN. The type
// rule must then say the same of the size as of the symbol.
func (b *randomGraph) everySize(o *op.Op, attrs any, in []shape.Type, typ shape.Type) bool {
	for n := 1; n <= MaxN; n++ {
		env := func(string) shape.Dim { return shape.Const(n) }
		types := make([]shape.Type, len(in))
		for i := range in {
			types[i] = in[i].Bind(env)
		}
		got, err := o.Type(strict, o.Codec().Bind(attrs, env), types)
		if err != nil {
			return false
		}
		if want := typ.Bind(env); got.String() != want.String() {
			b.t.Fatalf("%s%s of %v is %s, for N = %d %s", o.Name, o.Codec().Print(attrs), in, typ, n, got)
		}
	}
	return true
}

// MaxN is the largest size of the symbol N that a random graph is made for.
const MaxN = 7

// strict refuses conditions that are true for some sizes only.
var strict = &op.Infer{Assume: func(r shape.Relation) error {
	return diag.New(op.ShapeMismatch, r.String()+" may be false")
}}

// small bounds the size of a value.
func small(t shape.Type) bool {
	if t.Kind() == shape.Tuple {
		for i := range t.Len() {
			if !small(t.Member(i)) {
				return false
			}
		}
		return t.Len() > 0 && t.Len() <= 8
	}
	_, dims, ok := t.Bind(func(string) shape.Dim { return shape.Const(sizeOfN) }).Concrete()
	if !ok || len(dims) > maxRank {
		return false
	}
	n, _ := array.NumElems(dims)
	return n > 0 && n <= maxElements
}

// any picks an operand; recent ones are likelier, so that graphs are deep.
func (b *randomGraph) any() *graph.Node {
	n := len(b.pool)
	if n > 4 && rapid.Bool().Draw(b.t, "recent") {
		return b.pool[b.draw(n-4, n-1, "operand")]
	}
	return b.pool[b.draw(0, n-1, "operand")]
}

func (b *randomGraph) axis(n *graph.Node) int {
	r := max(n.Type().Rank(), 1)
	return b.draw(-r, r-1, "axis")
}

// number draws an attribute that stands for an operand.
func (b *randomGraph) number() op.Scalar {
	if rapid.Bool().Draw(b.t, "integer") {
		return op.Int(int64(b.draw(-3, 3, "number")))
	}
	return op.Float(float64(b.draw(-12, 12, "number")) / 4)
}

// proposal draws a call that may or may not be legal.
type proposal func(b *randomGraph) (o *op.Op, attrs any, in []*graph.Node)

func oneOf[T any](b *randomGraph, what string, v ...T) T { return v[b.draw(0, len(v)-1, what)] }

var proposals = []proposal{
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		return oneOf(b, "unary", std.Relu, std.Tanh, std.Sigmoid, std.Neg, std.Abs, std.Sin, std.Floor, std.Sign, std.Silu, std.Gelu,
			std.LogicalNot, std.Isnan, std.Erf, std.Mish), nil, []*graph.Node{b.any()}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		return oneOf(b, "binary", std.Mul, std.Maximum, std.Minimum, std.Eq, std.Lt, std.Ge, std.Add, std.Sub, std.Div), nil, []*graph.Node{b.any(), b.any()}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		o := oneOf(b, "binary", std.Mul, std.Maximum, std.Minimum, std.Gt, std.Le, std.Ne)
		return o, std.BinaryAttrs{Other: b.number()}, []*graph.Node{b.any()}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		return std.Sub, std.SubAttrs{Other: b.number(), Reverse: rapid.Bool().Draw(b.t, "reverse")}, []*graph.Node{b.any()}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		return std.Where, nil, []*graph.Node{b.any(), b.any(), b.any()}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		return std.Cast, std.CastAttrs{DType: oneOf(b, "dtype", array.F32, array.F64, array.I64, array.Bool, array.F16)}, []*graph.Node{b.any()}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		return std.Matmul, nil, []*graph.Node{b.any(), b.any()}
	},
	linear,
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		x := b.any()
		dims := op.IntList(b.axis(x))
		if rapid.Bool().Draw(b.t, "all") {
			dims = op.Ints{}
		}
		return oneOf(b, "reduction", std.Sum, std.Mean, std.Amax, std.Amin, std.Prod, std.Any),
			std.ReduceAttrs{Dim: dims, KeepDim: rapid.Bool().Draw(b.t, "keep")}, []*graph.Node{x}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		x := b.any()
		return oneOf(b, "along", std.Softmax, std.LogSoftmax, std.Unsqueeze, std.Glu), std.DimAttrs{Dim: b.axis(x)}, []*graph.Node{x}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		x := b.any()
		return oneOf(b, "best", std.MaxDim, std.MinDim), std.MinMaxAttrs{Dim: b.axis(x), KeepDim: rapid.Bool().Draw(b.t, "keep")}, []*graph.Node{x}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		x := b.any()
		return std.Transpose, std.TransposeAttrs{Dim0: b.axis(x), Dim1: b.axis(x)}, []*graph.Node{x}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		x := b.any()
		return std.Permute, std.PermuteAttrs{Dims: op.IntList(rapid.Permutation(upTo(x.Type().Rank())).Draw(b.t, "dims")...)}, []*graph.Node{x}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		x := b.any()
		return std.Slice, std.SliceAttrs{Dim: b.axis(x), Start: shape.Const(b.draw(-2, 1, "start")), Stop: shape.Const(b.draw(1, 4, "stop")),
			Step: b.draw(0, 2, "step")}, []*graph.Node{x}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		x := b.any()
		return std.Select, std.SelectAttrs{Dim: b.axis(x), Index: b.draw(-2, 1, "index")}, []*graph.Node{x}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) { return std.Squeeze, nil, []*graph.Node{b.any()} },
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		x := b.any()
		return std.Flatten, std.FlattenAttrs{StartDim: b.axis(x), EndDim: b.axis(x)}, []*graph.Node{x}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		x := b.any()
		want := shape.Of(shape.Const(-1), shape.Const(b.draw(1, 3, "size")))
		return std.Reshape, std.ReshapeAttrs{Shape: want}, []*graph.Node{x}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		x := b.any()
		dims := append(b.sizes(1), x.Type().Dims().Slice()...)
		return std.Expand, std.ExpandAttrs{Shape: shape.Of(dims...)}, []*graph.Node{x}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		x := b.any()
		return oneOf(b, "join", std.Cat, std.Stack), std.DimAttrs{Dim: b.axis(x)}, []*graph.Node{x, oneOf(b, "other", x, b.any())}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		x := b.any()
		return std.Chunk, std.ChunkAttrs{Chunks: 2, Dim: b.axis(x)}, []*graph.Node{x}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		x := b.any()
		return std.Flip, std.FlipAttrs{Dims: op.IntList(b.axis(x))}, []*graph.Node{x}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		x := b.any()
		return std.Cumsum, std.ScanAttrs{Dim: b.axis(x)}, []*graph.Node{x}
	},
	func(b *randomGraph) (*op.Op, any, []*graph.Node) {
		return std.Full, std.FullAttrs{Size: shape.Of(b.sizes(b.draw(0, 2, "rank"))...), Value: b.number()}, nil
	},
}

// linear makes a weight that fits.
func linear(b *randomGraph) (*op.Op, any, []*graph.Node) {
	x := b.any()
	features := 1
	if r := x.Type().Rank(); r > 0 {
		if n, ok := x.Type().Dim(r - 1).Int(); ok {
			features = n
		}
	}
	path := fmt.Sprintf("linear%d.weight", len(b.m.Params()))
	return std.Linear, nil, []*graph.Node{x, b.newParam(path, b.draw(1, 4, "features"), features)}
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// CheckTimes is rapid.Check for so many times as many values, or as many with -short.
// Calls one after the other would be of the same values where RAPID_SEED is set.
func CheckTimes(t *testing.T, times int, property func(*rapid.T)) {
	t.Helper()
	if testing.Short() {
		times = 1
	}
	checks := flag.Lookup("rapid.checks").Value
	was := checks.String()
	n, err := strconv.Atoi(was)
	require.NoError(t, err)
	require.NoError(t, checks.Set(strconv.Itoa(n*times)))
	defer func() { require.NoError(t, checks.Set(was)) }()
	rapid.Check(t, property)
}
