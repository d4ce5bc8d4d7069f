package std_test

import (
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/blocks"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// quantOps are the operators that stand for others on floats.
var quantOps = []string{"block_attention", "block_embedding", "block_linear", "block_linear_dynamic", "block_quantize", "int4_embedding", "int4_linear", "int8_linear", "q_add", "q_avg_pool", "q_concat", "q_conv1d", "q_conv2d", "q_conv3d", "q_embedding", "q_gru", "q_linear", "q_lstm", "q_matmul", "q_max_pool", "q_mul", "q_table"}

// TestReference compares integer operators with what they stand for: 8-bit results
// are at most one apart, sums are equal.
func TestReference(t *testing.T) {
	var seen []string
	for _, o := range op.All() {
		if !o.HasReference() {
			continue
		}
		seen = append(seen, o.Name)
		for _, s := range o.Samples() {
			want, err := o.EvalReference(&kernel.Workspace{}, s.Attrs, s.In)
			require.NoError(t, err, "%s: %s", o.Name, s.Name)
			got, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
			require.NoError(t, err, "%s: %s", o.Name, s.Name)
			require.GreaterOrEqual(t, len(got), len(want))
			for k := range want {
				near(t, o.Name+": "+s.Name, want[k], got[k], blockTerms(o, s))
			}
		}
	}
	require.Equal(t, quantOps, seen)
}

// blockTerms are, for each result of block_linear and block_linear_dynamic, the sum of the sizes of the terms that are added; nil for other operators.
func blockTerms(o *op.Op, s op.Sample) []float64 {
	if o != std.BlockLinear && o != std.BlockLinearDynamic {
		return nil
	}
	x, weight := array.Contiguous(array.Cast(s.In[0], array.F32)), array.Contiguous(s.In[1])
	f, n, k := blocks.Lookup(s.Attrs.(std.BlockAttrs).Format), weight.Shape()[0], x.Shape()[len(x.Shape())-1]
	w := make([]float32, n*k)
	f.Decode(w, array.Data[uint8](weight))
	var terms []float64
	for row := range x.Len() / max(1, k) {
		for c := range n {
			sum := 0.0
			for p := range k {
				sum += math.Abs(array.Float64At(x, row*k+p) * float64(w[c*k+p]))
			}
			terms = append(terms, sum)
		}
	}
	if k == 0 {
		return nil // the bias alone
	}
	return terms
}

// near requires results to be within one quantum, or close where they are floats: within eight roundings of the sizes of
// their terms where these are given, because sums that end near 0 have large ones.
func near(t *testing.T, what string, want, got *array.Array, terms []float64) {
	t.Helper()
	require.Equal(t, want.DType(), got.DType(), what)
	require.Equal(t, want.Shape(), got.Shape(), what)
	for i := range want.Len() {
		w, g := array.Float64At(want, i), array.Float64At(got, i)
		switch d := want.DType(); {
		case d.IsFloat():
			tol := 1e-5
			if d != array.F32 {
				tol = 1e-2
			}
			bound := tol * max(1, math.Abs(w))
			if terms != nil {
				bound = max(bound, terms[i]*0x8p-24)
			}
			require.InDelta(t, w, g, bound, what)
		case d == array.I32:
			require.Equal(t, w, g, what)
		default:
			require.InDelta(t, w, g, 1, what)
		}
	}
}

// levelSums, set in the environment, makes TestQuantLevels print what it computes.
const levelSums = "GOFX_TEST_QUANT_SUMS"

// TestQuantLevels requires integer operators to give the same bits with whatever
// instructions there are: each level is a process of its own.
func TestQuantLevels(t *testing.T) {
	if os.Getenv(levelSums) != "" {
		fmt.Print(sumsOfQuant(t))
		return
	}
	want := sumsOfQuant(t)
	for _, level := range []string{"generic", "avx2", "avx512"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestQuantLevels$")
		cmd.Env = append(os.Environ(), levelSums+"=1", "GOFX_CPU="+level)
		out, err := cmd.Output()
		require.NoError(t, err, level)
		require.Contains(t, string(out), want, level)
	}
}

// sumsOfQuant has a line for each sample of the operators whose results do not depend
// on the order of sums.
func sumsOfQuant(t *testing.T) string {
	var b strings.Builder
	for _, name := range append([]string{"quantize", "dequantize", "dynamic_quantize"}, quantOps...) {
		o := op.Lookup(name)
		if o == std.BlockLinear || o == std.BlockAttention || o == std.Int4Linear || o == std.Int8Linear || o.Results != nil && name != "dynamic_quantize" {
			continue // sums of floats, networks with functions of floats between their products
		}
		for _, s := range o.Samples() {
			out, err := o.Eval(&kernel.Workspace{Threads: 2}, s.Attrs, s.In)
			require.NoError(t, err)
			h := crc32.NewIEEE()
			for _, a := range out {
				h.Write(array.Bytes(a))
			}
			fmt.Fprintf(&b, "%s, %s: %08x\n", name, s.Name, h.Sum32())
		}
	}
	return b.String()
}
