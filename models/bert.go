package models

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// lowest is the most negative finite f32, which is added to the scores of keys
// that must not be looked at.
const lowest = -math.MaxFloat32

// BertConfig holds the sizes of a Bert.
type BertConfig struct {
	VocabSize, MaxPositions, TypeVocabSize int
	HiddenSize, NumLayers, NumHeads        int
	IntermediateSize                       int
	LayerNormEps                           float64
	// Padding is the token of RoBERTa's that is no text: the positions of the others are
	// counted from Padding+1 on. With 0, as in BERT, all tokens count, from 0 on.
	Padding int
}

// The sizes of bert-base-uncased, bert-large-uncased, roberta-base and roberta-large.
var (
	BertBase = BertConfig{VocabSize: 30522, MaxPositions: 512, TypeVocabSize: 2, HiddenSize: 768,
		NumLayers: 12, NumHeads: 12, IntermediateSize: 3072, LayerNormEps: 1e-12}
	BertLarge = BertConfig{VocabSize: 30522, MaxPositions: 512, TypeVocabSize: 2, HiddenSize: 1024,
		NumLayers: 24, NumHeads: 16, IntermediateSize: 4096, LayerNormEps: 1e-12}
	RobertaBase = BertConfig{VocabSize: 50265, MaxPositions: 514, TypeVocabSize: 1, HiddenSize: 768,
		NumLayers: 12, NumHeads: 12, IntermediateSize: 3072, LayerNormEps: 1e-5, Padding: 1}
	RobertaLarge = BertConfig{VocabSize: 50265, MaxPositions: 514, TypeVocabSize: 1, HiddenSize: 1024,
		NumLayers: 24, NumHeads: 16, IntermediateSize: 4096, LayerNormEps: 1e-5, Padding: 1}
)

// Bert is the encoder of Devlin et al., arXiv:1810.04805, with the names of
// Hugging Face's BertModel.
type Bert struct {
	Embeddings *BertEmbeddings
	Encoder    *BertEncoder
	Pooler     *BertPooler
}

// NewBert returns a Bert with zero weights.
func NewBert(c BertConfig) *Bert {
	e := &BertEncoder{}
	for range c.NumLayers {
		e.Layer = append(e.Layer, newBertLayer(c))
	}
	return &Bert{
		Embeddings: &BertEmbeddings{
			WordEmbeddings:      nn.NewEmbedding(c.VocabSize, c.HiddenSize, nn.NoInit()),
			PositionEmbeddings:  nn.NewEmbedding(c.MaxPositions, c.HiddenSize, nn.NoInit()),
			TokenTypeEmbeddings: nn.NewEmbedding(c.TypeVocabSize, c.HiddenSize, nn.NoInit()),
			LayerNorm:           c.norm(),
			Padding:             c.Padding,
		},
		Encoder: e,
		Pooler:  &BertPooler{Dense: linear(c.HiddenSize, c.HiddenSize)},
	}
}

func (c BertConfig) norm() *nn.LayerNorm {
	return nn.NewLayerNorm([]int{c.HiddenSize}, nn.Eps(c.LayerNormEps), nn.NoInit())
}

// Forward takes token numbers [N, S] (i64) and a mask [N, S] (i64, 1 for tokens
// and 0 for padding) to the hidden states [N, S, H] and the pooled first one
// [N, H]. All tokens are of type 0.
func (m *Bert) Forward(inputIDs, attentionMask *tensor.Tensor) (lastHiddenState, poolerOutput *tensor.Tensor) {
	bias := maskBias(attentionMask)
	x := nn.Run(m.Embeddings, inputIDs)
	x = nn.Run(m.Encoder, x, bias)
	return x, nn.Run(m.Pooler, x)
}

// maskBias is what a mask [N, S] adds to the scores of keys: [N, 1, 1, S].
func maskBias(mask *tensor.Tensor) *tensor.Tensor {
	keep := mask.Unsqueeze(1).Unsqueeze(2).Cast(array.F32)
	return keep.RSubScalar(1).MulScalar(lowest)
}

// BertEmbeddings adds up the vectors of word, position and token type.
type BertEmbeddings struct {
	WordEmbeddings      *nn.Embedding
	PositionEmbeddings  *nn.Embedding
	TokenTypeEmbeddings *nn.Embedding
	LayerNorm           *nn.LayerNorm `fx:"LayerNorm"`
	Padding             int           // see BertConfig
}

// Forward takes token numbers [N, S] to vectors [N, S, H].
func (m *BertEmbeddings) Forward(inputIDs *tensor.Tensor) *tensor.Tensor {
	positions := m.positions(inputIDs)
	types := inputIDs.ZerosLike()
	x := m.WordEmbeddings.Forward(inputIDs).Add(m.TokenTypeEmbeddings.Forward(types))
	return m.LayerNorm.Forward(x.Add(m.PositionEmbeddings.Forward(positions)))
}

