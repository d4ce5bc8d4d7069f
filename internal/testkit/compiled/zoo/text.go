package zoo

import (
	"math"

	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Attention is that of BERT.
type Attention struct {
	Heads, Width         int
	Query, Key, Val, Out *nn.Linear
	Note                 string // nothing reads it
}

func newAttention(width, heads int) *Attention {
	return &Attention{Heads: heads, Width: width, Query: linear(width, width), Key: linear(width, width), Val: linear(width, width), Out: linear(width, width)}
}

func linear(in, out int) *nn.Linear { return nn.NewLinear(in, out, nn.Seed(uint64(in*31+out))) }

func (a *Attention) split(x *tensor.Tensor) *tensor.Tensor {
	return x.Reshape(x.Size(0), x.Size(1), a.Heads, a.Width/a.Heads).Permute(0, 2, 1, 3)
}

func (a *Attention) join(x *tensor.Tensor) *tensor.Tensor {
	return x.Permute(0, 2, 1, 3).Reshape(x.Size(0), x.Size(2), a.Width)
}

// Forward attends. bias, where there is one, is added to the scores.
func (a *Attention) Forward(x, bias *tensor.Tensor) *tensor.Tensor {
	q, k, v := a.split(a.Query.Forward(x)), a.split(a.Key.Forward(x)), a.split(a.Val.Forward(x))
	scores := q.Matmul(k.Transpose(-1, -2)).DivScalar(math.Sqrt(float64(a.Width / a.Heads)))
	if bias != nil {
		scores = scores.Add(bias)
	}
	return a.Out.Forward(a.join(scores.Softmax(-1).Matmul(v)))
}

// Block is a layer of a transformer.
type Block struct {
	Attn         *Attention
	Wide, Narrow *nn.Linear
	Norms        [2]*nn.LayerNorm
	PreNorm      bool
}

func newBlock(width, heads int) *Block {
	return &Block{Attn: newAttention(width, heads), Wide: linear(width, 2*width), Narrow: linear(2*width, width),
		Norms: [2]*nn.LayerNorm{nn.NewLayerNorm([]int{width}), nn.NewLayerNorm([]int{width})}}
}

// Forward normalises before or after.
func (b *Block) Forward(x *tensor.Tensor) *tensor.Tensor {
	if b.PreNorm {
		x = x.Add(b.Attn.Forward(b.Norms[0].Forward(x), nil))
		return x.Add(b.mlp(b.Norms[1].Forward(x)))
	}
	x = b.Norms[0].Forward(x.Add(b.Attn.Forward(x, nil)))
	return b.Norms[1].Forward(x.Add(b.mlp(x)))
}

func (b *Block) mlp(x *tensor.Tensor) *tensor.Tensor {
	return b.Narrow.Forward(b.Wide.Forward(x).Gelu())
}

// Align compares texts with images: an encoder for each, projected to one space.
type Align struct {
	Words  *nn.Embedding
	Blocks []*Block
	Image  []*Inverted
	Stem   *nn.Conv2d
	Text   *nn.Linear
	Scale  float64
	Epoch  int // of the training, which no call reads
}

// NewAlign makes a small one.
func NewAlign() *Align {
	return &Align{Words: nn.NewEmbedding(20, 8, nn.Seed(1)), Blocks: []*Block{newBlock(8, 2), newBlock(8, 2)},
		Image: []*Inverted{newInverted(4, 1), newInverted(4, 2)}, Stem: conv(3, 4, 2, 1), Text: linear(8, 4), Scale: 2.5}
}

// Forward returns how well each text fits each image.
func (m *Align) Forward(ids, image *tensor.Tensor) *tensor.Tensor {
	x := m.Words.Forward(ids)
	for _, b := range m.Blocks {
		x = b.Forward(x)
	}
	text := m.Text.Forward(x.Select(1, 0))
	y := m.Stem.Forward(image).Silu()
	for _, b := range m.Image {
		y = b.Forward(y)
	}
	pooled := y.Mean(2, 3)
	return unit(text).Matmul(unit(pooled).Transpose(0, 1)).MulScalar(m.Scale)
}

func unit(x *tensor.Tensor) *tensor.Tensor {
	return x.Div(x.Square().SumWith(-1, tensor.ReduceAttrs{KeepDim: true}).AddScalar(1e-6).Sqrt())
}

// DeBERTa attends to contents and to positions. Each call writes Dim.
type DeBERTa struct {
	Words    *nn.Embedding
	Relative *nn.Embedding
	Blocks   []*Disentangled
	Norm     *nn.LayerNorm
	Span     int
	Dim      int
}

// Disentangled is a layer with scores of contents by positions and the other way round.
type Disentangled struct {
	Attn     *Attention
	Position *nn.Linear
	Kinds    []string
}

// NewDeBERTa makes a small one.
func NewDeBERTa() *DeBERTa {
	m := &DeBERTa{Words: nn.NewEmbedding(20, 8, nn.Seed(2)), Relative: nn.NewEmbedding(8, 8, nn.Seed(3)), Norm: nn.NewLayerNorm([]int{8}), Span: 4, Dim: 8}
	for range 2 {
		m.Blocks = append(m.Blocks, &Disentangled{newAttention(8, 2), linear(8, 8), []string{"c2p", "p2c"}})
	}
	return m
}

// Forward takes ids [N, S] to [N, S, 8].
func (m *DeBERTa) Forward(ids *tensor.Tensor) *tensor.Tensor {
	n := ids.Dim(1)
	x := m.Norm.Forward(m.Words.Forward(ids))
	m.Dim = x.Dim(2)
	for _, b := range m.Blocks {
		x = m.Norm.Forward(x.Add(b.Forward(x, m.Relative.Forward(relative(n, m.Span)))))
	}
	return x.MulScalar(math.Sqrt(float64(m.Dim)))
}

// relative are the distances of n positions, at most span, from 0 on.
func relative(n, span int) *tensor.Tensor {
	i := tensor.Arange(n)
	return i.Unsqueeze(1).Sub(i.Unsqueeze(0)).Clamp(-span, span-1).AddScalar(span)
}

// Forward adds to the scores what positions say.
func (b *Disentangled) Forward(x, relative *tensor.Tensor) *tensor.Tensor {
	var bias *tensor.Tensor
	add := func(y *tensor.Tensor) {
		if bias == nil {
			bias = y
			return
		}
		bias = bias.Add(y)
	}
	position := b.Position.Forward(relative)
	for _, kind := range b.Kinds {
		switch kind {
		case "c2p":
			add(x.Unsqueeze(2).Mul(position).Sum(-1).Unsqueeze(1))
		case "p2c":
			add(x.Unsqueeze(1).Mul(position.Transpose(0, 1)).Sum(-1).Unsqueeze(1))
		}
	}
	return b.Attn.Forward(x, bias)
}
