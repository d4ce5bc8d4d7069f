package arrange_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/arrange"
	"github.com/gofx-dev/gofx/shape"
)

// roundings are the largest relative errors of one rounding.
var roundings = map[array.DType]float64{array.F16: 0x1p-11, array.BF16: 0x1p-8}

// TestHalve_keepsItsBound compares a product element by element.
func TestHalve_keepsItsBound(t *testing.T) {
	const text = `
graph g(%x: f32[16,200]) {
  %w = get_attr[w] : f32[24,200]
  %a = call_function[linear](%x, %w) : f32[16,24]
  return %a
}
param w : f32[24,200]
`
	for d, rounding := range roundings {
		m := passtest.Parse(t, text)
		w := m.Param("w").Value
		in := inputs(t, m, nil, 9)
		want := results(t, m, in)[0]
		_, err := passes.Run(context.Background(), m, []passes.Pass{arrange.Halve("halve", d, nil)}, passes.Options{})
		require.NoError(t, err)
		require.Equal(t, d, m.Params()[0].Value.DType())
		got := results(t, m, in)[0]
		worst := 0.0
		for i := range 16 {
			for j := range 24 {
				sum := 0.0
				for k := range 200 {
					sum += math.Abs(array.Float64At(in[0], i*200+k) * array.Float64At(w, j*200+k))
				}
				worst = max(worst, math.Abs(array.Float64At(got, i*24+j)-array.Float64At(want, i*24+j))/(3*rounding*sum))
			}
		}
		require.Less(t, worst, 1.0, d)
		require.Positive(t, worst, "nothing is rounded")
		t.Logf("%s: the largest difference is %.2f of the bound", d, worst)
	}
}

// TestHalveRefuses has what goldens cannot have: values.
func TestHalveRefuses(t *testing.T) {
	const text = `
graph g(%x: f32[2,4], %h: f16[2,4]) {
  %w = get_attr[w] : f32[4,4]
  %a = call_function[linear](%x, %w) : f32[2,4] at "net.go:5"
  %b = call_function[div](%a) {other=1, reverse=true} : f32[2,4] at "net.go:6"
  %c = call_function[relu](%a) : f32[2,4] at "net.go:7"
  %d = call_function[add](%c, %h) : f32[2,4] at "net.go:8"
  return %b, %d
}
param w : f32[4,4]
`
	m := passtest.Parse(t, text)
	array.SetFloat64At(m.Param("w").Value, 3, 7e4)
	again := graph.Clone(m)
	r, err := passes.Run(context.Background(), m, []passes.Pass{arrange.Half}, passes.Options{})
	require.NoError(t, err)
	require.False(t, r.Changed())
	require.Contains(t, r.Explain(), "net.go:5: %a left as it is: parameter w has elements beyond f16")

	r, err = passes.Run(context.Background(), again, []passes.Pass{arrange.Bfloat}, passes.Options{})
	require.NoError(t, err)
	require.Equal(t, 3, r.Matches("bfloat"), r.Explain())

	m = passtest.Parse(t, text)
	r, err = passes.Run(context.Background(), m, []passes.Pass{arrange.Half}, passes.Options{})
	require.NoError(t, err)
	require.Equal(t, 2, r.Matches("half"), r.Explain())
	require.Contains(t, r.Explain(), "net.go:6: %b left as it is: it takes numbers of 16 beyond 2048")

	m = passtest.Parse(t, text)
	none := arrange.Halve("none", array.F16, func(n *graph.Node) bool { return n.Op() != std.Linear })
	r, err = passes.Run(context.Background(), m, []passes.Pass{none}, passes.Options{})
	require.NoError(t, err)
	require.False(t, r.Changed())

	unbound := passtest.Parse(t, `
graph g(%x: f32[2,2]) {
  %a = call_module[fc](%x) : f32[2,2]
  %b = call_module[act](%a) : f32[2,2]
  return %b
}
param w : f32[2,2]
module fc = linear (weight=w, bias=_)
module act = relu ()
`)
	r, err = passes.Run(context.Background(), unbound, []passes.Pass{arrange.Half}, passes.Options{})
	require.NoError(t, err)
	require.False(t, r.Changed())
	require.Contains(t, r.Explain(), "%a left as it is: it is a call of a module; run functionalize first")
}

// TestHalve_randomNetworks demands small differences of networks of layers,
// activations, products of values, views and normalisations.
func TestHalve_randomNetworks(t *testing.T) {
	for d, rounding := range roundings {
		matches := 0
		for seed := range uint64(150) {
			m := randomNetwork(rand.New(rand.NewPCG(seed, 8)))
			in := inputs(t, m, map[string]int{"N": 3}, seed)
			want := results(t, m, in)[0]
			done := graph.Clone(m)
			r, err := passes.Run(context.Background(), done, []passes.Pass{arrange.Halve("halve", d, nil)}, passes.Options{})
			require.NoError(t, err, m.String())
			matches += r.Matches("halve")
			got := results(t, done, in)[0]
			require.Equal(t, array.F32, got.DType())
			diff, size := 0.0, 0.0
			for i := range want.Len() {
				diff += math.Pow(array.Float64At(got, i)-array.Float64At(want, i), 2)
				size += math.Pow(array.Float64At(want, i), 2)
			}
			require.LessOrEqual(t, math.Sqrt(diff), 16*rounding*math.Sqrt(size)+rounding, "seed %d\n%s\nbecame\n%s", seed, m, done)
			for _, n := range strings.Split(done.Graph.String(), "\n") {
				require.False(t, strings.Contains(n, "[softmax]") && !strings.Contains(n, ": f32"), n)
			}
		}
		require.Greater(t, matches, 400)
	}
}

func randomNetwork(r *rand.Rand) *graph.Module {
	g := graph.New("network")
	m := graph.NewModule(g)
	c := g.At()
	var gen = passes.Random{State: r.Uint64()}
	x := c.Placeholder("x", shape.TensorType(array.F32, shape.Of(shape.Sym("N"), shape.Const(6))), nil)
	g.DefineSymbol("N", x, 0)
	pool := []*graph.Node{x}
	for range 4 + r.IntN(10) {
		n := pool[max(0, len(pool)-1-r.IntN(3))]
		switch r.IntN(7) {
		case 0, 1:
			path := m.FreshPath("fc.weight")
			m.SetParam(graph.Param{Path: path, Value: gen.Array(array.F32, 6, 6)})
			n = c.Function(std.Linear, nil, n, c.GetAttr(path))
		case 2:
			n = c.Function([]*op.Op{std.Relu, std.Tanh, std.Sigmoid, std.Gelu}[r.IntN(4)], nil, n)
		case 3:
			n = c.Function(std.Add, nil, n, pool[r.IntN(len(pool))])
		case 4:
			n = c.Function(std.Softmax, std.DimAttrs{Dim: 1}, n)
		case 5:
			t := c.Function(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, n)
			n = c.Function(std.Matmul, nil, c.Function(std.Softmax, std.DimAttrs{Dim: 1}, c.Function(std.Matmul, nil, n, t)), n)
		default:
			n = c.Function(std.Flip, std.FlipAttrs{Dims: op.IntList(1)}, n)
		}
		pool = append(pool, n)
	}
	c.Output(nil, pool[len(pool)-1])
	return m
}
