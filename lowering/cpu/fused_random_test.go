package cpu_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// fusable draws graphs of what plans fuse: contractions with parameters, what follows
// them in any order, chains, concatenations, values with several users.
type fusable struct {
	r     *rand.Rand
	c     *graph.Cursor
	m     *graph.Module
	nodes []*graph.Node
	batch shape.Dim
}

// param returns a parameter whose elements are about a size.
func (f *fusable) param(size float64, dims ...int) *graph.Node {
	a := array.New(array.F32, dims...)
	for i := range array.Data[float32](a) {
		array.Data[float32](a)[i] = float32(f.r.NormFloat64() * size)
	}
	path := f.m.FreshPath("w")
	f.m.SetParam(graph.Param{Path: path, Value: a})
	return f.c.GetAttr(path)
}

// pick returns a value, most often a late one.
func (f *fusable) pick() *graph.Node {
	n := len(f.nodes)
	return f.nodes[n-1-min(n-1, int(math.Abs(f.r.NormFloat64())*1.5))]
}

// size returns dimension i of a value, which is a number.
func size(n *graph.Node, i int) int {
	k, _ := n.Type().Dim(i).Int()
	return k
}

// step appends a call.
func (f *fusable) step() {
	v := f.pick()
	rank := v.Type().Rank()
	channels := rank - 1 // axis
	if rank == 4 {
		channels = 1
	}
	ch := size(v, channels)
	perChannel := make([]int, rank-channels)
	for i := range perChannel {
		perChannel[i] = 1
	}
	perChannel[0] = ch
	call := func(o *op.Op, attrs any, in ...*graph.Node) { f.nodes = append(f.nodes, f.c.Function(o, attrs, in...)) }
	switch f.r.IntN(17) {
	case 0, 1, 2:
		f.contract(v, ch)
	case 3:
		call(std.Add, nil, v, f.param(0.5, perChannel...))
	case 4:
		call(std.Mul, nil, f.param(0.7, perChannel...), v)
	case 5, 6:
		for _, u := range f.nodes {
			if u != v && u.Type().Same(v.Type()) {
				call(std.Add, nil, u, v)
				return
			}
		}
		call(std.Add, nil, v, v)
	case 7, 8:
		call([]*op.Op{std.Relu, std.Relu6}[f.r.IntN(2)], nil, v)
	case 9:
		call(std.Hardtanh, std.HardtanhAttrs{MinVal: -0.5, MaxVal: 0.75}, v)
	case 10:
		call([]*op.Op{std.Tanh, std.Sigmoid, std.Neg, std.Silu, std.Gelu, std.Hardswish, std.Clone}[f.r.IntN(7)], nil, v)
	case 11, 14:
		if ch <= 24 {
			in := []*graph.Node{v, f.pickLike(v)}
			if f.r.IntN(3) == 0 {
				in = append(in, v)
			}
			call(std.Cat, std.DimAttrs{Dim: f.r.IntN(2) * channels}, in...)
		}
	case 12:
		call(std.Mul, nil, v, f.c.Function(std.Sigmoid, nil, v))
	case 15:
		call(std.Add, nil, f.c.Function(std.Mul, nil, v, f.param(0.7, perChannel...)), f.param(0.5, perChannel...))
		if f.r.IntN(2) == 0 {
			call(std.Relu, nil, f.nodes[len(f.nodes)-1])
		}
		f.contract(f.nodes[len(f.nodes)-1], ch)
	case 16:
		if rank == 4 {
			mean := f.c.Function(std.Mean, std.ReduceAttrs{Dim: op.IntList(2, 3), KeepDim: true}, v)
			call(std.Mul, nil, v, f.c.Function(std.Sigmoid, nil, mean))
			f.contract(f.nodes[len(f.nodes)-1], ch)
		}
	case 13:
		f.norm(v, call)
	}
}

// norm appends a softmax or a norm, which elementwise calls may surround.
func (f *fusable) norm(v *graph.Node, call func(o *op.Op, attrs any, in ...*graph.Node)) {
	last := size(v, v.Type().Rank()-1)
	switch f.r.IntN(5) {
	case 0:
		call(std.Softmax, std.DimAttrs{Dim: -1}, v)
	case 1:
		call(std.LogSoftmax, std.DimAttrs{Dim: v.Type().Rank() - 1}, v)
	case 2:
		call(std.LayerNorm, std.LayerNormAttrs{NormalizedShape: shape.ConstDims(last), Eps: 0.1}, v, f.param(1, last))
	case 3:
		call(std.RmsNorm, std.LayerNormAttrs{NormalizedShape: shape.ConstDims(last), Eps: 0.1}, v)
	default:
		groups := size(v, 1)
		call(std.GroupNorm, std.GroupNormAttrs{NumGroups: groups, Eps: 0.1}, v, f.param(1, groups), f.param(1, groups))
	}
}

func (f *fusable) pickLike(v *graph.Node) *graph.Node {
	for _, u := range f.nodes[2:] {
		if u != v && u.Type().Same(v.Type()) && f.r.IntN(2) == 0 {
			return u
		}
	}
	return v
}

