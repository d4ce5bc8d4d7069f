package cpu_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
)

// TestProductsRoundOperands compares plans with the interpreter on graphs that have the casts which the
// option stands for, before the product and not after it: operands are rounded once, sums and all that follows not.
func TestProductsRoundOperands(t *testing.T) {
	for _, c := range []struct{ x, w, call string }{
		{"1,70", "40,70", "linear](%x, %w)"},
		{"20,71", "33,71", "linear](%x, %w)"},
		{"2,3,64", "5,64", "linear](%x, %w)"},
		{"20,71", "71,33", "matmul](%x, %w)"},
		{"2,6,9", "5,6,3", "conv1d](%x, %w)"},
		{"2,5,9,9", "20,5,3,3", "conv2d](%x, %w) {padding=[1,1]}"},
		{"1,64,14,14", "32,64,1,1", "conv2d](%x, %w)"},
		{"1,32,7,7", "32,16,3,3", "conv2d](%x, %w) {groups=2, stride=[2,2]}"},
		{"1,3,5,6,7", "5,3,2,2,2", "conv3d](%x, %w)"},
	} {
		graph := func(casts bool) string {
			var b strings.Builder
			b.WriteString("graph g(%x: f32[" + c.x + "]) {\n %w = get_attr[w] : f32[" + c.w + "]\n")
			call := c.call
			if casts {
				for _, v := range []string{"x", "w"} {
					b.WriteString(" %" + v + "1 = call_function[cast](%" + v + ") {dtype=bf16}\n %" + v + "2 = call_function[cast](%" + v + "1) {dtype=f32}\n")
				}
				call = strings.Replace(call, "(%x, %w)", "(%x2, %w2)", 1)
			}
			b.WriteString(" %y = call_function[" + call + "\n %r = call_function[relu](%y)\n return %r\n}\nparam w : f32[" + c.w + "]\n")
			return b.String()
		}
		m := module(t, graph(false))
		in, err := passes.Inputs(m.Graph, nil, 3)
		require.NoError(t, err)
		want := interpret(t, module(t, graph(true)), in...)
		e, err := cpu.Compile(m, lowering.Options{Products: array.BF16, Threads: 2})
		require.NoError(t, err)
		require.Equal(t, "bf16: "+kernel.ProductsOfBF16()+", in 1 step", e.Granted(), c.call)
		got, err := e.Run(ctx, in)
		require.NoError(t, err)
		exact, err := cpu.Compile(m, lowering.Options{Threads: 2})
		require.NoError(t, err)
		require.Empty(t, exact.Granted())
		other, err := exact.Run(ctx, in)
		require.NoError(t, err)
		differs := false
		for i := range want[0].Len() {
			require.InDelta(t, array.Float64At(want[0], i), array.Float64At(got[0], i), 2e-5, "%s, element %d\n%s", c.call, i, e.Plan())
			differs = differs || array.Float64At(other[0], i) != array.Float64At(got[0], i)
		}
		require.True(t, differs, "%s: operands were not rounded", c.call)
	}
}

// TestProductsThatStay names what the option leaves in f32: filters of one channel, what Winograd's algorithm
// computes faster, operands that are both values, transposed convolutions, weights on the left and stacks of them, other element types.
func TestProductsThatStay(t *testing.T) {
	for _, text := range []string{
		"graph g(%x: f32[2,4,5,6]) {\n %w = get_attr[w] : f32[4,1,2,2]\n %r = call_function[conv2d](%x, %w) {groups=4}\n return %r\n}\nparam w : f32[4,1,2,2]\n",
		"graph g(%x: f32[1,64,56,56]) {\n %w = get_attr[w] : f32[64,64,3,3]\n %r = call_function[conv2d](%x, %w) {padding=[1,1]}\n return %r\n}\nparam w : f32[64,64,3,3]\n",
		"graph g(%x: f32[20,30], %y: f32[30,40]) {\n %r = call_function[matmul](%x, %y)\n return %r\n}\n",
		"graph g(%x: f32[2,4,5,6]) {\n %w = get_attr[w] : f32[4,6,2,2]\n %r = call_function[conv_transpose2d](%x, %w)\n return %r\n}\nparam w : f32[4,6,2,2]\n",
		"graph g(%x: f32[30,40]) {\n %w = get_attr[w] : f32[20,30]\n %r = call_function[matmul](%w, %x)\n return %r\n}\nparam w : f32[20,30]\n",
		"graph g(%x: f32[2,20,30]) {\n %w = get_attr[w] : f32[2,30,40]\n %r = call_function[matmul](%x, %w)\n return %r\n}\nparam w : f32[2,30,40]\n",
		"graph g(%x: f64[20,30]) {\n %w = get_attr[w] : f64[40,30]\n %r = call_function[linear](%x, %w)\n return %r\n}\nparam w : f64[40,30]\n",
	} {
		m := module(t, text)
		e, err := cpu.Compile(m, lowering.Options{Products: array.BF16})
		require.NoError(t, err)
		require.Zero(t, e.Stats().Rounded, text)
		require.Empty(t, e.Granted())
		plain, err := cpu.Compile(m, lowering.Options{})
		require.NoError(t, err)
		require.Equal(t, plain.Plan().String(), e.Plan().String())
	}
}

