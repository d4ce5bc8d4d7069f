package std

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

func TestMovementMessages(t *testing.T) {
	for _, c := range []struct {
		o     *op.Op
		attrs any
		in    string
		want  string
	}{
		{Reshape, ReshapeAttrs{shape.ConstDims(5, 2)}, "f32[3,4]", "[3,4] has 12 elements, expected 10 elements for shape [5,2]"},
		{Reshape, ReshapeAttrs{shape.ConstDims(-1, 5)}, "f32[3,4]", "[3,4] has 12 elements, expected a multiple of 5 elements for shape [-1,5]"},
		{Narrow, NarrowAttrs{1, shape.Const(2), shape.Const(3)}, "f32[3,4]", "dimension 1 has size 4, expected at least 3 elements from 2 on"},
		{Chunk, ChunkAttrs{4, 0}, "f32[6]", "size 6 makes 3 chunks of at most 2, expected 4"},
		{Expand, ExpandAttrs{shape.ConstDims(2, 4)}, "f32[2,3]", "dimension 1 of x has size 3, expected 1 or 4"},
	} {
		in, err := shape.ParseType(c.in)
		require.NoError(t, err)
		_, err = c.o.Type(nil, c.attrs, []shape.Type{in})
		require.ErrorContains(t, err, c.want)
	}
}

func TestSymbolicBoundsMustBeBound(t *testing.T) {
	_, err := Slice.Eval(&kernel.Workspace{}, SliceAttrs{Stop: shape.Sym("S")}, []*array.Array{array.New(array.F32, 4)})
	require.ErrorIs(t, err, op.NoMeaning)
}