// contract appends a convolution of images, else a product.
func (f *fusable) contract(v *graph.Node, ch int) {
	out := []int{1, 3, 8, 16, 17}[f.r.IntN(5)]
	var bias *graph.Node
	if f.r.IntN(2) == 0 {
		bias = f.param(0.5, out)
	}
	scale := 1 / math.Sqrt(float64(ch))
	var n *graph.Node
	switch {
	case v.Type().Rank() == 4:
		k := 1 + 2*f.r.IntN(2)
		attrs := std.ConvAttrs{Padding: op.IntList(k / 2)}
		groups := 1
		if f.r.IntN(4) == 0 {
			groups, out = ch, ch
			attrs.Groups, bias = groups, nil
		}
		n = f.c.Function(std.Conv2d, attrs, v, f.param(scale/float64(k), out, ch/groups, k, k), bias)
	case f.r.IntN(2) == 0:
		n = f.c.Function(std.Linear, nil, v, f.param(scale, out, ch), bias)
	case f.r.IntN(2) == 0:
		n = f.c.Function(std.Matmul, nil, v, f.param(scale, ch, out))
	default:
		n = f.c.Function(std.Matmul, nil, v, f.c.Function(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, f.param(scale, out, ch)))
	}
	f.nodes = append(f.nodes, n)
}

// draw makes a graph from a seed, with its inputs.
func draw(seed uint64) (*graph.Module, []*array.Array) {
	r := rand.New(rand.NewPCG(seed, 12))
	g := graph.New("fusable")
	f := &fusable{r: r, c: g.At(), m: graph.NewModule(g), batch: shape.Const(1 + r.IntN(2))}
	batch := 1 + r.IntN(3)
	symbolic := r.IntN(2) == 0
	f.batch = shape.Const(batch)
	if symbolic {
		f.batch = shape.Sym("N")
	}
	var gen op.Gen
	dims := []int{1 + r.IntN(20)}
	if r.IntN(2) == 0 {
		side := 3 + r.IntN(8)
		dims = append(dims, side, side+r.IntN(2))
	}
	typ := shape.Of(f.batch)
	full := []int{batch}
	for _, d := range dims {
		typ, full = typ.Append(shape.Const(d)), append(full, d)
	}
	x := f.c.Placeholder("x", shape.TensorType(array.F32, typ), nil)
	if symbolic {
		g.DefineSymbol("N", x, 0)
	}
	y := f.c.Placeholder("y", shape.TensorType(array.F32, typ), nil)
	f.nodes = append(f.nodes, x, y)
	for range 2 + r.IntN(14) {
		f.step()
	}
	s := &graph.Structure{Kind: graph.Results}
	var out []*graph.Node
	for i := range 1 + r.IntN(2) {
		out = append(out, f.pick())
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	f.c.Output(s, out...)
	return f.m, []*array.Array{gen.Normal(full...), gen.Normal(full...)}
}

// TestFusableGraphsEqualTheInterpreter compares plans of random graphs with the
// interpreter: exact ones bit by bit, others within 1e-4 of the largest element,
// which Winograd's roundings need. 20,000 programs nightly.
func TestFusableGraphsEqualTheInterpreter(t *testing.T) {
	count := uint64(400)
	if fxtest.IsNightly() {
		count = 20000
	}
	packed, fused, joined, programs, prepared, rows, given := 0, 0, 0, 0, 0, 0, 0
	for seed := range count {
		m, in := draw(seed)
		want := interpret(t, m, in...)
		exact := compile(t, m, lowering.Options{Exact: true})
		got, err := exact.Run(ctx, in)
		require.NoError(t, err, "seed %d\n%s", seed, m)
		for i := range want {
			require.Empty(t, fxtest.SameArray(want[i], got[i]), "seed %d, exact\n%s", seed, m)
		}
		e := compile(t, m, lowering.Options{Threads: 1 + int(seed%2)})
		for range 2 {
			got, err = e.Run(ctx, in)
			require.NoError(t, err, "seed %d\n%s", seed, m)
			for i := range want {
				require.Empty(t, passes.Differ(got[i], want[i], 1e-4, 1e-4*largest(want[i])), "seed %d\n%s\n%s", seed, m, e.Plan())
			}
			e.Soil(0x5a)
		}
		if seed%4 == 0 {
			other, err := compile(t, m, lowering.Options{Threads: 3 - int(seed%2)}).Run(ctx, in)
			require.NoError(t, err)
			for i := range got {
				require.Empty(t, fxtest.SameArray(got[i], other[i]), "seed %d, another number of threads\n%s", seed, e.Plan())
			}
		}
		given += donated(t, m, in, got)
		programs += strings.Count(e.Plan().String(), "Program: {")
		rows += strings.Count(e.Plan().String(), "ElementwiseRows{")
		for _, s := range e.Plan().Steps {
			if len(s.Nodes) > 1 {
				fused++
			}
			if s.Joined {
				joined++
			}
			if _, is := s.Kernel.(*kernel.ConvPacked); is && (len(s.In) > 5 || strings.Contains(plan.KernelName(s.Kernel), "Prologue")) {
				prepared++
			}
		}
		for _, k := range e.Plan().Weights() {
			if e.Plan().Buffers[k].Pack != nil {
				packed++
			}
		}
	}
	require.Greater(t, packed, int(count))
	require.Greater(t, fused, int(count))
	require.Greater(t, joined, int(count)/20)
	require.Greater(t, programs, int(count)/10)
	require.Greater(t, prepared, int(count)/10)
	require.Greater(t, rows, int(count)/10)
	require.Greater(t, given, int(count)/20)
}

func largest(a *array.Array) float64 {
	most := 1.0
	for i := range a.Len() {
		if x := math.Abs(array.Float64At(a, i)); x < math.MaxFloat64 {
			most = max(most, x)
		}
	}
	return most
}