// TestGraphsOfBF16 has products of bf16 without the option: rounding changes no operand, and results are those of the
// interpreter, rounded to bf16 once.
func TestGraphsOfBF16(t *testing.T) {
	m := module(t, "graph g(%x: bf16[20,65]) {\n %w = get_attr[w] : bf16[33,65]\n %r = call_function[linear](%x, %w)\n return %r\n}\nparam w : bf16[33,65]\n")
	in, err := passes.Inputs(m.Graph, nil, 3)
	require.NoError(t, err)
	want := interpret(t, m, in...)
	e, err := cpu.Compile(m, lowering.Options{})
	require.NoError(t, err)
	require.Equal(t, 1, e.Stats().Rounded)
	got, err := e.Run(ctx, in)
	require.NoError(t, err)
	require.Equal(t, array.BF16, got[0].DType())
	for i := range want[0].Len() {
		a, b := array.Float64At(want[0], i), array.Float64At(got[0], i)
		require.InDelta(t, a, b, max(a, -a)/128+1e-6)
	}
	exact, err := cpu.Compile(m, lowering.Options{Exact: true})
	require.NoError(t, err)
	require.Zero(t, exact.Stats().Rounded)
}

// TestProductsRefused names what the option cannot be, or be combined with.
func TestProductsRefused(t *testing.T) {
	m := module(t, "graph g(%x: f32[2,3]) {\n %w = get_attr[w] : f32[4,3]\n %r = call_function[linear](%x, %w)\n return %r\n}\nparam w : f32[4,3]\n")
	for _, c := range []struct {
		o    lowering.Options
		says string
	}{
		{lowering.Options{Products: array.F16}, "operands of products are to be rounded to f16, expected bf16"},
		{lowering.Options{Products: array.BF16, Exact: true}, "cannot be combined with Exact or Weights"},
		{lowering.Options{Products: array.BF16, Weights: array.F16}, "cannot be combined with Exact or Weights"},
	} {
		_, err := cpu.Compile(m, c.o)
		require.ErrorContains(t, err, c.says)
	}
}

// TestSamplesOfProductsWithOperandsInBF16 runs all samples of operators that have a weight, with operands that bf16 has
// exactly: there the option changes nothing but the order of sums.
func TestSamplesOfProductsWithOperandsInBF16(t *testing.T) {
	ran := 0
	for _, o := range op.All() {
		if o.Structural() || o.AdHoc || o.Class != op.Contraction {
			continue
		}
		t.Run(o.Key(), func(t *testing.T) {
			for _, s := range o.Samples() {
				s.In = slices.Clone(s.In)
				for i, a := range s.In {
					if a != nil && a.DType() == array.F32 {
						s.In[i] = array.Cast(array.Cast(a, array.BF16), array.F32)
					}
				}
				m := frozen(t, o, s)
				if m == nil {
					continue
				}
				want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
				require.NoError(t, err, s.Name)
				e := compile(t, m, lowering.Options{Products: array.BF16})
				got, err := e.Run(ctx, s.In[:1])
				require.NoError(t, err, s.Name)
				near(t, s.Name, want, got)
				again(t, e, s.In[:1], got)
				ran += e.Stats().Rounded
			}
		})
	}
	require.Greater(t, ran, 20)
}
