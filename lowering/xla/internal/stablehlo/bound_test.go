package stablehlo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

// TestBoundedWants: programs that have the same operations for two sizes are no one program where these take
// other values, or read at positions of the size.
func TestBoundedWants(t *testing.T) {
	gather := func(g stablehlo.Gather, sizes func(n int) stablehlo.Ints) func(b *stablehlo.Builder, n int) *stablehlo.Value {
		return func(b *stablehlo.Builder, n int) *stablehlo.Value {
			at := b.Const(stablehlo.Of(array.I32, 2), 1)
			return b.Add(b.With("gather", []*stablehlo.Value{b.Arg(0), at}, "dimension_numbers", g, "slice_sizes", sizes(n)))[0]
		}
	}
	for want, write := range map[string]func(b *stablehlo.Builder, n int) *stablehlo.Value{
		"operand 1 is another value": func(b *stablehlo.Builder, n int) *stablehlo.Value {
			return b.Op("subtract", b.Arg(0), b.Arg(n%2))
		},
		"reads positions of dimension 0": gather(stablehlo.Gather{OffsetDims: []int{1}, CollapsedSliceDims: []int{0}, StartIndexMap: []int{0}, IndexVectorDim: 1},
			func(int) stablehlo.Ints { return stablehlo.Ints{1, 3} }),
		"reads positions of dimension 0, which": gather(stablehlo.Gather{OffsetDims: []int{0}, CollapsedSliceDims: []int{1}, StartIndexMap: []int{1}, IndexVectorDim: 1},
			func(int) stablehlo.Ints { return stablehlo.Ints{2, 1} }),
		"": gather(stablehlo.Gather{OffsetDims: []int{0}, CollapsedSliceDims: []int{1}, StartIndexMap: []int{1}, IndexVectorDim: 1},
			func(n int) stablehlo.Ints { return stablehlo.Ints{n, 1} }),
	} {
		program := func(n int) *stablehlo.Module {
			b := stablehlo.NewBuilder(stablehlo.Of(array.F32, n, 3), stablehlo.Of(array.F32, n, 3))
			b.Return(write(b, n))
			return &stablehlo.Module{Name: "p", Main: b.Region}
		}
		p, err := stablehlo.Bounded(program(8), []stablehlo.Symbol{{Bound: 8, Sizes: []int{7, 5}, Others: []*stablehlo.Module{program(7), program(5)}}})
		if want != "" {
			require.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.NoError(t, stablehlo.Verify(p))
		q, err := p.Bind(map[int]int{2: 3})
		require.NoError(t, err)
		require.Equal(t, []int{8, 2}, q.Results()[0].Dims)
	}
}
