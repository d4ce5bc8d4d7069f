package nn

import (
	"strconv"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

// MaxPoolBase is what maximum pools of all dimensions share. A list with one
// element holds for all axes; an empty Stride means KernelSize.
type MaxPoolBase struct {
	leaf
	KernelSize, Stride, Padding, Dilation []int
	CeilMode                              bool
}

type (
	// MaxPool1d is torch.nn.MaxPool1d: the greatest element of windows over x [N, C, L].
	MaxPool1d struct{ MaxPoolBase }
	// MaxPool2d is torch.nn.MaxPool2d: the greatest element of windows over x [N, C, H, W].
	MaxPool2d struct{ MaxPoolBase }
	// MaxPool3d is torch.nn.MaxPool3d: the greatest element of windows over x [N, C, D, H, W].
	MaxPool3d struct{ MaxPoolBase }
)

// NewMaxPool1d returns a maximum pool over one axis.
func NewMaxPool1d(kernel int, opts ...PoolOption) *MaxPool1d {
	return &MaxPool1d{newMaxPool("max_pool1d", 1, kernel, opts)}
}

// NewMaxPool2d returns a maximum pool over two axes.
func NewMaxPool2d(kernel int, opts ...PoolOption) *MaxPool2d {
	return &MaxPool2d{newMaxPool("max_pool2d", 2, kernel, opts)}
}

// NewMaxPool3d returns a maximum pool over three axes.
func NewMaxPool3d(kernel int, opts ...PoolOption) *MaxPool3d {
	return &MaxPool3d{newMaxPool("max_pool3d", 3, kernel, opts)}
}

func poolSettings(name string, n, kernel int, opts []PoolOption) settings {
	s := settings{kernel: []int{kernel}}
	for _, o := range opts {
		o.pool(&s)
	}
	checkKernel(name, s.kernel, n)
	return s
}

func newMaxPool(name string, n, kernel int, opts []PoolOption) MaxPoolBase {
	s := poolSettings(name, n, kernel, opts)
	return MaxPoolBase{KernelSize: s.kernel, Stride: s.stride, Padding: s.padding, Dilation: s.dilation, CeilMode: s.ceilMode}
}

func (p *MaxPoolBase) attrs() tensor.MaxPoolAttrs {
	return tensor.MaxPoolAttrs{KernelSize: compact(p.KernelSize, 0), Stride: stride(p.Stride, p.KernelSize),
		Padding: compact(p.Padding, 0), Dilation: compact(p.Dilation, 1), CeilMode: p.CeilMode}
}

// stride leaves a pool's stride out where it is the kernel size.
func stride(v, kernel []int) op.Ints {
	if s := compact(v, 0); s != compact(kernel, 0) {
		return s
	}
	return op.Ints{}
}

// Forward returns the maxima of x.
func (m *MaxPool1d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.MaxPool1d, m.attrs(), x)
}

// Forward returns the maxima of x.
func (m *MaxPool2d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.MaxPool2d, m.attrs(), x)
}

// Forward returns the maxima of x.
func (m *MaxPool3d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.MaxPool3d, m.attrs(), x)
}

// AvgPoolBase is what average pools of all dimensions share; see MaxPoolBase.
type AvgPoolBase struct {
	leaf
	KernelSize, Stride, Padding []int
	CeilMode, CountExcludePad   bool
	DivisorOverride             int // 0: the number of elements of the window
}

type (
	// AvgPool1d is torch.nn.AvgPool1d: the mean of windows over x [N, C, L].
	AvgPool1d struct{ AvgPoolBase }
	// AvgPool2d is torch.nn.AvgPool2d: the mean of windows over x [N, C, H, W].
	AvgPool2d struct{ AvgPoolBase }
	// AvgPool3d is torch.nn.AvgPool3d: the mean of windows over x [N, C, D, H, W].
	AvgPool3d struct{ AvgPoolBase }
)

// NewAvgPool1d returns an average pool over one axis.
func NewAvgPool1d(kernel int, opts ...PoolOption) *AvgPool1d {
	return &AvgPool1d{newAvgPool("avg_pool1d", 1, kernel, opts)}
}

