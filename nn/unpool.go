package nn

import (
	"strconv"

	"github.com/gofx-dev/gofx/tensor"
)

// unpool is what the MaxUnpools share: it takes back a pool of its settings.
type unpool struct{ Kernel, Stride, Padding []int }

type (
	// MaxUnpool1d is torch.nn.MaxUnpool1d.
	MaxUnpool1d struct{ unpool }
	// MaxUnpool2d is torch.nn.MaxUnpool2d.
	MaxUnpool2d struct{ unpool }
	// MaxUnpool3d is torch.nn.MaxUnpool3d.
	MaxUnpool3d struct{ unpool }
)

// NewMaxUnpool1d returns what takes back a MaxPool1d of the same options.
func NewMaxUnpool1d(kernel int, opts ...PoolOption) *MaxUnpool1d {
	return &MaxUnpool1d{newUnpool("max_unpool1d", 1, kernel, opts)}
}

// NewMaxUnpool2d returns what takes back a MaxPool2d of the same options.
func NewMaxUnpool2d(kernel int, opts ...PoolOption) *MaxUnpool2d {
	return &MaxUnpool2d{newUnpool("max_unpool2d", 2, kernel, opts)}
}

// NewMaxUnpool3d returns what takes back a MaxPool3d of the same options.
func NewMaxUnpool3d(kernel int, opts ...PoolOption) *MaxUnpool3d {
	return &MaxUnpool3d{newUnpool("max_unpool3d", 3, kernel, opts)}
}

func newUnpool(name string, n, kernel int, opts []PoolOption) unpool {
	s := poolSettings(name, n, kernel, opts)
	if s.dilation != nil || s.ceilMode || s.excludePad || s.divisor != 0 {
		refuse(name, "an option other than Kernel, Stride and Padding", "leave it out")
	}
	k := filled(s.kernel, n, 1)
	u := unpool{Kernel: k, Stride: k, Padding: filled(s.padding, n, 0)}
	if len(s.stride) > 0 {
		u.Stride = filled(s.stride, n, 1)
	}
	return u
}

// Forward puts the maxima x to the positions at which ForwardIndices of the pool found them, and
// zeros elsewhere. The size of the result is the least that the pool makes x of.
func (m *unpool) Forward(x, indices *tensor.Tensor) *tensor.Tensor {
	n := len(m.Kernel)
	sizes := make([]any, n)
	for i := range sizes {
		sizes[i] = x.Size(i - n).Sub(1).Mul(m.Stride[i]).Add(m.Kernel[i] - 2*m.Padding[i])
	}
	return m.put(x, indices, sizes)
}

// ForwardTo is Forward to other sizes of the axes after batch and channels: numbers or sizes.
func (m *unpool) ForwardTo(x, indices *tensor.Tensor, sizes ...any) *tensor.Tensor {
	if len(sizes) != len(m.Kernel) {
		refuse("max_unpool", strconv.Itoa(len(sizes))+" sizes, expected "+strconv.Itoa(len(m.Kernel)), "")
	}
	return m.put(x, indices, sizes)
}

func (m *unpool) put(x, indices *tensor.Tensor, sizes []any) *tensor.Tensor {
	n := len(m.Kernel)
	first := x.Rank() - n
	var lead []any
	for i := range first {
		lead = append(lead, x.Size(i))
	}
	out := append(append([]any(nil), lead...), sizes...)
	plane := tensor.ZerosWith(out, tensor.SizeAttrs{DType: x.DType()}).Flatten(first, -1)
	return plane.Scatter(indices.Flatten(first, -1), x.Flatten(first, -1), first).Reshape(out...)
}
