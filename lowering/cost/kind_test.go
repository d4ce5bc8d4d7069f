package cost

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel"
)

func TestKindNames(t *testing.T) {
	c := kernel.ConvPacked{Conv: kernel.Conv{Stride: []int{1, 1}, Groups: 1}, Channels: 8, Kernel: []int{3, 3}, In: []int{7, 7}}
	require.Equal(t, "ConvPacked 3x3", kindName(&c, nil))
	c.Groups, c.Stride = 8, []int{2, 2}
	require.Equal(t, "ConvPacked 3x3 depthwise with stride", kindName(&c, nil))
	c.Groups, c.Stride, c.Kernel, c.In = 2, nil, []int{1, 1}, []int{1, 1}
	require.Equal(t, "ConvPacked 1x1 in groups of 1x1 maps", kindName(&c, nil))
	require.Equal(t, "MatMul", kindName(&kernel.MatMul{}, nil))
	require.Equal(t, "LinearPacked of one row", kindName(&kernel.LinearPacked{}, []int{1, 1, 8}))
	require.Equal(t, "LinearPacked", kindName(&kernel.LinearPacked{}, []int{2, 8}))
	q := kernel.QConv{Stride: []int{2, 2}, Groups: 8, Packed: true, Kernel: []int{3, 3}}
	require.Equal(t, "QConv 3x3 depthwise with stride", kindName(&q, []int{1, 8, 14, 14}))
	require.Equal(t, "QConv 3x3 in groups with stride of 1x1 maps", kindName(&q, []int{1, 16, 1, 1}))
}
