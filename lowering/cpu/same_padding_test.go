package cpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// TestSamePaddingOfAnyKernel plans a convolution that keeps sizes for kernels of a
// size that is a symbol, dilated or not.
func TestSamePaddingOfAnyKernel(t *testing.T) {
	e := compile(t, module(t, "graph g(%x: f32[1,2,9,7], %w: f32[3,2,K,L]) {\n symbol K = dim(%w, 2)\n symbol L = dim(%w, 3)\n"+
		" %y = call_function[conv2d](%x, %w) {dilation=[1,2], pad_mode=\"same\"} : f32[1,3,9,7]\n return %y\n}\n"), lowering.Options{})
	attrs := std.ConvAttrs{Dilation: op.IntList(1, 2), PadMode: "same"}
	var g op.Gen
	x := g.Normal(1, 2, 9, 7)
	for k := 1; k <= 4; k++ {
		for l := 1; l <= 5; l++ {
			w := g.Normal(3, 2, k, l)
			want, err := std.Conv2d.Eval(&kernel.Workspace{}, attrs, []*array.Array{x, w})
			require.NoError(t, err)
			got, err := e.Run(ctx, []*array.Array{x, w})
			require.NoError(t, err)
			require.True(t, array.Equal(want[0], got[0]), "%d, %d", k, l)
		}
	}
}
