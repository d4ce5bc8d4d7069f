package nets

import (
	"math"

	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

func linear(in, out int) *nn.Linear { return nn.NewLinear(in, out, nn.NoInit()) }

func norm(width int) *nn.LayerNorm { return nn.NewLayerNorm([]int{width}, nn.NoInit()) }

// Align compares texts with images, after Jia et al., arXiv:2102.05918: BERT and an EfficientNet, projected to one space.
type Align struct {
	Text        *models.Bert
	Image       *models.EfficientNet
	Project     *nn.Linear
	Temperature float64
}

// NewAlign returns a network with zero weights, and with EfficientNet-B0 where the authors have B7.
func NewAlign(c models.BertConfig) *Align {
	return &Align{Text: models.NewBert(c), Image: models.NewEfficientNetB0(), Project: linear(c.HiddenSize, 1280), Temperature: 0.1}
}

// Forward takes token numbers [T, S] and images [N, 3, H, W] to scores [N, T].
func (m *Align) Forward(ids, image *tensor.Tensor) *tensor.Tensor {
	words, _ := m.Text.Forward(ids, ids.OnesLike())
	text := unit(m.Project.Forward(words.Select(1, 0)))
	picture := unit(m.Image.Avgpool.Forward(nn.Run(m.Image.Features, image)).Flatten(1, -1))
	return picture.Matmul(text.Transpose(0, 1)).DivScalar(m.Temperature)
}

// unit divides rows by their lengths.
func unit(x *tensor.Tensor) *tensor.Tensor {
	return x.Div(x.Square().SumWith(-1, tensor.ReduceAttrs{KeepDim: true}).AddScalar(1e-6).Sqrt())
}

// Encoder is BERT's without its tables of words.
type Encoder struct {
	Layers *models.BertEncoder
}

// NewEncoder returns the layers with zero weights.
func NewEncoder(c models.BertConfig) *Encoder { return &Encoder{models.NewBert(c).Encoder} }

// Forward takes hidden states [N, S, H] to others.
func (m *Encoder) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Layers.Forward(x, tensor.Zeros(1))
}

// DeBERTa is the encoder of He et al., arXiv:2006.03654, whose scores are of contents and of distances. Each call writes Dim, as its
// authors' does.
type DeBERTa struct {
	Words, Relative *nn.Embedding
	Norm            *nn.LayerNorm
	Blocks          []*Disentangled
	Span            int // distances are cut there
	Dim             int
}

// NewDeBERTa returns a network of the sizes of a Bert with zero weights.
func NewDeBERTa(c models.BertConfig) *DeBERTa {
	m := &DeBERTa{Words: nn.NewEmbedding(c.VocabSize, c.HiddenSize, nn.NoInit()), Relative: nn.NewEmbedding(2*c.MaxPositions, c.HiddenSize, nn.NoInit()),
		Norm: norm(c.HiddenSize), Span: c.MaxPositions}
	for range c.NumLayers {
		m.Blocks = append(m.Blocks, newDisentangled(c))
	}
	return m
}

// Forward takes token numbers [N, S] to hidden states [N, S, H].
func (m *DeBERTa) Forward(ids *tensor.Tensor) *tensor.Tensor {
	x := m.Norm.Forward(m.Words.Forward(ids))
	m.Dim = x.Dim(2)
	i := tensor.Arange(ids.Size(1))
	far := i.Unsqueeze(1).Sub(i.Unsqueeze(0))
	there, back := far.Clamp(-m.Span, m.Span-1).AddScalar(m.Span), far.Neg().Clamp(-m.Span, m.Span-1).AddScalar(m.Span)
	for _, b := range m.Blocks {
		x = b.Forward(x, m.Relative.Weight, there, back)
	}
	return x
}

// Disentangled is a layer of DeBERTa.
type Disentangled struct {
	Heads, Width                int
	Query, Key, Value, Out      *nn.Linear
	DistanceQuery, DistanceKey  *nn.Linear
	Wide, Narrow                *nn.Linear
	AttentionNorm, FeedbackNorm *nn.LayerNorm
	Kinds                       []string
}

