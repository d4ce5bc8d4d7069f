package models

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// ViTConfig holds the sizes of a ViT.
type ViTConfig struct {
	ImageSize, PatchSize       int
	Width, NumLayers, NumHeads int
	MLPWidth, NumClasses       int
}

// ViTB16 are the sizes of the base model with patches of 16 by 16.
var ViTB16 = ViTConfig{ImageSize: 224, PatchSize: 16, Width: 768, NumLayers: 12, NumHeads: 12, MLPWidth: 3072, NumClasses: 1000}

// ViT is the transformer on the patches of an image of Dosovitskiy et al.,
// arXiv:2010.11929, with torchvision's names.
type ViT struct {
	ClassToken *tensor.Tensor
	ConvProj   *nn.Conv2d
	Encoder    *ViTEncoder
	Heads      *nn.NamedSequential
}

// NewViT returns a ViT with zero weights.
func NewViT(c ViTConfig) *ViT {
	side := c.ImageSize / c.PatchSize
	layers := nn.NewNamedSequential()
	for i := range c.NumLayers {
		layers.Append("encoder_layer_"+strconv.Itoa(i), newViTBlock(c))
	}
	return &ViT{
		ClassToken: tensor.StateParam(array.New(array.F32, 1, 1, c.Width)),
		ConvProj:   nn.NewConv2d(3, c.Width, c.PatchSize, nn.Stride(c.PatchSize), nn.NoInit()),
		Encoder: &ViTEncoder{
			PosEmbedding: tensor.StateParam(array.New(array.F32, 1, 1+side*side, c.Width)),
			Layers:       layers,
			Ln:           c.norm(),
		},
		Heads: nn.NewNamedSequential(nn.Named("head", linear(c.Width, c.NumClasses))),
	}
}

func (c ViTConfig) norm() *nn.LayerNorm {
	return nn.NewLayerNorm([]int{c.Width}, nn.Eps(1e-6), nn.NoInit())
}

// Forward takes images x [N, 3, H, W] to scores [N, classes].
func (m *ViT) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.ConvProj.Forward(x).Flatten(2, 3).Permute(0, 2, 1) // [N, patches, width]
	token := m.ClassToken.Expand(x.Size(0), -1, -1)
	x = nn.Run(m.Encoder, tensor.Cat([]*tensor.Tensor{token, x}, 1))
	return nn.Run(m.Heads, x.Select(1, 0))
}

// ViTEncoder adds a table of positions and runs the layers.
type ViTEncoder struct {
	PosEmbedding *tensor.Tensor
	Layers       *nn.NamedSequential
	Ln           *nn.LayerNorm
}

// Forward takes tokens x [N, 1+patches, width] to vectors of the same shape.
func (m *ViTEncoder) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Ln.Forward(nn.Run(m.Layers, x.Add(m.PosEmbedding)))
}

// ViTBlock is attention and a perceptron, each on the normalised input and added
// to it.
type ViTBlock struct {
	Ln1           *nn.LayerNorm `fx:"ln_1"`
	SelfAttention *nn.MultiheadAttention
	Ln2           *nn.LayerNorm `fx:"ln_2"`
	Mlp           *nn.Sequential
}

func newViTBlock(c ViTConfig) *ViTBlock {
	return &ViTBlock{
		Ln1:           c.norm(),
		SelfAttention: nn.NewMultiheadAttention(c.Width, c.NumHeads, nn.BatchFirst(), nn.NoInit()),
		Ln2:           c.norm(),
		Mlp: nn.NewSequential(linear(c.Width, c.MLPWidth), nn.NewGELU(), nn.NewDropout(0),
			linear(c.MLPWidth, c.Width), nn.NewDropout(0)),
	}
}

// Forward runs one block on x [N, tokens, width].
func (m *ViTBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := m.Ln1.Forward(x)
	x = x.Add(nn.Run(m.SelfAttention, y, y, y, nil, nil))
	return x.Add(nn.Run(m.Mlp, m.Ln2.Forward(x)))
}
