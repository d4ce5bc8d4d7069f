package grad_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/tensor"
)

// TestPieces counts how the derivatives by ranges of one value are joined, and holds their
// values to the loss of elements that are written out.
func TestPieces(t *testing.T) {
	type counts = map[string]int
	of := func(list ...*tensor.Tensor) *tensor.Tensor {
		var sum *tensor.Tensor
		for i, v := range list {
			v = v.Square().MulScalar(float64(i + 1)).Sum()
			if sum == nil {
				sum = v
			} else {
				sum = sum.Add(v)
			}
		}
		return sum
	}
	for name, c := range map[string]struct {
		f    func(x *tensor.Tensor) *tensor.Tensor
		spec string
		want counts
		by   func(row, col int) float64 // what x is multiplied by
	}{
		"all of it": {func(x *tensor.Tensor) *tensor.Tensor { return of(x.Slice(1, 4, 6), x.Slice(1, 0, 4)) }, "", counts{"cat": 1},
			func(_, col int) float64 { return []float64{4, 4, 4, 4, 2, 2}[col] }},
		"gaps": {func(x *tensor.Tensor) *tensor.Tensor { return of(x.Slice(1, 1, 2), x.Slice(-1, -2, -1)) }, "", counts{"cat": 1, "full": 3},
			func(_, col int) float64 { return []float64{0, 2, 0, 0, 4, 0}[col] }},
		"overlapping": {func(x *tensor.Tensor) *tensor.Tensor { return of(x.Slice(1, 0, 4), x.Slice(1, 3, 6)) }, "", counts{"slice_scatter": 2, "zeros_like": 2},
			func(_, col int) float64 { return []float64{2, 2, 2, 6, 4, 4}[col] }},
		"by steps": {func(x *tensor.Tensor) *tensor.Tensor {
			return of(x.Slice(1, 0, 6, tensor.SliceAttrs{Step: 2}), x.Slice(1, 1, 2))
		}, "", counts{"slice_scatter": 2, "zeros_like": 2},
			func(_, col int) float64 { return []float64{2, 4, 2, 0, 2, 0}[col] }},
		"one": {func(x *tensor.Tensor) *tensor.Tensor { return of(x.Slice(1, 2, 3)) }, "", counts{"slice_scatter": 1, "zeros_like": 1},
			func(_, col int) float64 { return []float64{0, 0, 2, 0, 0, 0}[col] }},
		"rows": {func(x *tensor.Tensor) *tensor.Tensor { return of(x.Select(0, 1), x.Select(0, -2)) }, "", counts{"cat": 1},
			func(row, _ int) float64 { return []float64{4, 2}[row] }},
		"the same row": {func(x *tensor.Tensor) *tensor.Tensor { return of(x.Select(0, 1), x.Select(0, -1)) }, "", counts{"select_scatter": 2, "zeros_like": 2},
			func(row, _ int) float64 { return []float64{0, 6}[row] }},
		"two dimensions": {func(x *tensor.Tensor) *tensor.Tensor {
			return of(x.Slice(1, 0, 2), x.Slice(1, 2, 6), x.Select(0, 0), x.Select(0, 1))
		}, "", counts{"cat": 2},
			func(row, col int) float64 { return []float64{2, 2, 4, 4, 4, 4}[col] + []float64{6, 8}[row] }},
		"with the whole": {func(x *tensor.Tensor) *tensor.Tensor { return of(x, x.Slice(1, 0, 3), x.Slice(1, 3, 6)) }, "", counts{"cat": 1},
			func(_, col int) float64 { return 2 + []float64{4, 4, 4, 6, 6, 6}[col] }},
		"chunks": {func(x *tensor.Tensor) *tensor.Tensor { p := x.Chunk(3, 1); return of(p[0], p[2]) }, "", counts{"cat": 1, "full": 1},
			func(_, col int) float64 { return []float64{2, 2, 0, 0, 4, 4}[col] }},
		"an open size": {func(x *tensor.Tensor) *tensor.Tensor {
			inside := tensor.SliceAttrs{Inside: true}
			return of(x.Slice(1, x.Size(0), x.Size(1), inside), x.Slice(1, 0, x.Size(0), inside))
		}, "f64[M,N]", counts{"cat": 1}, func(_, col int) float64 { return []float64{4, 4, 2, 2, 2, 2}[col] }},
	} {
		t.Run(name, func(t *testing.T) {
			spec := c.spec
			if spec == "" {
				spec = "f64[2,6]"
			}
			gm, err := fx.Trace(ctx, c.f, fx.Input("x", spec))
			require.NoError(t, err)
			g, err := gm.Gradient(ctx, fx.GradOptions{Wrt: []string{"x"}})
			require.NoError(t, err)
			got := counts{}
			for n := range g.All() {
				switch op := n.Target(); op {
				case "cat", "slice_scatter", "select_scatter", "zeros_like", "full":
					got[op]++
				}
			}
			require.Equal(t, c.want, got, "%s", g)
			x := random(rand.New(rand.NewPCG(1, 2)), 2, 6)
			out, err := g.RunArrays(ctx, []*array.Array{x})
			require.NoError(t, err)
			for i, v := range array.Data[float64](array.Contiguous(out[0])) {
				require.InDelta(t, c.by(i/6, i%6)*array.Data[float64](x)[i], v, 1e-12, "element %d", i)
			}
		})
	}
}
