package nn

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

// ConvBase is what convolutions of all dimensions share. A list of settings with
// one element holds for all axes; an empty one means the default.
type ConvBase struct {
	leaf
	InChannels, OutChannels               int
	KernelSize, Stride, Padding, Dilation []int
	Groups                                int    // 0 means 1
	PaddingMode                           string // "" and "zeros", or "same", "reflect", "replicate", "circular"
	Weight, Bias                          *tensor.Tensor
}

// Conv1d is torch.nn.Conv1d: x [N, C, L] or [C, L], Weight [OutChannels,
// InChannels/Groups, K], Bias [OutChannels] or nil.
type Conv1d struct{ ConvBase }

// Conv2d is torch.nn.Conv2d: x [N, C, H, W] or [C, H, W], Weight [OutChannels,
// InChannels/Groups, KH, KW], Bias [OutChannels] or nil.
type Conv2d struct{ ConvBase }

// Conv3d is torch.nn.Conv3d: x [N, C, D, H, W] or [C, D, H, W], Weight
// [OutChannels, InChannels/Groups, KD, KH, KW], Bias [OutChannels] or nil.
type Conv3d struct{ ConvBase }

// NewConv1d returns a convolution over one axis.
func NewConv1d(in, out, kernel int, opts ...ConvOption) *Conv1d {
	m := &Conv1d{}
	m.build("conv1d", 1, in, out, kernel, opts)
	return m
}

// NewConv2d returns a convolution over two axes; the kernel is square unless
// Kernel is given.
func NewConv2d(in, out, kernel int, opts ...ConvOption) *Conv2d {
	m := &Conv2d{}
	m.build("conv2d", 2, in, out, kernel, opts)
	return m
}

// NewConv3d returns a convolution over three axes; the kernel is cubic unless
// Kernel is given.
func NewConv3d(in, out, kernel int, opts ...ConvOption) *Conv3d {
	m := &Conv3d{}
	m.build("conv3d", 3, in, out, kernel, opts)
	return m
}

// Forward returns the convolution of x.
func (m *Conv1d) Forward(x *tensor.Tensor) *tensor.Tensor { return m.run(m, std.Conv1d, 1, x) }

// Forward returns the convolution of x.
func (m *Conv2d) Forward(x *tensor.Tensor) *tensor.Tensor { return m.run(m, std.Conv2d, 2, x) }

// Forward returns the convolution of x.
func (m *Conv3d) Forward(x *tensor.Tensor) *tensor.Tensor { return m.run(m, std.Conv3d, 3, x) }

// ResetParameters draws weight and bias uniformly within 1/sqrt(fan in).
func (c *ConvBase) ResetParameters(s *Source) { uniformBound(s, c.Weight, c.Bias) }

func (c *ConvBase) build(name string, n, in, out, kernel int, opts []ConvOption) {
	s := convSettings(kernel, opts)
	checkChannels(name, in, out, s.groups)
	k := checkKernel(name, s.kernel, n)
	c.InChannels, c.OutChannels, c.Groups = in, out, s.groups
	c.KernelSize, c.Stride, c.Padding, c.Dilation, c.PaddingMode = k, s.stride, s.padding, s.dilation, s.paddingMode
	c.Weight = zeros(append([]int{out, in / s.groups}, k...)...)
	if s.bias {
		c.Bias = zeros(out)
	}
	start(c, &s)
}

func convSettings(kernel int, opts []ConvOption) settings {
	s := settings{bias: true, groups: 1, kernel: []int{kernel}}
	for _, o := range opts {
		o.conv(&s)
	}
	return s
}

func checkChannels(name string, in, out, groups int) {
	if in < 1 || out < 1 || groups < 1 || in%groups != 0 || out%groups != 0 {
		refuse(name, strconv.Itoa(in)+" and "+strconv.Itoa(out)+" channels in "+strconv.Itoa(groups)+" groups, expected positive multiples of the groups", "")
	}
}

// checkKernel spreads a kernel size over n axes.
func checkKernel(name string, k []int, n int) []int {
	if len(k) != 1 && len(k) != n {
		refuse(name, "the kernel has "+strconv.Itoa(len(k))+" sizes, expected 1 or "+strconv.Itoa(n), "")
	}
	for _, v := range k {
		if v < 1 {
			refuse(name, "the kernel size is "+strconv.Itoa(v)+", expected at least 1", "")
		}
	}
	return filled(k, n, 1)
}

// refuse reports settings that no module can have, at the user's line.
func refuse(what, msg, hint string) {
	panic((&diag.Error{Code: op.BadAttr, Op: what, Msg: msg, Hint: hint}).At(diag.Here()))
}

