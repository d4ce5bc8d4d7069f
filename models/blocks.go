package models

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// linear is a linear layer with zero weights.
func linear(in, out int) *nn.Linear { return nn.NewLinear(in, out, nn.NoInit()) }

// conv is a convolution without bias that keeps the size except for the stride.
func conv(in, out, kernel, stride int) *nn.Conv2d { return groupedConv(in, out, kernel, stride, 1) }

// groupedConv is conv with its channels in groups; as many groups as channels make it depthwise.
func groupedConv(in, out, kernel, stride, groups int) *nn.Conv2d {
	return nn.NewConv2d(in, out, kernel, nn.Stride(stride), nn.Padding(kernel/2), nn.Groups(groups), nn.NoBias(), nn.NoInit())
}

// biasedConv is a convolution of stride 1 with a bias that keeps the size.
func biasedConv(in, out, kernel int) *nn.Conv2d {
	return nn.NewConv2d(in, out, kernel, nn.Padding(kernel/2), nn.NoInit())
}

func batchNorm(n int, opts ...nn.NormOption) *nn.BatchNorm2d {
	return nn.NewBatchNorm2d(n, append(opts, nn.NoInit())...)
}

// convNorm is a convolution, the normalisation of its result and an activation:
// torchvision's Conv2dNormActivation.
func convNorm(c *nn.Conv2d, activation nn.Module, opts ...nn.NormOption) *nn.Sequential {
	s := nn.NewSequential(c, batchNorm(c.OutChannels, opts...))
	if activation != nil {
		s.Modules = append(s.Modules, activation)
	}
	return s
}

// SqueezeExcitation scales each channel by the results of two layers for the
// means of all channels; Hu et al., arXiv:1709.01507.
type SqueezeExcitation struct {
	Avgpool         *nn.AdaptiveAvgPool2d
	Fc1, Fc2        *nn.Conv2d
	Activation      nn.Module
	ScaleActivation nn.Module
}

func newSqueezeExcitation(channels, squeezed int, activation, scale nn.Module) *SqueezeExcitation {
	return &SqueezeExcitation{
		Avgpool:         nn.NewAdaptiveAvgPool2d(1),
		Fc1:             biasedConv(channels, squeezed, 1),
		Fc2:             biasedConv(squeezed, channels, 1),
		Activation:      activation,
		ScaleActivation: scale,
	}
}

// Forward keeps the shape of x [N, C, H, W].
func (m *SqueezeExcitation) Forward(x *tensor.Tensor) *tensor.Tensor {
	scale := nn.Run(m.Activation, m.Fc1.Forward(m.Avgpool.Forward(x)))
	scale = nn.Run(m.ScaleActivation, m.Fc2.Forward(scale))
	return tensor.Mul(scale, x)
}
