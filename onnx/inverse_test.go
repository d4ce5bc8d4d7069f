package onnx_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// TestInverseOfOpenSizes writes inverses of matrices whose order is a symbol, of every float
// type, and reads them back as the one operator, which runs at several orders.
func TestInverseOfOpenSizes(t *testing.T) {
	for _, d := range []array.DType{array.F16, array.BF16, array.F32, array.F64} {
		g := graph.New("net")
		x := g.At().Placeholder("x", shape.TensorType(d, shape.Of(shape.Sym("B"), shape.Sym("N"), shape.Sym("N"))), nil)
		g.DefineSymbol("B", x, 0)
		g.DefineSymbol("N", x, 1)
		g.At().Output(nil, g.At().Function(std.Inverse, nil, x))
		var file bytes.Buffer
		require.NoError(t, onnx.Export(&file, graph.NewModule(g), onnx.ExportOptions{}))
		require.Contains(t, file.String(), "com.microsoft")
		f, err := onnx.Parse(file.Bytes(), "inverse.onnx")
		require.NoError(t, err)
		m, err := f.Import(onnx.Options{})
		require.NoError(t, err)
		calls := 0
		for range m.Graph.Calls(std.Inverse) {
			calls++
		}
		require.Equal(t, 1, calls)
		for _, n := range []int{1, 3, 40} {
			a := array.New(d, 2, n, n)
			for i := range 2 * n {
				array.SetFloat64At(a, i/n*n*n+i%n*(n+1), 4)
			}
			out, err := fx.NewGraphModule(m).RunArrays(context.Background(), []*array.Array{a})
			require.NoError(t, err)
			require.Equal(t, 0.25, array.Float64At(out[0], n*n*2-1))
		}
	}
}
