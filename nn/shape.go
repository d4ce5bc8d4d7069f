package nn

import (
	"slices"

	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// Flatten is torch.nn.Flatten: it joins the axes from StartDim to EndDim.
type Flatten struct {
	leaf
	StartDim, EndDim int
}

// NewFlatten returns a module that joins all axes but the first.
func NewFlatten() *Flatten { return &Flatten{StartDim: 1, EndDim: -1} }

// Forward joins axes of x.
func (m *Flatten) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Flatten, tensor.FlattenAttrs{StartDim: m.StartDim, EndDim: m.EndDim}, x)
}

// Unflatten is torch.nn.Unflatten: it splits axis Dim into Sizes, of which one
// may be -1.
type Unflatten struct {
	leaf
	Dim   int
	Sizes []int
}

// NewUnflatten returns a module that splits an axis.
func NewUnflatten(dim int, sizes ...int) *Unflatten { return &Unflatten{Dim: dim, Sizes: sizes} }

// Forward splits an axis of x.
func (m *Unflatten) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Unflatten, tensor.UnflattenAttrs{Dim: m.Dim, Sizes: shape.ConstDims(m.Sizes...)}, x)
}

// Upsample is torch.nn.Upsample: it resizes the axes after batch and channels,
// to Size or by ScaleFactor (one number or one for each axis). Mode is "nearest"
// (also when empty), "linear", "bilinear", "bicubic" or "trilinear".
type Upsample struct {
	leaf
	Size         []int
	ScaleFactor  []float64
	Mode         string
	AlignCorners bool
}

// NewUpsample returns a module that resizes by a factor.
func NewUpsample(factor float64, mode string) *Upsample {
	return &Upsample{ScaleFactor: []float64{factor}, Mode: mode}
}

// NewUpsampleTo returns a module that resizes to a size.
func NewUpsampleTo(mode string, size ...int) *Upsample { return &Upsample{Size: size, Mode: mode} }

// Forward resizes x.
func (m *Upsample) Forward(x *tensor.Tensor) *tensor.Tensor {
	a := tensor.InterpolateAttrs{Mode: m.Mode, AlignCorners: m.AlignCorners}
	if m.Mode == "nearest" {
		a.Mode = ""
	}
	if len(m.Size) > 0 {
		a.Size = shape.ConstDims(m.Size...)
	} else {
		a.ScaleFactor = tensor.Floats(m.ScaleFactor...)
	}
	return apply(m, std.Interpolate, a, x)
}

// PixelShuffle is torch.nn.PixelShuffle: [..., C*r*r, H, W] to [..., C, H*r, W*r];
// Shi et al., arXiv:1609.05158.
type PixelShuffle struct {
	leaf
	UpscaleFactor int
}

// NewPixelShuffle returns a pixel shuffle.
func NewPixelShuffle(factor int) *PixelShuffle { return &PixelShuffle{UpscaleFactor: factor} }

// Forward rearranges x.
func (m *PixelShuffle) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.PixelShuffle, tensor.PixelShuffleAttrs{UpscaleFactor: m.UpscaleFactor}, x)
}

// PixelUnshuffle is torch.nn.PixelUnshuffle, the inverse of PixelShuffle.
type PixelUnshuffle struct {
	leaf
	DownscaleFactor int
}

// NewPixelUnshuffle returns a pixel unshuffle.
func NewPixelUnshuffle(factor int) *PixelUnshuffle { return &PixelUnshuffle{DownscaleFactor: factor} }

// Forward rearranges x.
func (m *PixelUnshuffle) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.PixelUnshuffle, tensor.PixelUnshuffleAttrs{DownscaleFactor: m.DownscaleFactor}, x)
}

// Unfold is torch.nn.Unfold: the sliding windows of x [N, C, H, W] as columns
// [N, C*k, L].
type Unfold struct {
	leaf
	KernelSize, Dilation, Padding, Stride []int
}

// NewUnfold returns an unfolding; Kernel, Stride, Padding and Dilation apply.
func NewUnfold(kernel int, opts ...ConvOption) *Unfold {
	s := convSettings(kernel, opts)
	return &Unfold{KernelSize: checkKernel("unfold", s.kernel, 2), Dilation: s.dilation, Padding: s.padding, Stride: s.stride}
}

