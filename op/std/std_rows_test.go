package std_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

// rowsBuilder makes calls of tensors.
type rowsBuilder struct{}

func (rowsBuilder) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	args := make([]*tensor.Tensor, len(in))
	for i, v := range in {
		args[i] = v.(*tensor.Tensor)
	}
	return tensor.CallOp(o, attrs, args...)
}

func (rowsBuilder) Item(op.Value, int) op.Value { panic("no operator here has several results") }

// What an operator of a list says of the slices of one tensor is what it gives of the list.
func TestRows(t *testing.T) {
	v := make([]float32, 24)
	for i := range v {
		v[i] = float32(i)
	}
	x := tensor.New(array.FromSlice(v, 2, 3, 4))
	for _, o := range []*op.Op{std.Stack, std.Cat} {
		most := 2
		if o == std.Cat {
			most = 1
		}
		for dim := -most - 1; dim <= most; dim++ {
			want := tensor.CallOp(o, std.DimAttrs{Dim: dim}, x.UnbindDim(0)...)
			got := o.Rows(rowsBuilder{}, std.DimAttrs{Dim: dim}, x).(*tensor.Tensor)
			require.True(t, array.Equal(want.Array(), got.Array()), "%s of dimension %d: %v, want %v", o.Name, dim, got, want)
		}
	}
	require.Nil(t, std.Linear.Rows)
}
