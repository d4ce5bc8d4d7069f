package models

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// UNet is a small network after Ronneberger et al., arXiv:1505.04597, with batch
// norms and padded convolutions: it marks each point of an image as one of two
// classes.
type UNet struct {
	Enc1, Enc2, Enc3, Mid *DoubleConv
	Up3                   *nn.ConvTranspose2d
	Dec3                  *DoubleConv
	Up2                   *nn.ConvTranspose2d
	Dec2                  *DoubleConv
	Up1                   *nn.ConvTranspose2d
	Dec1                  *DoubleConv
	Head                  *nn.Conv2d
}

// NewUNet returns the network with zero weights.
func NewUNet() *UNet {
	up := func(in, out int) *nn.ConvTranspose2d {
		return nn.NewConvTranspose2d(in, out, 2, nn.Stride(2), nn.NoInit())
	}
	return &UNet{
		Enc1: newDoubleConv(3, 16),
		Enc2: newDoubleConv(16, 32),
		Enc3: newDoubleConv(32, 64),
		Mid:  newDoubleConv(64, 128),
		Up3:  up(128, 64),
		Dec3: newDoubleConv(128, 64),
		Up2:  up(64, 32),
		Dec2: newDoubleConv(64, 32),
		Up1:  up(32, 16),
		Dec1: newDoubleConv(32, 16),
		Head: biasedConv(16, 2, 1),
	}
}

// Forward takes images x [N, 3, H, W] to scores [N, 2, H, W]; height and width
// are multiples of 8.
func (m *UNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	e1 := nn.Run(m.Enc1, x)
	e2 := nn.Run(m.Enc2, halve(e1))
	e3 := nn.Run(m.Enc3, halve(e2))
	x = nn.Run(m.Mid, halve(e3))
	x = nn.Run(m.Dec3, join(e3, m.Up3.Forward(x)))
	x = nn.Run(m.Dec2, join(e2, m.Up2.Forward(x)))
	x = nn.Run(m.Dec1, join(e1, m.Up1.Forward(x)))
	return m.Head.Forward(x)
}

func halve(x *tensor.Tensor) *tensor.Tensor { return tensor.MaxPool2d(x, 2) }

func join(a, b *tensor.Tensor) *tensor.Tensor { return tensor.Cat([]*tensor.Tensor{a, b}, 1) }

// DoubleConv is two convolutions of 3 by 3, each normalised and rectified.
type DoubleConv struct {
	Conv1 *nn.Conv2d
	Bn1   *nn.BatchNorm2d
	Conv2 *nn.Conv2d
	Bn2   *nn.BatchNorm2d
}

func newDoubleConv(in, out int) *DoubleConv {
	return &DoubleConv{
		Conv1: conv(in, out, 3, 1),
		Bn1:   batchNorm(out),
		Conv2: conv(out, out, 3, 1),
		Bn2:   batchNorm(out),
	}
}

// Forward takes x [N, in, H, W] to [N, out, H, W].
func (m *DoubleConv) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = tensor.Relu(m.Bn1.Forward(m.Conv1.Forward(x)))
	return tensor.Relu(m.Bn2.Forward(m.Conv2.Forward(x)))
}

// FCN is the fully convolutional network of Long et al., arXiv:1411.4038, on a ResNet-50 whose
// last stages keep the resolution, with torchvision's names: it scores 21 classes for each point
// of an image.
type FCN struct {
	Backbone   *ResNetMaps
	Classifier *nn.Sequential
}

