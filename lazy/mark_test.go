package lazy_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

// Calls of a capture have the marks that Options.Mark gives them, and their order.
func TestCapture_marks(t *testing.T) {
	mark := uint64(0)
	s := lazy.New(lazy.Options{Mark: func() uint64 { return mark }})
	defer func() { require.NoError(t, s.Close()) }()
	x := tensor.FromSlice([]float32{1, 2})
	var y *tensor.Tensor
	got, err := s.Capture(lazy.Code{Data: []*tensor.Tensor{x}, Run: func() {
		a := x.Neg()
		mark = 7
		b := x.Exp().Add(a)
		mark = 0
		y = b.Mul(x)
	}, Found: func() ([]*tensor.Tensor, bool) { return []*tensor.Tensor{y}, true }})
	require.NoError(t, err)
	calls := slices.Clone(got.Calls)
	slices.SortFunc(calls, func(a, b lazy.CapturedCall) int { return a.Order - b.Order })
	var told []any
	for _, c := range calls {
		told = append(told, c.Op.Name, c.Mark)
	}
	require.Equal(t, []any{"neg", uint64(0), "exp", uint64(7), "add", uint64(7), "mul", uint64(0)}, told)
	require.Len(t, got.Kept, 1)
	require.Equal(t, "mul", got.Calls[got.Kept[0]].Op.Name)
}
