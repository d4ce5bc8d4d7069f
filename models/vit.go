package models

import (
	"math"
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

// Swin is the transformer on windows of an image of Liu et al., arXiv:2103.14030, with
// torchvision's names: 224 by 224 images to 1000 classes.
type Swin struct {
	Features *nn.Sequential
	Norm     *nn.LayerNorm
	Head     *nn.Linear
}

// swinWindow is the height and width of a window.
const swinWindow = 7

// NewSwinT returns the tiny network with zero weights.
func NewSwinT() *Swin {
	width := 96
	features := nn.NewSequential(nn.NewSequential(
		nn.NewConv2d(3, width, 4, nn.Stride(4), nn.NoInit()), &Permute{[]int{0, 2, 3, 1}}, swinNorm(width)))
	for i, blocks := range []int{2, 2, 6, 2} {
		if i > 0 {
			features.Modules = append(features.Modules, &PatchMerging{
				Reduction: nn.NewLinear(4*width, 2*width, nn.NoBias(), nn.NoInit()), Norm: swinNorm(4 * width)})
			width *= 2
		}
		s := nn.NewSequential()
		for k := range blocks {
			s.Modules = append(s.Modules, newSwinBlock(width, k%2 == 1))
		}
		features.Modules = append(features.Modules, s)
	}
	return &Swin{Features: features, Norm: swinNorm(width), Head: linear(width, 1000)}
}

func swinNorm(width int) *nn.LayerNorm { return nn.NewLayerNorm([]int{width}, nn.NoInit()) }

// Forward takes images x [N, 3, 224, 224] to scores [N, 1000].
func (m *Swin) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Head.Forward(m.Norm.Forward(nn.Run(m.Features, x)).Mean(1, 2))
}

// PatchMerging joins the vectors of four neighbours and halves height, width and the vector.
type PatchMerging struct {
	Reduction *nn.Linear
	Norm      *nn.LayerNorm
}

// Forward takes x [N, H, W, C] to [N, H/2, W/2, 2*C].
func (m *PatchMerging) Forward(x *tensor.Tensor) *tensor.Tensor {
	n, h, w, c := x.Size(0), x.Size(1).Div(2), x.Size(2).Div(2), x.Size(3)
	x = x.Reshape(n, h, 2, w, 2, c).Permute(0, 1, 3, 4, 2, 5).Reshape(n, h, w, c.Mul(4))
	return m.Reduction.Forward(m.Norm.Forward(x))
}

// SwinBlock is attention in windows and a perceptron, each on the normalised input and added
// to it.
type SwinBlock struct {
	Norm1 *nn.LayerNorm
	Attn  *WindowAttention
	Norm2 *nn.LayerNorm
	Mlp   *nn.Sequential
}

func newSwinBlock(width int, shifted bool) *SwinBlock {
	heads := width / 32
	return &SwinBlock{
		Norm1: swinNorm(width),
		Attn: &WindowAttention{NumHeads: heads, Shifted: shifted,
			RelativePositionBiasTable: tensor.StateParam(array.New(array.F32, (2*swinWindow-1)*(2*swinWindow-1), heads)),
			Qkv:                       linear(width, 3*width),
			Proj:                      linear(width, width)},
		Norm2: swinNorm(width),
		Mlp:   nn.NewSequential(linear(width, 4*width), nn.NewGELU(), nn.NewDropout(0), linear(4*width, width), nn.NewDropout(0)),
	}
}

// Forward keeps the shape of x [N, H, W, C].
func (m *SwinBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = x.Add(nn.Run(m.Attn, m.Norm1.Forward(x)))
	return x.Add(nn.Run(m.Mlp, m.Norm2.Forward(x)))
}

// WindowAttention is attention between the points of a window. Shifted windows begin three
// points further; what they hold of opposite edges is kept apart.
type WindowAttention struct {
	NumHeads                  int
	Shifted                   bool
	RelativePositionBiasTable *tensor.Tensor
	Qkv, Proj                 *nn.Linear
}

// Forward keeps the shape of x [N, H, W, C]; height and width are multiples of 7.
func (m *WindowAttention) Forward(x *tensor.Tensor) *tensor.Tensor {
	n, h, w := x.Size(0), x.Dim(1), x.Dim(2) //fxvet:ignore fxdata: every height and width has a mask of its own
	width, rows, columns := m.Proj.InFeatures, h/swinWindow, w/swinWindow
	shift := 0
	if m.Shifted && rows > 1 {
		shift = swinWindow / 2
		x = x.Roll([]int{-shift, -shift}, 1, 2)
	}
	x = x.Reshape(n, rows, swinWindow, columns, swinWindow, width).Permute(0, 1, 3, 2, 4, 5)
	x = x.Reshape(n.Mul(rows*columns), swinWindow*swinWindow, width)

	qkv := splitHeads(m.Qkv.Forward(x), 3*m.NumHeads, width/m.NumHeads).Chunk(3, 1)
	scores := qkv[0].MulScalar(1 / math.Sqrt(float64(width/m.NumHeads))).Matmul(qkv[1].Transpose(-1, -2)).Add(m.bias(x))
	if shift > 0 {
		apart := regions(h, w, shift) // [windows, 49]
		mask := apart.Unsqueeze(1).Ne(apart.Unsqueeze(2)).Cast(array.F32).MulScalar(-100)
		scores = scores.Reshape(n, rows*columns, m.NumHeads, swinWindow*swinWindow, swinWindow*swinWindow)
		scores = scores.Add(mask.Unsqueeze(1)).Flatten(0, 1)
	}
	x = m.Proj.Forward(joinHeads(scores.Softmax(-1).Matmul(qkv[2])))

	x = x.Reshape(n, rows, columns, swinWindow, swinWindow, width).Permute(0, 1, 3, 2, 4, 5).Reshape(n, h, w, width)
	if shift > 0 {
		x = x.Roll([]int{shift, shift}, 1, 2)
	}
	return x
}

// bias is what the distance of two points adds to their score, for x: [heads, 49, 49].
func (m *WindowAttention) bias(x *tensor.Tensor) *tensor.Tensor {
	const points, side = swinWindow * swinWindow, 2*swinWindow - 1
	index := make([]int64, 0, points*points)
	for q := range points {
		for k := range points {
			dy, dx := q/swinWindow-k/swinWindow, q%swinWindow-k%swinWindow
			index = append(index, int64((dy+swinWindow-1)*side+dx+swinWindow-1))
		}
	}
	table := tensor.On(x, m.RelativePositionBiasTable).IndexSelect(tensor.FromSlice(index, points*points), 0)
	return table.Reshape(points, points, m.NumHeads).Permute(2, 0, 1)
}

// regions numbers the parts of shifted windows that come from different edges of the map:
// [windows, 49].
func regions(h, w, shift int) *tensor.Tensor {
	part := func(i, n int) int64 { // 0 inside, 1 in the last window, 2 from the other edge
		switch {
		case i < n-swinWindow:
			return 0
		case i < n-shift:
			return 1
		}
		return 2
	}
	var of []int64
	for top := 0; top < h; top += swinWindow {
		for left := 0; left < w; left += swinWindow {
			for i := range swinWindow * swinWindow {
				of = append(of, 3*part(top+i/swinWindow, h)+part(left+i%swinWindow, w))
			}
		}
	}
	return tensor.FromSlice(of, len(of)/(swinWindow*swinWindow), swinWindow*swinWindow)
}
