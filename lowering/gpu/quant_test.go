package gpu_test

import (
	"fmt"
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
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// quantOps are the products of quantised values.
var quantOps = []*op.Op{std.QLinear, std.QMatmul, std.QConv1d, std.QConv2d, std.QConv3d}

// bytesOf makes bytes, the ends of their range often.
func bytesOf(r *rand.Rand, d array.DType, dims ...int) *array.Array {
	a := array.New(d, dims...)
	low := map[array.DType]int64{array.I8: -128}[d]
	for i := range a.Len() {
		v := int64(r.IntN(256))
		if r.IntN(3) == 0 {
			v = int64(r.IntN(2)) * 255
		}
		array.SetInt64At(a, i, low+v)
	}
	return a
}

func scales(r *rand.Rand, n int, about float64) *array.Array {
	a := array.New(array.F32, n)
	for i := range n {
		array.SetFloat64At(a, i, about*(0.5+r.Float64()))
	}
	return a
}

// randomQuant makes a call with any parameters. The sums have depth products, which scale what is asked.
func randomQuant(r *rand.Rand) contraction {
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	byteType := func() array.DType { return []array.DType{array.U8, array.I8}[r.IntN(2)] }
	dx, dw := byteType(), byteType()
	var x, w *array.Array
	var o *op.Op
	conv := std.QConvAttrs{Stride: op.IntList(pick(1, 2)), Padding: op.IntList(pick(0, 1, 2)), Dilation: op.IntList(pick(1, 1, 2)), Groups: pick(1, 1, 2, 3)}
	m, n, k := pick(1, 3, 17, 70), pick(1, 2, 5, 40, 66), pick(1, 3, 16, 33, 300, 700)
	channels := n
	switch o = quantOps[r.IntN(4)]; o {
	case std.QLinear:
		x, w = bytesOf(r, dx, pick(1, 2), m, k), bytesOf(r, dw, n, k)
	case std.QMatmul:
		x, w = bytesOf(r, dx, pick(1, 2), m, k), bytesOf(r, dw, k, n)
		if r.IntN(2) == 0 {
			w = bytesOf(r, dw, 2, k, n)
		}
	default:
		size, dims, window := pick(1, 2, 3, 3), []int{12, 7}, []int{}
		c := pick(1, 2, 3, 5, 70)
		if r.IntN(4) == 0 { // each channel by itself
			conv.Groups, c = 6, 1
		}
		channels = pick(1, 4, 5, 34) * conv.Groups
		if o == std.QConv1d {
			dims = dims[:1]
		}
		for range dims {
			window = append(window, size)
		}
		x = bytesOf(r, dx, append([]int{pick(1, 2), c * conv.Groups}, dims...)...)
		w = bytesOf(r, dw, append([]int{channels, c}, window...)...)
		k = w.Len() / channels
	}
	d := []array.DType{array.U8, array.I8, array.Invalid, array.F32, array.I32}[r.IntN(5)]
	a := std.QLinearAttrs{DType: d}
	per := pick(1, channels)
	in := []*array.Array{x, scales(r, 1, 0.02), bytesOf(r, dx, 1), w, scales(r, per, 0.01), bytesOf(r, dw, per), nil, nil, nil, nil, nil, nil, nil}
	if d == array.Invalid || d == array.U8 || d == array.I8 {
		y := d
		if y == array.Invalid {
			y = dx
		}
		in[6], in[7] = scales(r, 1, 0.004*float64(1+k)), bytesOf(r, y, 1)
		a.ReLU, a.Max = r.IntN(2) == 0, []float64{0, 0, 6, 1e-3}[r.IntN(4)]
		if r.IntN(4) == 0 {
			in[9] = bytesOf(r, y, 256)
		}
	}
	if r.IntN(2) == 0 {
		in[8] = array.New(array.I32, channels)
		for i := range channels {
			array.SetInt64At(in[8], i, int64(r.IntN(4000)*k-2000*k))
		}
		if d == array.F32 && r.IntN(2) == 0 {
			in[8] = numbers(r, array.F32, channels)
		}
	}
	for _, i := range []int{2, 5, 7} {
		if r.IntN(3) == 0 {
			in[i] = nil
		}
	}
	if o == std.QLinear || o == std.QMatmul {
		return contraction{o, a, in}
	}
	conv.DType, conv.ReLU, conv.Max = a.DType, a.ReLU, a.Max
	return contraction{o, conv, in}
}

// withResidual adds a residual of the result's shape to some calls that take one.
func withResidual(r *rand.Rand, c contraction, y *array.Array) contraction {
	if y.DType().Size() == 1 && r.IntN(2) == 0 {
		d := []array.DType{array.U8, array.I8}[r.IntN(2)]
		c.in[10], c.in[11] = bytesOf(r, d, y.Shape()...), scales(r, 1, 0.5)
		if r.IntN(2) == 0 {
			c.in[12] = bytesOf(r, d, 1)
		}
	}
	return c
}

// sameBytes compares the calls with the processor's, bit by bit.
func sameBytes(t *testing.T, g gpu.Target, calls []contraction) gpu.Stats {
	t.Helper()
	b := newTogether(t)
	args := [][]int{}
	for _, c := range calls {
		at := []int{}
		for _, a := range c.in {
			if a == nil {
				at = append(at, -1)
				continue
			}
			at = append(at, len(b.in))
			b.operands([]*array.Array{a})
		}
		args = append(args, at)
	}
	in := b.m.Graph.Inputs()
	var want []*array.Array
	for i, c := range calls {
		w, err := c.op.Eval(&kernel.Workspace{}, c.attrs, c.in)
		require.NoError(t, err)
		want = append(want, w...)
		call := b.c.Function(c.op, c.attrs, nodesAt(in, args[i])...)
		require.True(t, gpu.Direct(call))
		b.result(call, i)
	}
	e, err := g.Compile(b.module(), lowering.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	for range 2 {
		got, err := e.Run(ctx, b.in)
		require.NoError(t, err)
		for i, c := range calls {
			if d := fxtest.SameArray(want[i], got[i]); d != "" {
				shapes := ""
				for _, a := range c.in {
					if a != nil {
						shapes += fmt.Sprint(" ", a.DType(), a.Shape())
					}
				}
				t.Errorf("%s %+v%s: %s", c.op.Name, c.attrs, shapes, d)
			}
		}
	}
	return e.(*gpu.Executable).Stats()
}

// nodesAt are some of a graph's inputs, nil for -1.
func nodesAt(in []*graph.Node, at []int) []*graph.Node {
	out := make([]*graph.Node, len(at))
	for i, k := range at {
		if k >= 0 {
			out[i] = in[k]
		}
	}
	return out
}

// quantEdges are calls at the borders of their meaning: sums that wrap around, scales that are no numbers,
// nothing to sum, windows that a float does not sum exactly, a weight that is broadcast.
func quantEdges(r *rand.Rand) []contraction {
	one := func(x float32) *array.Array { return array.FromSlice([]float32{x}, 1) }
	call := func(o *op.Op, a any, in ...*array.Array) contraction {
		return contraction{o, a, append(in, make([]*array.Array, 13-len(in))...)}
	}
	many := func(rows int) *array.Array {
		return array.Contiguous(array.Expand(array.FromSlice([]uint8{255}, 1, 1), rows, 70000))
	}
	odd := array.FromSlice([]float32{float32(math.Inf(1)), float32(math.NaN()), -0.1, 0, 1e30}, 5)
	x, w := bytesOf(r, array.U8, 3, 9), bytesOf(r, array.I8, 5, 9)
	return []contraction{
		call(std.QLinear, std.QLinearAttrs{DType: array.I32}, many(2), nil, nil, many(3)),
		call(std.QLinear, std.QLinearAttrs{}, x, one(0.1), nil, w, odd, nil, one(0.3)),
		call(std.QLinear, std.QLinearAttrs{ReLU: true, Max: 3}, x, one(0.1), nil, w, odd, nil, one(float32(math.NaN()))),
		call(std.QLinear, std.QLinearAttrs{DType: array.I32}, array.New(array.U8, 4, 0), nil, nil, array.New(array.I8, 5, 0), nil, nil, nil, nil, array.FromSlice([]int32{1, -2, 3, 4, 5}, 5)),
		call(std.QMatmul, std.QLinearAttrs{DType: array.I32}, bytesOf(r, array.I8, 3, 1, 2, 9), nil, nil, bytesOf(r, array.U8, 2, 9, 5), nil, bytesOf(r, array.U8, 5)),
		call(std.QConv1d, std.QConvAttrs{Padding: op.IntList(4), DType: array.I32}, bytesOf(r, array.I8, 1, 4, 400), nil, array.FromSlice([]int8{-77}, 1), bytesOf(r, array.U8, 6, 4, 300)),
	}
}

// TestQuantisedProductsAreExact: the bytes of any call, and the floats, are those of the processor.
func TestQuantisedProductsAreExact(t *testing.T) {
	calls := func(seed uint64, n int) []contraction {
		if fxtest.IsNightly() {
			n *= 10
		}
		r := rand.New(rand.NewPCG(seed, 43))
		var l []contraction
		for len(l) < n {
			c := randomQuant(r)
			if y, err := c.op.Eval(&kernel.Workspace{}, c.attrs, c.in); err == nil { // not larger than the image
				l = append(l, withResidual(r, c, y[0]))
			}
		}
		return l
	}
	edges := quantEdges(rand.New(rand.NewPCG(4, 43)))
	t.Run("tiles", func(t *testing.T) { sameBytes(t, target(t), append(calls(1, 6), edges[:2]...)) })
	t.Run("blocks", func(t *testing.T) { sameBytes(t, grouped(t), calls(2, 5)) })
	t.Run("cuda", func(t *testing.T) {
		g, l := onCUDA(t)
		sameBytes(t, g, append(calls(3, 20), edges...))
		require.Contains(t, strings.Join(l.sources, ""), "= DP4A(a0, b0, ", "sums are of words")
		ptx(t, l.sources)
	})
}