// NewFCNResNet50 returns the network with zero weights.
func NewFCNResNet50() *FCN {
	r := NewResNet50()
	for i, layer := range []*nn.Sequential{r.Layer3, r.Layer4} {
		for k, b := range layer.Modules {
			dilation := 2 << i
			if k == 0 { // the first block filters as the stage before
				dilation = 1 << i
			}
			b := b.(*Bottleneck)
			dilate(b.Conv2, dilation)
			if b.Downsample != nil {
				dilate(b.Downsample.Modules[0].(*nn.Conv2d), 1)
			}
		}
	}
	return &FCN{
		Backbone: &ResNetMaps{Conv1: r.Conv1, Bn1: r.Bn1, Relu: r.Relu, Maxpool: r.Maxpool,
			Layer1: r.Layer1, Layer2: r.Layer2, Layer3: r.Layer3, Layer4: r.Layer4},
		Classifier: nn.NewSequential(conv(2048, 512, 3, 1), batchNorm(512), nn.NewReLU(), nn.NewDropout(0.1), biasedConv(512, 21, 1)),
	}
}

// dilate gives a convolution that keeps the size a further reach, and stride 1.
func dilate(c *nn.Conv2d, dilation int) {
	c.Stride = []int{1}
	c.Dilation = []int{dilation}
	c.Padding = []int{c.KernelSize[0] / 2 * dilation}
}

// Forward takes images x [N, 3, H, W] to scores [N, 21, H, W].
func (m *FCN) Forward(x *tensor.Tensor) *tensor.Tensor {
	return resizedTo(x, nn.Run(m.Classifier, nn.Run(m.Backbone, x)))
}

// resizedTo interpolates a map between its points to the height and width of an image.
func resizedTo(image, x *tensor.Tensor) *tensor.Tensor {
	size := shape.Of(image.Size(2).Dim(), image.Size(3).Dim())
	return x.Interpolate(tensor.InterpolateAttrs{Size: size, Mode: "bilinear"})
}

// ResNetMaps is a ResNet without its classifier.
type ResNetMaps struct {
	Conv1                          *nn.Conv2d
	Bn1                            *nn.BatchNorm2d
	Relu                           *nn.ReLU
	Maxpool                        *nn.MaxPool2d
	Layer1, Layer2, Layer3, Layer4 *nn.Sequential
}

// Forward takes images x [N, 3, H, W] to the maps of the last stage.
func (m *ResNetMaps) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Maxpool.Forward(m.Relu.Forward(m.Bn1.Forward(m.Conv1.Forward(x))))
	for _, layer := range []*nn.Sequential{m.Layer1, m.Layer2, m.Layer3, m.Layer4} {
		x = nn.Run(layer, x)
	}
	return x
}

// DeepLabV3 is the network of Chen et al., arXiv:1706.05587, on a MobileNetV3, with torchvision's
// names: it scores 21 classes for each point of an image.
type DeepLabV3 struct {
	Backbone   *nn.Sequential
	Classifier *nn.Sequential
}

// NewDeepLabV3MobileNetV3Large returns the network with zero weights.
func NewDeepLabV3MobileNetV3Large() *DeepLabV3 {
	backbone := NewMobileNetV3Large().Features
	for _, b := range backbone.Modules[13:16] { // the last stage keeps the resolution
		depthwise := b.(*InvertedResidualV3).Block.Modules[1].(*nn.Sequential)
		dilate(depthwise.Modules[0].(*nn.Conv2d), 2)
	}
	return &DeepLabV3{
		Backbone: backbone,
		Classifier: nn.NewSequential(newASPP(960, 256, 12, 24, 36),
			conv(256, 256, 3, 1), batchNorm(256), nn.NewReLU(), biasedConv(256, 21, 1)),
	}
}

// Forward takes images x [N, 3, H, W] to scores [N, 21, H, W].
func (m *DeepLabV3) Forward(x *tensor.Tensor) *tensor.Tensor {
	return resizedTo(x, nn.Run(m.Classifier, nn.Run(m.Backbone, x)))
}

// ASPP joins filters of several reaches and the mean of the whole map: atrous spatial pyramid
// pooling.
type ASPP struct {
	Convs   []*nn.Sequential // the last one is of the mean
	Project *nn.Sequential
}

