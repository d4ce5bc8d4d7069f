package onnx

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/shape"
)

// Exporters write "expand, but keep what is -1" as comparisons of sizes: they are decided
// when a model is imported, and stay open where sizes decide them.
func TestComparisonsOfSizes(t *testing.T) {
	list := func(d array.DType, dims ...shape.Dim) *sizes { return &sizes{dims: dims, dtype: d} }
	n, one := shape.Sym("N"), shape.Const(1)
	minus := list(array.I64, shape.Const(-1))
	got := equalSizes(nil, []*sizes{list(array.I64, n, shape.Const(-1), one), minus})
	require.Equal(t, list(array.Bool, shape.Const(0), one, shape.Const(0)), got)
	got = whereSizes(nil, []*sizes{got, list(array.I64, one), list(array.I64, n, shape.Const(-1), shape.Const(7))})
	require.Equal(t, list(array.I64, n, one, shape.Const(7)), got)

	open := equalSizes(nil, []*sizes{list(array.I64, n), list(array.I64, shape.Const(3))})
	require.True(t, open.dims[0].IsUnknown(), "N may be 3")
	require.Nil(t, equalSizes(nil, []*sizes{list(array.I64, n, n), list(array.I64, n, n, n)}))
	require.Nil(t, whereSizes(nil, []*sizes{open, minus, minus}))
	require.Nil(t, whereSizes(nil, []*sizes{minus, minus, nil}))
}