func (c *ConvBase) attrs() tensor.ConvAttrs {
	a := tensor.ConvAttrs{Stride: compact(c.Stride, 1), Padding: compact(c.Padding, 0), Dilation: compact(c.Dilation, 1)}
	if c.Groups > 1 {
		a.Groups = c.Groups
	}
	return a
}

// run calls the leaf m. Padding with other values than zero is a call of its own
// before it, as in PyTorch.
func (c *ConvBase) run(m any, o *op.Op, n int, x *tensor.Tensor) *tensor.Tensor {
	a := c.attrs()
	switch c.PaddingMode {
	case "", "zeros":
	case "same":
		a.Padding, a.PadMode = op.Ints{}, "same"
	default:
		x = padAround(x, filled(c.Padding, n, 0), c.PaddingMode)
		a.Padding = op.Ints{}
	}
	return weighted(m, o, a, x, c.Weight, c.Bias)
}

// ConvTransposeBase is what transposed convolutions of all dimensions share; see
// ConvBase.
type ConvTransposeBase struct {
	leaf
	InChannels, OutChannels                              int
	KernelSize, Stride, Padding, OutputPadding, Dilation []int
	Groups                                               int // 0 means 1
	Weight, Bias                                         *tensor.Tensor
}

// ConvTranspose1d is torch.nn.ConvTranspose1d: x [N, C, L] or [C, L], Weight
// [InChannels, OutChannels/Groups, K].
type ConvTranspose1d struct{ ConvTransposeBase }

// ConvTranspose2d is torch.nn.ConvTranspose2d: x [N, C, H, W] or [C, H, W],
// Weight [InChannels, OutChannels/Groups, KH, KW].
type ConvTranspose2d struct{ ConvTransposeBase }

// ConvTranspose3d is torch.nn.ConvTranspose3d: x [N, C, D, H, W] or
// [C, D, H, W], Weight [InChannels, OutChannels/Groups, KD, KH, KW].
type ConvTranspose3d struct{ ConvTransposeBase }

// NewConvTranspose1d returns a transposed convolution over one axis.
func NewConvTranspose1d(in, out, kernel int, opts ...ConvOption) *ConvTranspose1d {
	m := &ConvTranspose1d{}
	m.build("conv_transpose1d", 1, in, out, kernel, opts)
	return m
}

// NewConvTranspose2d returns a transposed convolution over two axes.
func NewConvTranspose2d(in, out, kernel int, opts ...ConvOption) *ConvTranspose2d {
	m := &ConvTranspose2d{}
	m.build("conv_transpose2d", 2, in, out, kernel, opts)
	return m
}

// NewConvTranspose3d returns a transposed convolution over three axes.
func NewConvTranspose3d(in, out, kernel int, opts ...ConvOption) *ConvTranspose3d {
	m := &ConvTranspose3d{}
	m.build("conv_transpose3d", 3, in, out, kernel, opts)
	return m
}

// Forward returns the transposed convolution of x.
func (m *ConvTranspose1d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return weighted(m, std.ConvTranspose1d, m.attrs(), x, m.Weight, m.Bias)
}

// Forward returns the transposed convolution of x.
func (m *ConvTranspose2d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return weighted(m, std.ConvTranspose2d, m.attrs(), x, m.Weight, m.Bias)
}

// Forward returns the transposed convolution of x.
func (m *ConvTranspose3d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return weighted(m, std.ConvTranspose3d, m.attrs(), x, m.Weight, m.Bias)
}

// ResetParameters draws weight and bias uniformly within 1/sqrt(fan in), where
// PyTorch counts Weight's second axis as the inputs.
func (c *ConvTransposeBase) ResetParameters(s *Source) { uniformBound(s, c.Weight, c.Bias) }

func (c *ConvTransposeBase) build(name string, n, in, out, kernel int, opts []ConvOption) {
	s := convSettings(kernel, opts)
	checkChannels(name, in, out, s.groups)
	if s.paddingMode != "" && s.paddingMode != "zeros" {
		refuse(name, "padding mode "+s.paddingMode+", expected zeros", "")
	}
	k := checkKernel(name, s.kernel, n)
	c.InChannels, c.OutChannels, c.Groups = in, out, s.groups
	c.KernelSize, c.Stride, c.Padding, c.OutputPadding, c.Dilation = k, s.stride, s.padding, s.outputPadding, s.dilation
	c.Weight = zeros(append([]int{in, out / s.groups}, k...)...)
	if s.bias {
		c.Bias = zeros(out)
	}
	start(c, &s)
}

func (c *ConvTransposeBase) attrs() tensor.ConvTransposeAttrs {
	a := tensor.ConvTransposeAttrs{Stride: compact(c.Stride, 1), Padding: compact(c.Padding, 0),
		OutputPadding: compact(c.OutputPadding, 0), Dilation: compact(c.Dilation, 1)}
	if c.Groups > 1 {
		a.Groups = c.Groups
	}
	return a
}