// positions are those of token numbers [N, S]: [S], or [N, S] where padding does not count.
func (m *BertEmbeddings) positions(inputIDs *tensor.Tensor) *tensor.Tensor {
	if m.Padding == 0 {
		return tensor.Arange(inputIDs.Size(1))
	}
	text := inputIDs.NeScalar(m.Padding).Cast(array.I64)
	return text.Cumsum(1).Mul(text).AddScalar(m.Padding)
}

// BertEncoder is the stack of layers.
type BertEncoder struct {
	Layer []*BertLayer
}

// Forward runs the layers on x [N, S, H]; bias [N, 1, 1, S] is added to the scores.
func (m *BertEncoder) Forward(x, bias *tensor.Tensor) *tensor.Tensor {
	for _, l := range m.Layer {
		x = nn.Run(l, x, bias)
	}
	return x
}

// BertLayer is attention and a perceptron, each followed by the residual sum and
// a normalisation.
type BertLayer struct {
	Attention    *BertAttention
	Intermediate *BertIntermediate
	Output       *BertOutput
}

func newBertLayer(c BertConfig) *BertLayer {
	return &BertLayer{
		Attention: &BertAttention{
			Self: &BertSelfAttention{NumHeads: c.NumHeads, HeadSize: c.HiddenSize / c.NumHeads,
				Query: linear(c.HiddenSize, c.HiddenSize),
				Key:   linear(c.HiddenSize, c.HiddenSize),
				Value: linear(c.HiddenSize, c.HiddenSize)},
			Output: &BertOutput{Dense: linear(c.HiddenSize, c.HiddenSize), LayerNorm: c.norm()},
		},
		Intermediate: &BertIntermediate{Dense: linear(c.HiddenSize, c.IntermediateSize)},
		Output:       &BertOutput{Dense: linear(c.IntermediateSize, c.HiddenSize), LayerNorm: c.norm()},
	}
}

// Forward runs one layer on x [N, S, H].
func (m *BertLayer) Forward(x, bias *tensor.Tensor) *tensor.Tensor {
	x = nn.Run(m.Attention, x, bias)
	return nn.Run(m.Output, nn.Run(m.Intermediate, x), x)
}

// BertAttention is self-attention, a projection and the residual sum.
type BertAttention struct {
	Self   *BertSelfAttention
	Output *BertOutput
}

// Forward attends from x [N, S, H] to itself.
func (m *BertAttention) Forward(x, bias *tensor.Tensor) *tensor.Tensor {
	return nn.Run(m.Output, nn.Run(m.Self, x, bias), x)
}

// BertSelfAttention is multi-head attention without the projection of its result.
type BertSelfAttention struct {
	NumHeads, HeadSize int
	Query, Key, Value  *nn.Linear
}

// Forward returns the attended values [N, S, H] of x [N, S, H].
func (m *BertSelfAttention) Forward(x, bias *tensor.Tensor) *tensor.Tensor {
	q := m.heads(m.Query.Forward(x))
	k := m.heads(m.Key.Forward(x))
	v := m.heads(m.Value.Forward(x))
	scores := q.Matmul(k.Transpose(-1, -2)).DivScalar(math.Sqrt(float64(m.HeadSize)))
	p := scores.Add(bias).Softmax(-1)
	y := p.Matmul(v).Permute(0, 2, 1, 3)
	return y.Reshape(x.Size(0), x.Size(1), m.NumHeads*m.HeadSize)
}

// heads splits [N, S, H] into [N, heads, S, H/heads].
func (m *BertSelfAttention) heads(x *tensor.Tensor) *tensor.Tensor {
	return x.Reshape(x.Size(0), x.Size(1), m.NumHeads, m.HeadSize).Permute(0, 2, 1, 3)
}

// BertIntermediate widens and applies the exact GELU.
type BertIntermediate struct {
	Dense *nn.Linear
}

// Forward takes x [N, S, H] to [N, S, I].
func (m *BertIntermediate) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Gelu(m.Dense.Forward(x))
}

// BertOutput projects, adds the residual and normalises.
type BertOutput struct {
	Dense     *nn.Linear
	LayerNorm *nn.LayerNorm `fx:"LayerNorm"`
}

// Forward returns the normalised sum of residual and the projection of x.
func (m *BertOutput) Forward(x, residual *tensor.Tensor) *tensor.Tensor {
	return m.LayerNorm.Forward(m.Dense.Forward(x).Add(residual))
}

// BertPooler is the tanh of a projection of the first token.
type BertPooler struct {
	Dense *nn.Linear
}

// Forward takes hidden states x [N, S, H] to [N, H].
func (m *BertPooler) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Dense.Forward(x.Select(1, 0)).Tanh()
}