func newASPP(in, out int, dilations ...int) *ASPP {
	m := &ASPP{Convs: []*nn.Sequential{convNorm(conv(in, out, 1, 1), nn.NewReLU())}}
	for _, d := range dilations {
		c := conv(in, out, 3, 1)
		dilate(c, d)
		m.Convs = append(m.Convs, convNorm(c, nn.NewReLU()))
	}
	m.Convs = append(m.Convs, nn.NewSequential(nn.NewAdaptiveAvgPool2d(1), conv(in, out, 1, 1), batchNorm(out), nn.NewReLU()))
	m.Project = convNorm(conv(len(m.Convs)*out, out, 1, 1), nn.NewReLU())
	m.Project.Modules = append(m.Project.Modules, nn.NewDropout(0.5))
	return m
}

// Forward takes x [N, in, H, W] to [N, out, H, W].
func (m *ASPP) Forward(x *tensor.Tensor) *tensor.Tensor {
	var maps []*tensor.Tensor
	for _, c := range m.Convs {
		maps = append(maps, nn.Run(c, x))
	}
	last := len(maps) - 1
	maps[last] = resizedTo(x, maps[last])
	return nn.Run(m.Project, tensor.Cat(maps, 1))
}

// MonoDepth estimates how far the points of an image are, the network of Godard et al.,
// arXiv:1609.03677, on a ResNet-18, with the names of a public PyTorch version.
type MonoDepth struct {
	Conv1                      *ConvNormELU
	Conv2, Conv3, Conv4, Conv5 *nn.Sequential
	Upconv6                    *UpConv
	Iconv6                     *ConvNormELU
	Upconv5                    *UpConv
	Iconv5                     *ConvNormELU
	Upconv4                    *UpConv
	Iconv4                     *ConvNormELU
	Disp4Layer                 *Disparity `fx:"disp4_layer"`
	Upconv3                    *UpConv
	Iconv3                     *ConvNormELU
	Disp3Layer                 *Disparity `fx:"disp3_layer"`
	Upconv2                    *UpConv
	Iconv2                     *ConvNormELU
	Disp2Layer                 *Disparity `fx:"disp2_layer"`
	Upconv1                    *UpConv
	Iconv1                     *ConvNormELU
	Disp1Layer                 *Disparity `fx:"disp1_layer"`
}

// NewMonoDepth returns the network with zero weights.
func NewMonoDepth() *MonoDepth {
	stage := func(in, out int) *nn.Sequential {
		return nn.NewSequential(newMonoDepthBlock(in, out, 2), newMonoDepthBlock(out, out, 1))
	}
	up := func(in, out int) *UpConv { return &UpConv{newConvNormELU(in, out, 3, 1)} }
	join := func(in, out int) *ConvNormELU { return newConvNormELU(in, out, 3, 1) }
	return &MonoDepth{
		Conv1: newConvNormELU(3, 64, 7, 2),
		Conv2: stage(64, 64), Conv3: stage(64, 128), Conv4: stage(128, 256), Conv5: stage(256, 512),
		Upconv6: up(512, 512), Iconv6: join(256+512, 512),
		Upconv5: up(512, 256), Iconv5: join(128+256, 256),
		Upconv4: up(256, 128), Iconv4: join(64+128, 128), Disp4Layer: newDisparity(128),
		Upconv3: up(128, 64), Iconv3: join(64+64+2, 64), Disp3Layer: newDisparity(64),
		Upconv2: up(64, 32), Iconv2: join(64+32+2, 32), Disp2Layer: newDisparity(32),
		Upconv1: up(32, 16), Iconv1: join(16+2, 16), Disp1Layer: newDisparity(16),
	}
}