func newDisentangled(c models.BertConfig) *Disentangled {
	square := func() *nn.Linear { return linear(c.HiddenSize, c.HiddenSize) }
	return &Disentangled{Heads: c.NumHeads, Width: c.HiddenSize, Query: square(), Key: square(), Value: square(), Out: square(), DistanceQuery: square(), DistanceKey: square(),
		Wide: linear(c.HiddenSize, c.IntermediateSize), Narrow: linear(c.IntermediateSize, c.HiddenSize), AttentionNorm: norm(c.HiddenSize), FeedbackNorm: norm(c.HiddenSize),
		Kinds: []string{"c2p", "p2c"}}
}

// split takes [N, S, H] to heads [N, heads, S, H/heads].
func (b *Disentangled) split(x *tensor.Tensor) *tensor.Tensor {
	return x.Reshape(x.Size(0), x.Size(1), b.Heads, b.Width/b.Heads).Permute(0, 2, 1, 3)
}

// Forward runs the layer on x [N, S, H] with the vectors of distances [D, H] and the distances of places [S, S], there and back.
func (b *Disentangled) Forward(x, distances, there, back *tensor.Tensor) *tensor.Tensor {
	q, k, v := b.split(b.Query.Forward(x)), b.split(b.Key.Forward(x)), b.split(b.Value.Forward(x))
	scores := q.Matmul(k.Transpose(-1, -2))
	for _, kind := range b.Kinds {
		switch kind {
		case "c2p":
			scores = scores.Add(at(q.Matmul(b.split(b.DistanceKey.Forward(distances).Unsqueeze(0)).Transpose(-1, -2)), there))
		case "p2c":
			scores = scores.Add(at(k.Matmul(b.split(b.DistanceQuery.Forward(distances).Unsqueeze(0)).Transpose(-1, -2)), back).Transpose(-1, -2))
		}
	}
	weights := scores.DivScalar(math.Sqrt(float64((1 + len(b.Kinds)) * b.Width / b.Heads))).Softmax(-1)
	joined := weights.Matmul(v).Permute(0, 2, 1, 3)
	x = b.AttentionNorm.Forward(x.Add(b.Out.Forward(joined.Reshape(joined.Size(0), joined.Size(1), b.Width))))
	return b.FeedbackNorm.Forward(x.Add(b.Narrow.Forward(b.Wide.Forward(x).Gelu())))
}

// at takes scores [N, heads, S, D] of all distances to those of the distances [S, S] of places.
func at(scores, distances *tensor.Tensor) *tensor.Tensor {
	places := distances.Unsqueeze(0).Unsqueeze(0).Expand(scores.Size(0), scores.Size(1), distances.Size(0), distances.Size(1))
	return tensor.Gather(scores, places, -1)
}

// Seq2Seq is a decoder with attention to an encoder's results, which makes words one after the other, each the likeliest.
type Seq2Seq struct {
	Words         *nn.Embedding
	Attn, Combine *nn.Linear
	Cell          *nn.GRUCell
	Out           *nn.Linear
	Start, Steps  int
}

// NewSeq2Seq returns a decoder of so many words with zero weights, for texts of as many words as it makes.
func NewSeq2Seq(width, words, steps int) *Seq2Seq {
	return &Seq2Seq{Words: nn.NewEmbedding(words, width, nn.NoInit()), Attn: linear(2*width, steps), Combine: linear(2*width, width),
		Cell: nn.NewGRUCell(width, width, nn.NoInit()), Out: linear(width, words), Start: 1, Steps: steps}
}

// Forward takes the encoder's results [steps, width] and last state [1, width] to words [steps, 1].
func (m *Seq2Seq) Forward(encoded, h *tensor.Tensor) *tensor.Tensor {
	word := tensor.Full(1, m.Start)
	var words []*tensor.Tensor
	for range m.Steps {
		x := m.Words.Forward(word)
		weights := m.Attn.Forward(tensor.Cat([]*tensor.Tensor{x, h}, 1)).Softmax(1)
		x = m.Combine.Forward(tensor.Cat([]*tensor.Tensor{x, weights.Matmul(encoded)}, 1)).Relu()
		h = m.Cell.Forward(x, h)
		word = m.Out.Forward(h).Argmax(1)
		words = append(words, word)
	}
	return tensor.Stack(words, 0)
}
