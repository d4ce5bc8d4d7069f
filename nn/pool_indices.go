package nn

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

// withIndices calls a pool that also returns where its maxima are.
func withIndices(m any, o *op.Op, attrs any, x *tensor.Tensor) (values, indices *tensor.Tensor) {
	out := tensor.Leaf(m, &tensor.Bound{Op: o, Attrs: attrs, Inputs: 1}, x)
	return out[0], out[1]
}

// ForwardIndices returns the maxima of x and the position (i64) of each within its
// input plane, as return_indices=True does in PyTorch.
func (m *MaxPool1d) ForwardIndices(x *tensor.Tensor) (values, indices *tensor.Tensor) {
	return withIndices(m, std.MaxPool1dWithIndices, m.attrs(), x)
}

// ForwardIndices returns the maxima of x and the position (i64) of each within its
// input plane, as return_indices=True does in PyTorch.
func (m *MaxPool2d) ForwardIndices(x *tensor.Tensor) (values, indices *tensor.Tensor) {
	return withIndices(m, std.MaxPool2dWithIndices, m.attrs(), x)
}

// ForwardIndices returns the maxima of x and the position (i64) of each within its
// input plane, as return_indices=True does in PyTorch.
func (m *MaxPool3d) ForwardIndices(x *tensor.Tensor) (values, indices *tensor.Tensor) {
	return withIndices(m, std.MaxPool3dWithIndices, m.attrs(), x)
}

// ForwardIndices returns the maxima of x and the position (i64) of each within its
// input plane, as return_indices=True does in PyTorch.
func (m *AdaptiveMaxPool1d) ForwardIndices(x *tensor.Tensor) (values, indices *tensor.Tensor) {
	return withIndices(m, std.AdaptiveMaxPool1dWithIndices, m.attrs(), x)
}

// ForwardIndices returns the maxima of x and the position (i64) of each within its
// input plane, as return_indices=True does in PyTorch.
func (m *AdaptiveMaxPool2d) ForwardIndices(x *tensor.Tensor) (values, indices *tensor.Tensor) {
	return withIndices(m, std.AdaptiveMaxPool2dWithIndices, m.attrs(), x)
}

// ForwardIndices returns the maxima of x and the position (i64) of each within its
// input plane, as return_indices=True does in PyTorch.
func (m *AdaptiveMaxPool3d) ForwardIndices(x *tensor.Tensor) (values, indices *tensor.Tensor) {
	return withIndices(m, std.AdaptiveMaxPool3dWithIndices, m.attrs(), x)
}