// Forward takes images x [N, 3, H, W] to disparities for both eyes, [N, 2, H, W] and three
// maps each half as high and wide as the one before; height and width are multiples of 64.
func (m *MonoDepth) Forward(x *tensor.Tensor) (disp1, disp2, disp3, disp4 *tensor.Tensor) {
	x1 := nn.Run(m.Conv1, x)
	pool := tensor.MaxPool2d(x1.Pad(1, 1, 1, 1), 3, tensor.MaxPoolAttrs{Stride: tensor.Ints(2)})
	x2 := nn.Run(m.Conv2, pool)
	x3 := nn.Run(m.Conv3, x2)
	x4 := nn.Run(m.Conv4, x3)
	x5 := nn.Run(m.Conv5, x4)

	y := nn.Run(m.Iconv6, join(nn.Run(m.Upconv6, x5), x4))
	y = nn.Run(m.Iconv5, join(nn.Run(m.Upconv5, y), x3))
	y = nn.Run(m.Iconv4, join(nn.Run(m.Upconv4, y), x2))
	disp4 = nn.Run(m.Disp4Layer, y)
	y = nn.Run(m.Iconv3, join(join(nn.Run(m.Upconv3, y), pool), doubled(disp4)))
	disp3 = nn.Run(m.Disp3Layer, y)
	y = nn.Run(m.Iconv2, join(join(nn.Run(m.Upconv2, y), x1), doubled(disp3)))
	disp2 = nn.Run(m.Disp2Layer, y)
	y = nn.Run(m.Iconv1, join(nn.Run(m.Upconv1, y), doubled(disp2)))
	return nn.Run(m.Disp1Layer, y), disp2, disp3, disp4
}

// doubled interpolates a map to twice its height and width.
func doubled(x *tensor.Tensor) *tensor.Tensor {
	return x.Interpolate(tensor.InterpolateAttrs{ScaleFactor: tensor.Floats(2, 2), Mode: "bilinear", AlignCorners: true})
}

// ConvNormELU is a convolution, the normalisation of its result and an ELU.
type ConvNormELU struct {
	ConvBase  *nn.Conv2d
	Normalize *nn.BatchNorm2d
}

func newConvNormELU(in, out, kernel, stride int) *ConvNormELU {
	return &ConvNormELU{
		ConvBase:  nn.NewConv2d(in, out, kernel, nn.Stride(stride), nn.Padding(kernel/2), nn.NoInit()),
		Normalize: batchNorm(out),
	}
}

// Forward takes x [N, in, H, W] to [N, out, H/stride, W/stride].
func (m *ConvNormELU) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Normalize.Forward(m.ConvBase.Forward(x)).Elu(1)
}

// MonoDepthBlock is a residual block with a projection in any case.
type MonoDepthBlock struct {
	Conv1, Conv2 *ConvNormELU
	Conv3        *nn.Conv2d
	Normalize    *nn.BatchNorm2d
}

func newMonoDepthBlock(in, out, stride int) *MonoDepthBlock {
	return &MonoDepthBlock{
		Conv1:     newConvNormELU(in, out, 3, stride),
		Conv2:     newConvNormELU(out, out, 3, 1),
		Conv3:     nn.NewConv2d(in, out, 1, nn.Stride(stride), nn.NoInit()),
		Normalize: batchNorm(out),
	}
}

// Forward takes x [N, in, H, W] to [N, out, H/stride, W/stride].
func (m *MonoDepthBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := nn.Run(m.Conv2, nn.Run(m.Conv1, x))
	return m.Normalize.Forward(y.Add(m.Conv3.Forward(x))).Elu(1)
}

// UpConv doubles height and width and filters the result.
type UpConv struct {
	Conv1 *ConvNormELU
}

// Forward takes x [N, in, H, W] to [N, out, 2*H, 2*W].
func (m *UpConv) Forward(x *tensor.Tensor) *tensor.Tensor { return nn.Run(m.Conv1, doubled(x)) }

// Disparity takes maps to disparities, at most 0.3 of the width.
type Disparity struct {
	Conv1     *nn.Conv2d
	Normalize *nn.BatchNorm2d
}

func newDisparity(in int) *Disparity {
	return &Disparity{Conv1: biasedConv(in, 2, 3), Normalize: batchNorm(2)}
}

// Forward takes x [N, in, H, W] to [N, 2, H, W].
func (m *Disparity) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Normalize.Forward(m.Conv1.Forward(x)).Sigmoid().MulScalar(0.3)
}
