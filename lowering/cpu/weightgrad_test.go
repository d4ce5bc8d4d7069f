package cpu_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
)

// TestWeightGradientsByTransforms: gradients of 3x3 filters are near those of the interpreter, and the
// same on any number of threads; exact plans have its bits.
func TestWeightGradientsByTransforms(t *testing.T) {
	for name, c := range map[string]struct {
		attrs, weight string
		grad          []int
	}{
		"padded":      {"padding=[1]", "f32[48,32,3,3]", []int{3, 48, 18, 20}},
		"same":        {`pad_mode="same"`, "f32[48,32,3,3]", []int{3, 48, 18, 20}},
		"not padded":  {"", "f32[48,32,3,3]", []int{3, 48, 16, 18}},
		"beyond":      {"padding=[3, 0]", "f32[48,32,3,3]", []int{3, 48, 22, 21}},
		"groups":      {"padding=[1], groups=2", "f32[48,16,3,3]", []int{3, 48, 18, 20}},
		"of one size": {"padding=[1]", "f32[17,32,3,3]", []int{3, 17, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			sep := ", "
			if c.attrs == "" {
				sep = ""
			}
			m := module(t, fmt.Sprintf("graph net(%%x: f32[N,32,18,20], %%g: f32[N,%d,%d,%d]) {\n  symbol N = dim(%%x, 0)\n  %%y = call_function[conv2d_weight_grad](%%x, %%g) {kernel_size=[3]%s%s} : %s\n  return %%y\n}\n",
				c.grad[1], c.grad[2], c.grad[3], sep, c.attrs, c.weight))
			var gen op.Gen
			in := []*array.Array{gen.Normal(3, 32, 18, 20), gen.Normal(c.grad...)}
			want := interpret(t, m, in...)
			exact, err := compile(t, m, lowering.Options{Exact: true, Threads: 2}).Run(ctx, in)
			require.NoError(t, err)
			require.Empty(t, fxtest.SameArrays(want, exact))
			one, err := compile(t, m, lowering.Options{Threads: 1}).Run(ctx, in)
			require.NoError(t, err)
			two, err := compile(t, m, lowering.Options{Threads: 2}).Run(ctx, in)
			require.NoError(t, err)
			require.Empty(t, fxtest.SameArrays(one, two))
			most := 0.0
			for _, v := range array.Data[float32](want[0]) {
				most = max(most, math.Abs(float64(v)))
			}
			for i, v := range array.Data[float32](want[0]) {
				require.InDelta(t, v, array.Data[float32](one[0])[i], 2e-5*most)
			}
		})
	}
}