// Forward returns the windows of x.
func (m *Unfold) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Unfold, tensor.UnfoldAttrs{KernelSize: compact(m.KernelSize, 0), Dilation: compact(m.Dilation, 1),
		Padding: compact(m.Padding, 0), Stride: compact(m.Stride, 1)}, x)
}

// Fold is torch.nn.Fold: it adds columns [N, C*k, L] of sliding windows back
// into images [N, C, H, W] of OutputSize.
type Fold struct {
	leaf
	OutputSize, KernelSize, Dilation, Padding, Stride []int
}

// NewFold returns a folding into images of height h and width w.
func NewFold(h, w, kernel int, opts ...ConvOption) *Fold {
	s := convSettings(kernel, opts)
	return &Fold{OutputSize: []int{h, w}, KernelSize: checkKernel("fold", s.kernel, 2), Dilation: s.dilation, Padding: s.padding, Stride: s.stride}
}

// Forward adds the columns of x up.
func (m *Fold) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Fold, tensor.FoldAttrs{OutputSize: shape.ConstDims(m.OutputSize...), KernelSize: compact(m.KernelSize, 0),
		Dilation: compact(m.Dilation, 1), Padding: compact(m.Padding, 0), Stride: compact(m.Stride, 1)}, x)
}

// PadBase is what the paddings share: two counts for each axis, from the last
// one backwards (left, right, top, bottom, ...).
type PadBase struct {
	leaf
	Padding []int
}

type (
	// ZeroPad pads with zeros: torch.nn.ZeroPad1d to 3d by the number of counts.
	ZeroPad struct{ PadBase }
	// ConstantPad pads with Value: torch.nn.ConstantPad1d to 3d.
	ConstantPad struct {
		PadBase
		Value float64
	}
	// ReflectionPad pads with the mirror image without the edge:
	// torch.nn.ReflectionPad1d to 3d.
	ReflectionPad struct{ PadBase }
	// ReplicationPad pads with the edge: torch.nn.ReplicationPad1d to 3d.
	ReplicationPad struct{ PadBase }
	// CircularPad pads with the other end: torch.nn.CircularPad1d to 3d.
	CircularPad struct{ PadBase }
)

func padBase(padding []int) PadBase {
	if len(padding) == 0 || len(padding)%2 != 0 {
		refuse("pad", "the padding has an odd number of counts or none, expected two for each axis", "")
	}
	return PadBase{Padding: slices.Clone(padding)}
}

// NewZeroPad returns a padding with zeros.
func NewZeroPad(padding ...int) *ZeroPad { return &ZeroPad{padBase(padding)} }

// NewConstantPad returns a padding with a number.
func NewConstantPad(value float64, padding ...int) *ConstantPad {
	return &ConstantPad{padBase(padding), value}
}

// NewReflectionPad returns a padding with the mirror image.
func NewReflectionPad(padding ...int) *ReflectionPad { return &ReflectionPad{padBase(padding)} }

// NewReplicationPad returns a padding with the edge.
func NewReplicationPad(padding ...int) *ReplicationPad { return &ReplicationPad{padBase(padding)} }

// NewCircularPad returns a padding with the other end.
func NewCircularPad(padding ...int) *CircularPad { return &CircularPad{padBase(padding)} }

func (p *PadBase) run(m any, mode string, value float64, x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Pad, tensor.PadAttrs{Pad: shape.ConstDims(p.Padding...), Mode: mode, Value: value}, x)
}

// Forward pads x.
func (m *ZeroPad) Forward(x *tensor.Tensor) *tensor.Tensor { return m.run(m, "", 0, x) }

// Forward pads x.
func (m *ConstantPad) Forward(x *tensor.Tensor) *tensor.Tensor { return m.run(m, "", m.Value, x) }

// Forward pads x.
func (m *ReflectionPad) Forward(x *tensor.Tensor) *tensor.Tensor { return m.run(m, "reflect", 0, x) }

// Forward pads x.
func (m *ReplicationPad) Forward(x *tensor.Tensor) *tensor.Tensor { return m.run(m, "replicate", 0, x) }

// Forward pads x.
func (m *CircularPad) Forward(x *tensor.Tensor) *tensor.Tensor { return m.run(m, "circular", 0, x) }

// padAround pads both sides of the last len(p) axes of x.
func padAround(x *tensor.Tensor, p []int, mode string) *tensor.Tensor {
	var counts []int
	for _, n := range slices.Backward(p) {
		counts = append(counts, n, n)
	}
	return x.PadWith(counts, tensor.PadAttrs{Mode: mode})
}
