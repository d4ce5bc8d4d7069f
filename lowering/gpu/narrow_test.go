package gpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// randomNarrow makes a product with a weight of 8 or 4 bits, or takes rows of one.
func randomNarrow(r *rand.Rand, d array.DType) contraction {
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	m, n, k := pick(1, 2, 5, 7, 18, 33), pick(1, 2, 3, 5, 16, 17, 40, 66), pick(1, 2, 31, 33, 64, 65, 100)
	dw := []array.DType{array.U8, array.I8}[r.IntN(2)]
	x := numbers(r, d, pick(1, 2), m, k)
	if r.IntN(3) == 0 {
		x = numbers(r, d, k)
	}
	bias := numbers(r, d, n)
	if r.IntN(2) == 0 {
		bias = nil
	}
	indices := array.New(array.I64, 3, 2)
	for i := range indices.Len() {
		array.SetInt64At(indices, i, int64(r.IntN(n)))
	}
	per := pick(1, n)
	in := []*array.Array{x, bytesOf(r, dw, n, k), scales(r, per, 0.01), bytesOf(r, dw, pick(1, n)), bias}
	group := pick(32, 64)
	if r.IntN(2) == 0 {
		groups := (k + group - 1) / group
		in[1], in[2], in[3] = bytesOf(r, array.U8, n, (k+1)/2), numbers(r, array.F32, n, groups), bytesOf(r, array.U8, n, groups)
		for i := range in[3].Len() {
			array.SetInt64At(in[3], i, array.Int64At(in[3], i)&15)
		}
	} else {
		group = 0
	}
	if r.IntN(2) == 0 {
		in[3] = nil
	}
	rows := r.IntN(4) == 0
	switch {
	case rows && group > 0:
		groups := (2*in[1].Dim(1) + group - 1) / group
		in[2] = numbers(r, array.F32, n, groups)
		if in[3] != nil {
			in[3] = array.New(array.U8, n, groups)
		}
		return contraction{std.Int4Embedding, std.Int4LinearAttrs{Group: group}, []*array.Array{indices, in[1], in[2], in[3]}}
	case rows:
		return contraction{std.QEmbedding, op.None{}, []*array.Array{indices, in[1], in[2], in[3]}}
	case group > 0:
		return contraction{std.Int4Linear, std.Int4LinearAttrs{Group: group}, in}
	}
	return contraction{std.Int8Linear, op.None{}, in}
}

// narrowCalls runs calls in one program next to the processor, weights as parameters; all of them are direct.
func narrowCalls(t *testing.T, g gpu.Target, calls []contraction) gpu.Stats {
	t.Helper()
	b := newTogether(t)
	var want []*array.Array
	var first []*graph.Node
	for _, c := range calls {
		first = append(first, b.operands(c.in[:1])...)
	}
	for i, c := range calls {
		w, err := c.op.Eval(&kernel.Workspace{}, c.attrs, c.in)
		require.NoError(t, err)
		want = append(want, w...)
		args := first[i : i+1 : i+1]
		for k, v := range c.in[1:] {
			if v == nil {
				args = append(args, nil)
				continue
			}
			path := fmt.Sprint("p", i, "_", k)
			b.m.SetParam(graph.Param{Path: path, Value: v})
			args = append(args, b.c.GetAttr(path))
		}
		call := b.c.Function(c.op, c.attrs, args...)
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
			rows := c.op == std.QEmbedding || c.op == std.Int4Embedding
			d := fxtest.SameArray(want[i], got[i])
			if d == "" || !rows && distance(want[i], got[i], c.term()) < 1e-5 || !rows && want[i].DType() != array.F32 && fxtest.Beyond(c.op, c.attrs, c.in, want[i], got[i]) == "" {
				continue
			}
			shapes := ""
			for _, a := range c.in {
				if a != nil {
					shapes += fmt.Sprint(" ", a.DType(), a.Shape())
				}
			}
			t.Errorf("%s %+v%s: %s", c.op.Name, c.attrs, shapes, d)
		}
	}
	return e.(*gpu.Executable).Stats()
}

// term is about as large as what a result sums up, all of which may cancel.
func (c contraction) term() float64 {
	largest := func(a *array.Array) (most float64) {
		for i := range a.Len() {
			most = max(most, math.Abs(array.Float64At(a, i)))
		}
		return most
	}
	return largest(c.in[0]) * largest(c.in[2])
}

