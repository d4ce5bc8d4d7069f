package gpu_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// wilds are floats of many sizes, some of which are no numbers.
func wilds(r *rand.Rand, d array.DType, dims ...int) *array.Array {
	a := numbers(r, d, dims...)
	for i := range a.Len() {
		if r.IntN(9) == 0 {
			array.SetFloat64At(a, i, []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e30, -1e30, 0.5, math.Copysign(0, -1)}[r.IntN(7)])
		}
	}
	return a
}

// randomEach makes a call that quantises or works on bytes, and says how many launches it is.
func randomEach(r *rand.Rand) (contraction, int) {
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	d := []array.DType{array.U8, array.I8}[r.IntN(2)]
	n, h, w := pick(1, 2, 3), pick(5, 9), pick(7, 40)
	dims := []int{n, 4, h, w}
	scale := func(n int) *array.Array { return scales(r, n, 0.05) }
	zero := func(d array.DType, n int) *array.Array {
		if r.IntN(3) == 0 {
			return nil
		}
		return bytesOf(r, d, n)
	}
	per := pick(1, 4)
	switch r.IntN(9) {
	case 0:
		f := []array.DType{array.F32, array.F16, array.BF16}[r.IntN(3)]
		s := array.Cast(scale(per), f)
		to := []array.DType{array.U8, array.I8, array.U16, array.I16}[r.IntN(4)]
		return contraction{std.Quantize, std.QuantizeAttrs{Axis: 1, DType: to}, []*array.Array{wilds(r, f, dims...), s, zero(to, per)}}, 1
	case 1:
		from := []array.DType{array.U8, array.I8, array.U16, array.I16, array.I32}[r.IntN(5)]
		s := array.Cast(scale(per), []array.DType{array.F32, array.F16, array.BF16}[r.IntN(3)])
		return contraction{std.Dequantize, std.DequantizeAttrs{Axis: 1}, []*array.Array{bytesOf(r, from, dims...), s, zero(from, per)}}, 1
	case 2:
		x := wilds(r, array.F32, dims...)
		if r.IntN(2) == 0 {
			x = numbers(r, array.F32, pick(0, 1, 3000))
		}
		launches := 3
		if x.Len() == 0 {
			launches = 2
		}
		return contraction{std.DynamicQuantize, op.None{}, []*array.Array{x}}, launches
	case 3, 4:
		o := []*op.Op{std.QAdd, std.QMul}[r.IntN(2)]
		b := bytesOf(r, d, n, 4, 1, 1)
		if r.IntN(2) == 0 {
			b = bytesOf(r, d, dims...)
		}
		return contraction{o, std.QPairAttrs{ReLU: r.IntN(2) == 0}, []*array.Array{bytesOf(r, d, dims...), scale(1), zero(d, 1), b, scale(1), zero(d, 1), scale(1), zero(d, 1)}}, 1
	case 5:
		s, z := scale(1), bytesOf(r, d, 1)
		in := []*array.Array{s, z}
		for i := range 3 {
			if in = append(in, bytesOf(r, d, n, pick(1, 3), h, w), s, z); i == 1 {
				in[len(in)-2] = scale(1)
			}
		}
		return contraction{std.QConcat, std.DimAttrs{Dim: 1}, in}, 3
	case 6:
		return contraction{std.QTable, op.None{}, []*array.Array{bytesOf(r, d, dims...), bytesOf(r, array.I8, 256)}}, 1
	case 7:
		a := std.MaxPoolAttrs{KernelSize: op.IntList(3, 2), Stride: op.IntList(pick(1, 2)), Padding: op.IntList(1, 0), Dilation: op.IntList(pick(1, 2)), CeilMode: r.IntN(2) == 0}
		return contraction{std.QMaxPool, a, []*array.Array{bytesOf(r, d, dims...)}}, 1
	}
	a := std.QAvgPoolAttrs{KernelSize: op.IntList(pick(2, 3), 3), Stride: op.IntList(pick(1, 2, 3)), Padding: op.IntList(1), CeilMode: r.IntN(2) == 0, CountExcludePad: r.IntN(2) == 0}
	if r.IntN(3) == 0 {
		a = std.QAvgPoolAttrs{KernelSize: op.IntList(h, w)}
	}
	in := []*array.Array{bytesOf(r, d, dims...), scale(1), zero(d, 1), nil, nil}
	if r.IntN(2) == 0 {
		in[3], in[4] = scale(1), zero(d, 1)
	}
	return contraction{std.QAvgPool, a, in}, 1
}

// TestQuantisedCallsAreOneLaunch: what works on bytes, and makes them, keeps nothing wider in memory, and gives the processor's
// bits.
func TestQuantisedCallsAreOneLaunch(t *testing.T) {
	try := func(t *testing.T, g gpu.Target, seed uint64, n int) {
		if fxtest.IsNightly() {
			n *= 4
		}
		r, launches := rand.New(rand.NewPCG(seed, 75)), 0
		var calls []contraction
		for range n {
			c, l := randomEach(r)
			calls, launches = append(calls, c), launches+l
		}
		require.Equal(t, launches, sameBytes(t, g, calls).Launches)
	}
	t.Run("processor", func(t *testing.T) { try(t, target(t), 1, 12) })
	t.Run("cuda", func(t *testing.T) {
		g, l := onCUDA(t)
		try(t, g, 2, 60)
		try(t, gpu.Target{Device: run.NewDevice(processor{run.Driver(g.Device)}), Cache: "-"}, 3, 30)
		ptx(t, l.sources)
	})
}

// TestBytesFollowProducts: what is added after a convolution of bytes, or taken in other steps, is computed with it.
func TestBytesFollowProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 75))
	m := parsed(t, `gofx 1
graph g(%x: f32[1,4,9,8]) {
  %s = get_attr[s] : f32[1]
  %z = get_attr[z] : u8[1]
  %w = get_attr[w] : i8[5,4,3,3]
  %v = get_attr[v] : i8[7,5]
  %q = call_function[quantize](%x, %s, %z)
  %c = call_function[q_conv2d](%q, %s, %z, %w, %s, _, %s, %z) {padding=[1]}
  %a = call_function[q_add](%c, %s, %z, %z, %s, %z, %s, %z) {relu=true}
  %p = call_function[q_avg_pool](%a, %s, %z) {kernel_size=[9,8]}
  %f = call_function[flatten](%p) {start_dim=1, end_dim=-1}
  %l = call_function[q_linear](%f, %s, %z, %v, %s, _, %s, %z)
  %y = call_function[dequantize](%l, %s, %z)
  return %y
}
param s : f32[1]
param z : u8[1]
param w : i8[5,4,3,3]
param v : i8[7,5]
`)
	for name, a := range map[string]*array.Array{"s": scales(r, 1, 0.1), "z": array.FromSlice([]uint8{100}, 1), "w": bytesOf(r, array.I8, 5, 4, 3, 3), "v": bytesOf(r, array.I8, 7, 5)} {
		m.Param(name).Value = a
	}
	x := []*array.Array{wilds(r, array.F32, 1, 4, 9, 8)}
	want := interpreted(t, m, x...)
	e := compile(t, target(t), m)
	got, err := e.Run(ctx, x)
	require.NoError(t, err)
	require.Equal(t, array.Bytes(want[0]), array.Bytes(got[0]))
	// The image, its frame, the convolution with the sum, the mean, its floats, the product.
	require.Equal(t, []string{"quantize", "q_conv2d", "q_conv2d", "q_avg_pool", "q_linear", "q_linear"}, gpu.Steps(e))
}