// NewAvgPool2d returns an average pool over two axes.
func NewAvgPool2d(kernel int, opts ...PoolOption) *AvgPool2d {
	return &AvgPool2d{newAvgPool("avg_pool2d", 2, kernel, opts)}
}

// NewAvgPool3d returns an average pool over three axes.
func NewAvgPool3d(kernel int, opts ...PoolOption) *AvgPool3d {
	return &AvgPool3d{newAvgPool("avg_pool3d", 3, kernel, opts)}
}

func newAvgPool(name string, n, kernel int, opts []PoolOption) AvgPoolBase {
	s := poolSettings(name, n, kernel, opts)
	return AvgPoolBase{KernelSize: s.kernel, Stride: s.stride, Padding: s.padding, CeilMode: s.ceilMode,
		CountExcludePad: s.excludePad, DivisorOverride: s.divisor}
}

func (p *AvgPoolBase) attrs() tensor.AvgPoolAttrs {
	return tensor.AvgPoolAttrs{KernelSize: compact(p.KernelSize, 0), Stride: stride(p.Stride, p.KernelSize),
		Padding: compact(p.Padding, 0), CeilMode: p.CeilMode, CountExcludePad: p.CountExcludePad, DivisorOverride: p.DivisorOverride}
}

// Forward returns the means of x.
func (m *AvgPool1d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.AvgPool1d, m.attrs(), x)
}

// Forward returns the means of x.
func (m *AvgPool2d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.AvgPool2d, m.attrs(), x)
}

// Forward returns the means of x.
func (m *AvgPool3d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.AvgPool3d, m.attrs(), x)
}

// AdaptivePoolBase is what adaptive pools share: the size of the result, one
// number or one for each axis.
type AdaptivePoolBase struct {
	leaf
	OutputSize []int
}

type (
	// AdaptiveAvgPool1d is torch.nn.AdaptiveAvgPool1d on x [N, C, L].
	AdaptiveAvgPool1d struct{ AdaptivePoolBase }
	// AdaptiveAvgPool2d is torch.nn.AdaptiveAvgPool2d on x [N, C, H, W].
	AdaptiveAvgPool2d struct{ AdaptivePoolBase }
	// AdaptiveAvgPool3d is torch.nn.AdaptiveAvgPool3d on x [N, C, D, H, W].
	AdaptiveAvgPool3d struct{ AdaptivePoolBase }
	// AdaptiveMaxPool1d is torch.nn.AdaptiveMaxPool1d on x [N, C, L].
	AdaptiveMaxPool1d struct{ AdaptivePoolBase }
	// AdaptiveMaxPool2d is torch.nn.AdaptiveMaxPool2d on x [N, C, H, W].
	AdaptiveMaxPool2d struct{ AdaptivePoolBase }
	// AdaptiveMaxPool3d is torch.nn.AdaptiveMaxPool3d on x [N, C, D, H, W].
	AdaptiveMaxPool3d struct{ AdaptivePoolBase }
)

// NewAdaptiveAvgPool1d returns a pool whose result has the given size.
func NewAdaptiveAvgPool1d(size ...int) *AdaptiveAvgPool1d {
	return &AdaptiveAvgPool1d{newAdaptive(1, size)}
}

// NewAdaptiveAvgPool2d returns a pool whose result has the given size.
func NewAdaptiveAvgPool2d(size ...int) *AdaptiveAvgPool2d {
	return &AdaptiveAvgPool2d{newAdaptive(2, size)}
}

// NewAdaptiveAvgPool3d returns a pool whose result has the given size.
func NewAdaptiveAvgPool3d(size ...int) *AdaptiveAvgPool3d {
	return &AdaptiveAvgPool3d{newAdaptive(3, size)}
}

// NewAdaptiveMaxPool1d returns a pool whose result has the given size.
func NewAdaptiveMaxPool1d(size ...int) *AdaptiveMaxPool1d {
	return &AdaptiveMaxPool1d{newAdaptive(1, size)}
}

// NewAdaptiveMaxPool2d returns a pool whose result has the given size.
func NewAdaptiveMaxPool2d(size ...int) *AdaptiveMaxPool2d {
	return &AdaptiveMaxPool2d{newAdaptive(2, size)}
}

