package grad_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// What PyTorch's autograd found, with its values, for machines that have no PyTorch.
func TestTraps_foundByAutograd(t *testing.T) {
	row := func(v ...float64) *array.Array { return array.FromSlice(v, 1, 1, len(v)) }
	one := array.Scalar(1.0)
	eye := array.New(array.F64, 9, 9)
	for i := range 9 {
		array.SetFloat64At(eye, 10*i, 1)
	}
	index := array.FromSlice([]int64{0, 0, 1}, 3)
	for _, c := range []struct {
		name  string
		o     *op.Op
		attrs any
		in    []*array.Array
		seed  *array.Array
		want  [][]float64
	}{
		{"relu of NaN", std.Relu, nil, []*array.Array{vec(nan, -1)}, vec(2, 2), [][]float64{{2, 0}}},
		{"maximum with NaN", std.Maximum, nil, []*array.Array{vec(nan, 1), vec(1, nan)}, vec(1, 2), [][]float64{{1, 2}, {1, 2}}},
		{"remainder by infinity", std.Remainder, nil, []*array.Array{vec(-1, 1, -5), vec(inf, -inf, 3)}, vec(1, 1, 1), [][]float64{{1, 1, 1}, {1, 1, 2}}},
		{"prelu of infinity", std.Prelu, nil, []*array.Array{vec(-inf, inf, -1, 0), vec(0.5)}, vec(1, 1, 1, 1), [][]float64{{0.5, 1, 0.5, 0.5}, {-inf}}},
		{"prelu with an infinite weight", std.Prelu, nil, []*array.Array{vec(2, 3), vec(inf)}, vec(1, 1), [][]float64{{1, 1}, {0}}},
		{"lp_pool1d of zeros", std.LpPool1d, std.LpPoolAttrs{NormType: 2, KernelSize: op.IntList(2)}, []*array.Array{row(0, 0, 3, -4)}, row(1, 1), [][]float64{{0, 0, 0.6, -0.8}}},
		{"lp_pool1d of sums that are zero", std.LpPool1d, std.LpPoolAttrs{NormType: 1, KernelSize: op.IntList(2)}, []*array.Array{row(1, -1, 2, 3)}, row(1, 1), [][]float64{{0, 0, 1, 1}}},
		{"adaptive_max_pool1d of ties", std.AdaptiveMaxPool1d, std.AdaptivePoolAttrs{OutputSize: op.IntList(1)}, []*array.Array{row(1, 2, 2, 0)}, row(3), [][]float64{{0, 3, 0, 0}}},
		{"products scattered, with zeros", std.ScatterReduce, std.ScatterReduceAttrs{Dim: 0, Reduce: "prod"}, []*array.Array{vec(2, 0, 3), index, vec(0, 5, 0)}, vec(1, 10, 100), [][]float64{{0, 0, 100}, {10, 0, 0}}},
		{"a factor alone at zero", std.ScatterReduce, std.ScatterReduceAttrs{Dim: 0, Reduce: "prod"}, []*array.Array{vec(0, 4, 3), index, vec(2, 5, 7)}, vec(1, 10, 100), [][]float64{{10, 70, 100}, {0, 0, 40}}},
		{"det of a singular matrix", std.Det, nil, []*array.Array{mat(2, 1, 2, 2, 4)}, one, [][]float64{{4, -2, -2, 1}}},
		{"det of rank 1", std.Det, nil, []*array.Array{mat(3, 1, 1, 1, 1, 1, 1, 1, 1, 1)}, one, [][]float64{make([]float64, 9)}},
		{"det of one number", std.Det, nil, []*array.Array{mat(1, 0)}, one, [][]float64{{1}}},
		{"det of a large matrix", std.Det, nil, []*array.Array{eye}, one, [][]float64{array.Data[float64](eye)}},
		{"range", std.Range, nil, []*array.Array{array.Scalar(1.0), array.Scalar(4.0), array.Scalar(1.0)}, vec(1, 2, 3), [][]float64{{6}, {0}, {8}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.attrs == nil {
				c.attrs = c.o.Codec().Zero()
			}
			n := 0
			for _, got := range gradients(t, call{o: c.o, attrs: c.attrs, in: c.in, seeds: []*array.Array{c.seed}}) {
				require.Len(t, got, len(c.want[n]))
				for j := range got {
					require.True(t, got[j] == c.want[n][j] || math.Abs(got[j]-c.want[n][j]) <= 1e-9, "operand %d: got %v, want %v", n, got, c.want[n])
				}
				n++
			}
			require.Len(t, c.want, n)
		})
	}
}
