package onnx

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/shape"
)

// A transform of a size that is left open is that of the size that it has when it runs.
func TestTransformsOfOpenSizes(t *testing.T) {
	for _, src := range []string{
		`g (float[2,N,1] x) => (float y) <int64 a = {1}> { y = DFT(x, _, a) }`,
		`g (float[2,N,2] x) => (float y) <int64 a = {1}> { y = DFT(x, _, a) }`,
		`g (float[2,N,2] x) => (float y) <int64 a = {1}> { y = DFT<inverse=1>(x, _, a) }`,
		`g (float[2,N,1] x) => (float y) <int64 a = {1}> { y = DFT<onesided=1>(x, _, a) }`,
		`g (float[N,3,2] x) => (float y) <int64 a = {0}> { y = DFT(x, _, a) }`,
		`g (float16[2,N,1] x) => (float16 y) <int64 a = {-2}> { y = DFT<onesided=1>(x, _, a) }`,
		`g (double[2,N,2] x) => (double y) <int64 a = {1}, int64[1] one = {1}, int64[1] two = {2}> { n = Shape<start=1, end=2>(x) y = DFT<inverse=1>(x, n, a) }`,
	} {
		t.Run(src, func(t *testing.T) {
			f := fromText(`<ir_version: 10, opset_import: ["" : 20]> ` + src)
			open, err := f.Import(Options{})
			require.NoError(t, err)
			require.NoError(t, graph.Lint(open.Graph).Err())
			of := open.Graph.Inputs()[0].Type()
			for _, n := range []int{1, 2, 5, 8, 33} {
				_, dims, ok := of.Bind(func(string) shape.Dim { return shape.Const(n) }).Concrete()
				require.True(t, ok)
				x := array.New(of.DType(), dims...)
				for i := range x.Len() {
					array.SetFloat64At(x, i, math.Sin(float64(3*i+1)))
				}
				fixed, err := f.Import(Options{Inputs: map[string]shape.Type{"x": shape.TypeOf(x)}})
				require.NoError(t, err)
				want, err := (&interp.Interpreter{State: interp.NewState(fixed)}).RunArrays(context.Background(), []*array.Array{x})
				require.NoError(t, err)
				got, err := (&interp.Interpreter{State: interp.NewState(open)}).RunArrays(context.Background(), []*array.Array{x})
				require.NoError(t, err)
				require.Equal(t, want[0].Shape(), got[0].Shape())
				for i := range got[0].Len() {
					require.InDelta(t, array.Float64At(want[0], i), array.Float64At(got[0], i), 1e-5, fmt.Sprint(n, " ", i))
				}
			}
		})
	}
}