// NewAdaptiveMaxPool3d returns a pool whose result has the given size.
func NewAdaptiveMaxPool3d(size ...int) *AdaptiveMaxPool3d {
	return &AdaptiveMaxPool3d{newAdaptive(3, size)}
}

func newAdaptive(n int, size []int) AdaptivePoolBase {
	if len(size) != 1 && len(size) != n {
		refuse("adaptive_pool", strconv.Itoa(len(size))+" output sizes, expected 1 or "+strconv.Itoa(n), "")
	}
	return AdaptivePoolBase{OutputSize: size}
}

func (p *AdaptivePoolBase) attrs() tensor.AdaptivePoolAttrs {
	return tensor.AdaptivePoolAttrs{OutputSize: compact(p.OutputSize, -1)}
}

// Forward returns the means of x.
func (m *AdaptiveAvgPool1d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.AdaptiveAvgPool1d, m.attrs(), x)
}

// Forward returns the means of x.
func (m *AdaptiveAvgPool2d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.AdaptiveAvgPool2d, m.attrs(), x)
}

// Forward returns the means of x.
func (m *AdaptiveAvgPool3d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.AdaptiveAvgPool3d, m.attrs(), x)
}

// Forward returns the maxima of x.
func (m *AdaptiveMaxPool1d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.AdaptiveMaxPool1d, m.attrs(), x)
}

// Forward returns the maxima of x.
func (m *AdaptiveMaxPool2d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.AdaptiveMaxPool2d, m.attrs(), x)
}

// Forward returns the maxima of x.
func (m *AdaptiveMaxPool3d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.AdaptiveMaxPool3d, m.attrs(), x)
}

// LPPoolBase is what power-average pools share; see MaxPoolBase.
type LPPoolBase struct {
	leaf
	NormType           float64
	KernelSize, Stride []int
	CeilMode           bool
}

type (
	// LPPool1d is torch.nn.LPPool1d: the NormType-norm of windows over x [N, C, L].
	LPPool1d struct{ LPPoolBase }
	// LPPool2d is torch.nn.LPPool2d: the NormType-norm of windows over x [N, C, H, W].
	LPPool2d struct{ LPPoolBase }
	// LPPool3d is torch.nn.LPPool3d: the NormType-norm of windows over x
	// [N, C, D, H, W].
	LPPool3d struct{ LPPoolBase }
)

// NewLPPool1d returns a power-average pool over one axis.
func NewLPPool1d(norm float64, kernel int, opts ...PoolOption) *LPPool1d {
	return &LPPool1d{newLPPool("lp_pool1d", 1, norm, kernel, opts)}
}

// NewLPPool2d returns a power-average pool over two axes.
func NewLPPool2d(norm float64, kernel int, opts ...PoolOption) *LPPool2d {
	return &LPPool2d{newLPPool("lp_pool2d", 2, norm, kernel, opts)}
}

// NewLPPool3d returns a power-average pool over three axes.
func NewLPPool3d(norm float64, kernel int, opts ...PoolOption) *LPPool3d {
	return &LPPool3d{newLPPool("lp_pool3d", 3, norm, kernel, opts)}
}

func newLPPool(name string, n int, norm float64, kernel int, opts []PoolOption) LPPoolBase {
	s := poolSettings(name, n, kernel, opts)
	if norm == 0 {
		refuse(name, "the norm is 0, expected another number", "")
	}
	return LPPoolBase{NormType: norm, KernelSize: s.kernel, Stride: s.stride, CeilMode: s.ceilMode}
}

func (p *LPPoolBase) attrs() tensor.LpPoolAttrs {
	return tensor.LpPoolAttrs{NormType: p.NormType, KernelSize: compact(p.KernelSize, 0), Stride: stride(p.Stride, p.KernelSize), CeilMode: p.CeilMode}
}

// Forward returns the norms of x.
func (m *LPPool1d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.LpPool1d, m.attrs(), x)
}

// Forward returns the norms of x.
func (m *LPPool2d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.LpPool2d, m.attrs(), x)
}

// Forward returns the norms of x.
func (m *LPPool3d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.LpPool3d, m.attrs(), x)
}

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