// distance is the largest difference, as a part of the largest element or of a term.
func distance(want, got *array.Array, term float64) float64 {
	far, most := 0.0, term
	for i := range want.Len() {
		x, y := array.Float64At(want, i), array.Float64At(got, i)
		far, most = max(far, x-y, y-x), max(most, x, -x)
	}
	return far / most
}

// TestNarrowWeights: products with weights of 8 and 4 bits of any sizes, and their rows, are one launch each.
func TestNarrowWeights(t *testing.T) {
	calls := func(seed uint64, n int) []contraction {
		if fxtest.IsNightly() {
			n *= 8
		}
		r := rand.New(rand.NewPCG(seed, 74))
		var l []contraction
		for len(l) < n {
			l = append(l, randomNarrow(r, []array.DType{array.F32, array.F32, array.F16, array.BF16}[len(l)%4]))
		}
		// Nothing to sum: the bias, whatever scales are.
		nothing := scales(r, 5, 1)
		array.SetFloat64At(nothing, 1, math.NaN())
		array.SetFloat64At(nothing, 3, math.Inf(1))
		return append(l, contraction{std.Int8Linear, op.None{}, []*array.Array{array.New(array.F32, 3, 0), array.New(array.I8, 5, 0), nothing, nil, numbers(r, array.F32, 5)}})
	}
	try := func(t *testing.T, g gpu.Target, l []contraction) {
		require.Equal(t, len(l), narrowCalls(t, g, l).Launches)
	}
	t.Run("tiles", func(t *testing.T) { try(t, target(t), calls(1, 5)) })
	t.Run("blocks", func(t *testing.T) { try(t, grouped(t), calls(2, 5)) })
	t.Run("cuda", func(t *testing.T) {
		g, l := onCUDA(t)
		try(t, g, calls(3, 30))
		try(t, gpu.Target{Device: run.NewDevice(processor{run.Driver(g.Device)}), Cache: "-"}, calls(4, 30))
		r := rand.New(rand.NewPCG(5, 74))
		half := contraction{std.Int8Linear, op.None{}, []*array.Array{numbers(r, array.F16, 20, 40), bytesOf(r, array.U8, 24, 40), scales(r, 24, 0.01), bytesOf(r, array.U8, 24), nil}}
		require.Equal(t, 1, narrowCalls(t, g, []contraction{half}).Tensor, "numbers of 16 bits go to tensor cores")
		ptx(t, l.sources)
	})
}

// TestNarrowWeightsStayNarrow counts the bytes of the device.
func TestNarrowWeightsStayNarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 74))
	const n, k = 96, 128
	for name, of := range map[string]func(testing.TB) gpu.Target{"tiles": target, "blocks": grouped} {
		t.Run(name, func(t *testing.T) {
			g := of(t)
			for _, m := range []int{1, 9} {
				x := numbers(r, array.F32, m, k)
				bytes := narrowCalls(t, g, []contraction{{std.Int8Linear, op.None{}, []*array.Array{x, bytesOf(r, array.I8, n, k), scales(r, n, 0.01), nil, nil}}})
				require.Equal(t, n*k+4*n, bytes.Fixed)
				half := narrowCalls(t, g, []contraction{{std.Int4Linear, std.Int4LinearAttrs{Group: 32}, []*array.Array{x, bytesOf(r, array.U8, n, k/2), numbers(r, array.F32, n, k/32), nil, nil}}})
				require.Equal(t, n*k/2+4*n*k/32, half.Fixed)
			}
		})
	}
}

// TestRowsOutOfRange: an index that a narrow table has not is an error.
func TestRowsOutOfRange(t *testing.T) {
	m := parsed(t, `gofx 1
graph g(%i: i64[2], %w: u8[5,32], %s: f32[5,2]) {
  %y = call_function[int4_embedding](%i, %w, %s) {group=32}
  return %y
}
`)
	e := compile(t, target(t), m)
	for _, last := range []int64{5, -1} {
		_, err := e.Run(ctx, []*array.Array{array.FromSlice([]int64{1, last}), array.New(array.U8, 5, 32), array.New(array.F32, 5, 2)})
		require.ErrorContains(t, err, "%y: int4_embedding: an index is out of range")
	}
}
