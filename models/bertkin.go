package models

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// BertForSequenceClassification scores the classes of a text, with the names of Hugging Face's.
type BertForSequenceClassification struct {
	Bert       *Bert
	Classifier *nn.Linear
}

// NewBertForSequenceClassification returns a classifier with zero weights.
func NewBertForSequenceClassification(c BertConfig, classes int) *BertForSequenceClassification {
	return &BertForSequenceClassification{NewBert(c), linear(c.HiddenSize, classes)}
}

// Forward takes what Bert takes to the scores of the classes [N, classes].
func (m *BertForSequenceClassification) Forward(inputIDs, attentionMask *tensor.Tensor) *tensor.Tensor {
	return m.Classifier.Forward(nn.RunAll(m.Bert, inputIDs, attentionMask)[1])
}

// BertForQuestionAnswering scores where an answer begins and ends in a text, with the names of
// Hugging Face's.
type BertForQuestionAnswering struct {
	Bert      *Bert
	QaOutputs *nn.Linear
}

// NewBertForQuestionAnswering returns a model with zero weights.
func NewBertForQuestionAnswering(c BertConfig) *BertForQuestionAnswering {
	return &BertForQuestionAnswering{NewBert(c), linear(c.HiddenSize, 2)}
}

// Forward takes what Bert takes to the scores of each token [N, S] to be the first and the last
// one of the answer.
func (m *BertForQuestionAnswering) Forward(inputIDs, attentionMask *tensor.Tensor) (startLogits, endLogits *tensor.Tensor) {
	scores := m.QaOutputs.Forward(nn.RunAll(m.Bert, inputIDs, attentionMask)[0])
	return scores.Select(-1, 0), scores.Select(-1, 1)
}

// RobertaForMaskedLM scores the tokens that may stand at each place, with the names of Hugging
// Face's; Liu et al., arXiv:1907.11692. The output layer is the word table transposed.
type RobertaForMaskedLM struct {
	Roberta *Bert
	LMHead  *RobertaLMHead `fx:"lm_head"`
}

// NewRobertaForMaskedLM returns a model with zero weights.
func NewRobertaForMaskedLM(c BertConfig) *RobertaForMaskedLM {
	return &RobertaForMaskedLM{NewBert(c), &RobertaLMHead{
		Dense:     linear(c.HiddenSize, c.HiddenSize),
		LayerNorm: c.norm(),
		Bias:      tensor.StateParam(array.New(array.F32, c.VocabSize)),
	}}
}

// Forward takes what Bert takes to the scores of the tokens [N, S, V].
func (m *RobertaForMaskedLM) Forward(inputIDs, attentionMask *tensor.Tensor) *tensor.Tensor {
	x := nn.RunAll(m.Roberta, inputIDs, attentionMask)[0]
	return nn.Run(m.LMHead, x, m.Roberta.Embeddings.WordEmbeddings.Weight)
}

// RobertaLMHead takes hidden states to scores of tokens.
type RobertaLMHead struct {
	Dense     *nn.Linear
	LayerNorm *nn.LayerNorm
	Bias      *tensor.Tensor
}

// Forward takes hidden states x [N, S, H] and the word table [V, H] to scores [N, S, V].
func (m *RobertaLMHead) Forward(x, words *tensor.Tensor) *tensor.Tensor {
	x = m.LayerNorm.Forward(m.Dense.Forward(x).Gelu())
	return x.Matmul(words.T()).Add(m.Bias)
}

// DistilBert is the encoder of Sanh et al., arXiv:1910.01108, half as deep as BERT, with the
// names of Hugging Face's DistilBertModel.
type DistilBert struct {
	Embeddings  *DistilBertEmbeddings
	Transformer *DistilBertTransformer
}

// DistilBertBase are the sizes of distilbert-base-uncased. It has no token types.
var DistilBertBase = BertConfig{VocabSize: 30522, MaxPositions: 512, HiddenSize: 768,
	NumLayers: 6, NumHeads: 12, IntermediateSize: 3072, LayerNormEps: 1e-12}

// NewDistilBert returns a DistilBert with zero weights.
func NewDistilBert(c BertConfig) *DistilBert {
	t := &DistilBertTransformer{}
	for range c.NumLayers {
		t.Layer = append(t.Layer, &DistilBertLayer{
			Attention: &DistilBertAttention{NumHeads: c.NumHeads,
				QLin: linear(c.HiddenSize, c.HiddenSize), KLin: linear(c.HiddenSize, c.HiddenSize),
				VLin: linear(c.HiddenSize, c.HiddenSize), OutLin: linear(c.HiddenSize, c.HiddenSize)},
			SaLayerNorm:     c.norm(),
			Ffn:             &DistilBertFFN{Lin1: linear(c.HiddenSize, c.IntermediateSize), Lin2: linear(c.IntermediateSize, c.HiddenSize)},
			OutputLayerNorm: c.norm(),
		})
	}
	return &DistilBert{
		Embeddings: &DistilBertEmbeddings{
			WordEmbeddings:     nn.NewEmbedding(c.VocabSize, c.HiddenSize, nn.NoInit()),
			PositionEmbeddings: nn.NewEmbedding(c.MaxPositions, c.HiddenSize, nn.NoInit()),
			LayerNorm:          c.norm(),
		},
		Transformer: t,
	}
}

// Forward takes token numbers [N, S] (i64) and a mask [N, S] (i64, 1 for tokens and 0 for
// padding) to the hidden states [N, S, H].
func (m *DistilBert) Forward(inputIDs, attentionMask *tensor.Tensor) *tensor.Tensor {
	padding := attentionMask.EqScalar(0).Unsqueeze(1).Unsqueeze(2) // [N, 1, 1, S]
	return nn.Run(m.Transformer, nn.Run(m.Embeddings, inputIDs), padding)
}

// DistilBertEmbeddings adds up the vectors of word and position.
type DistilBertEmbeddings struct {
	WordEmbeddings, PositionEmbeddings *nn.Embedding
	LayerNorm                          *nn.LayerNorm `fx:"LayerNorm"`
}

// Forward takes token numbers [N, S] to vectors [N, S, H].
func (m *DistilBertEmbeddings) Forward(inputIDs *tensor.Tensor) *tensor.Tensor {
	x := m.WordEmbeddings.Forward(inputIDs)
	return m.LayerNorm.Forward(x.Add(m.PositionEmbeddings.Forward(tensor.Arange(inputIDs.Size(1)))))
}

// DistilBertTransformer is the stack of layers.
type DistilBertTransformer struct {
	Layer []*DistilBertLayer
}

// Forward runs the layers on x [N, S, H]; nothing looks at keys where padding [N, 1, 1, S]
// is true.
func (m *DistilBertTransformer) Forward(x, padding *tensor.Tensor) *tensor.Tensor {
	for _, l := range m.Layer {
		x = nn.Run(l, x, padding)
	}
	return x
}

// DistilBertLayer is attention and a perceptron, each followed by the residual sum and a
// normalisation.
type DistilBertLayer struct {
	Attention       *DistilBertAttention
	SaLayerNorm     *nn.LayerNorm
	Ffn             *DistilBertFFN
	OutputLayerNorm *nn.LayerNorm
}

// Forward runs one layer on x [N, S, H].
func (m *DistilBertLayer) Forward(x, padding *tensor.Tensor) *tensor.Tensor {
	x = m.SaLayerNorm.Forward(nn.Run(m.Attention, x, padding).Add(x))
	return m.OutputLayerNorm.Forward(nn.Run(m.Ffn, x).Add(x))
}

// DistilBertAttention is multi-head attention.
type DistilBertAttention struct {
	NumHeads                 int
	QLin, KLin, VLin, OutLin *nn.Linear
}

// Forward attends from x [N, S, H] to itself.
func (m *DistilBertAttention) Forward(x, padding *tensor.Tensor) *tensor.Tensor {
	size := m.QLin.OutFeatures / m.NumHeads
	q := splitHeads(m.QLin.Forward(x), m.NumHeads, size).DivScalar(math.Sqrt(float64(size)))
	k, v := splitHeads(m.KLin.Forward(x), m.NumHeads, size), splitHeads(m.VLin.Forward(x), m.NumHeads, size)
	p := q.Matmul(k.Transpose(-1, -2)).MaskedFill(padding, lowest).Softmax(-1)
	return m.OutLin.Forward(joinHeads(p.Matmul(v)))
}

// splitHeads takes [N, S, heads*size] to [N, heads, S, size].
func splitHeads(x *tensor.Tensor, heads, size int) *tensor.Tensor {
	return x.Reshape(x.Size(0), x.Size(1), heads, size).Permute(0, 2, 1, 3)
}

// joinHeads takes [N, heads, S, size] to [N, S, heads*size].
func joinHeads(x *tensor.Tensor) *tensor.Tensor { return x.Permute(0, 2, 1, 3).Flatten(2, 3) }

// DistilBertFFN is the perceptron of a layer.
type DistilBertFFN struct {
	Lin1, Lin2 *nn.Linear
}

// Forward keeps the shape of x [N, S, H].
func (m *DistilBertFFN) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Lin2.Forward(m.Lin1.Forward(x).Gelu())
}

// Deberta is the encoder of He et al., arXiv:2006.03654, whose attention compares contents
// with distances, with the names of Hugging Face's DebertaModel.
type Deberta struct {
	Embeddings *DebertaEmbeddings
	Encoder    *DebertaEncoder
}

// DebertaBase are the sizes of microsoft/deberta-base. MaxPositions bounds the distances that
// are told apart; it has no token types.
var DebertaBase = BertConfig{VocabSize: 50265, MaxPositions: 512, HiddenSize: 768,
	NumLayers: 12, NumHeads: 12, IntermediateSize: 3072, LayerNormEps: 1e-7}

// NewDeberta returns a Deberta with zero weights.
func NewDeberta(c BertConfig) *Deberta {
	e := &DebertaEncoder{RelEmbeddings: nn.NewEmbedding(2*c.MaxPositions, c.HiddenSize, nn.NoInit())}
	for range c.NumLayers {
		e.Layer = append(e.Layer, newDebertaLayer(c))
	}
	return &Deberta{
		Embeddings: &DebertaEmbeddings{WordEmbeddings: nn.NewEmbedding(c.VocabSize, c.HiddenSize, nn.NoInit()), LayerNorm: c.norm()},
		Encoder:    e,
	}
}

// Forward takes token numbers [N, S] (i64) and a mask [N, S] (i64, 1 for tokens and 0 for
// padding) to the hidden states [N, S, H].
func (m *Deberta) Forward(inputIDs, attentionMask *tensor.Tensor) *tensor.Tensor {
	return nn.Run(m.Encoder, nn.Run(m.Embeddings, inputIDs, attentionMask), attentionMask)
}

// DebertaEmbeddings are the vectors of words, zero where there is padding.
type DebertaEmbeddings struct {
	WordEmbeddings *nn.Embedding
	LayerNorm      *nn.LayerNorm `fx:"LayerNorm"`
}

// Forward takes token numbers and a mask [N, S] to vectors [N, S, H].
func (m *DebertaEmbeddings) Forward(inputIDs, mask *tensor.Tensor) *tensor.Tensor {
	return m.LayerNorm.Forward(m.WordEmbeddings.Forward(inputIDs)).Mul(mask.Unsqueeze(2).Cast(array.F32))
}

// DebertaEncoder is the stack of layers, with a table of distances that all share.
type DebertaEncoder struct {
	Layer         []*DebertaLayer
	RelEmbeddings *nn.Embedding // of distances from -n to n-1
}

// Forward runs the layers on x [N, S, H].
func (m *DebertaEncoder) Forward(x, mask *tensor.Tensor) *tensor.Tensor {
	hidden := mask.Unsqueeze(1).Mul(mask.Unsqueeze(2)).EqScalar(0).Unsqueeze(1) // [N, 1, S, S]
	middle := m.RelEmbeddings.NumEmbeddings / 2
	span := x.Size(1).Min(middle)
	first := span.Mul(-1).Add(middle) // the row of the furthest distance that occurs
	table := m.RelEmbeddings.Weight.Narrow(0, first, span.Mul(2))
	places := tensor.Arange(x.Size(1))
	rows := places.Unsqueeze(1).Sub(places.Unsqueeze(0)).AddScalar(middle).Clamp(0, 2*middle-1) // [S, S], query minus key
	rows = rows.Sub(tensor.Arange(2*middle).Narrow(0, first, 1))
	for _, l := range m.Layer {
		x = nn.Run(l, x, hidden, table, rows)
	}
	return x
}

// DebertaLayer is a layer of BERT with another attention.
type DebertaLayer struct {
	Attention    *DebertaAttention
	Intermediate *BertIntermediate
	Output       *BertOutput
}

func newDebertaLayer(c BertConfig) *DebertaLayer {
	bias := func() *tensor.Tensor { return tensor.StateParam(array.New(array.F32, c.HiddenSize)) }
	return &DebertaLayer{
		Attention: &DebertaAttention{
			Self: &DebertaSelfAttention{NumHeads: c.NumHeads, HeadSize: c.HiddenSize / c.NumHeads,
				QBias: bias(), VBias: bias(),
				InProj:   nn.NewLinear(c.HiddenSize, 3*c.HiddenSize, nn.NoBias(), nn.NoInit()),
				PosProj:  nn.NewLinear(c.HiddenSize, c.HiddenSize, nn.NoBias(), nn.NoInit()),
				PosQProj: linear(c.HiddenSize, c.HiddenSize)},
			Output: &BertOutput{Dense: linear(c.HiddenSize, c.HiddenSize), LayerNorm: c.norm()},
		},
		Intermediate: &BertIntermediate{Dense: linear(c.HiddenSize, c.IntermediateSize)},
		Output:       &BertOutput{Dense: linear(c.IntermediateSize, c.HiddenSize), LayerNorm: c.norm()},
	}
}

// Forward runs one layer on x [N, S, H].
func (m *DebertaLayer) Forward(x, hidden, table, rows *tensor.Tensor) *tensor.Tensor {
	x = nn.Run(m.Attention, x, hidden, table, rows)
	return nn.Run(m.Output, nn.Run(m.Intermediate, x), x)
}

// DebertaAttention is self-attention, a projection and the residual sum.
type DebertaAttention struct {
	Self   *DebertaSelfAttention
	Output *BertOutput
}

// Forward attends from x [N, S, H] to itself.
func (m *DebertaAttention) Forward(x, hidden, table, rows *tensor.Tensor) *tensor.Tensor {
	return nn.Run(m.Output, nn.Run(m.Self, x, hidden, table, rows), x)
}

// DebertaSelfAttention adds to the scores of contents those of contents with distances, in
// both directions.
type DebertaSelfAttention struct {
	NumHeads, HeadSize        int
	QBias, VBias              *tensor.Tensor
	InProj, PosProj, PosQProj *nn.Linear
}

// Forward returns the attended values [N, S, H] of x [N, S, H]. Pairs where hidden [N, 1, S, S]
// is true are not looked at; table has vectors of distances, [D, H], and rows [S, S] the row for
// each query and key.
func (m *DebertaSelfAttention) Forward(x, hidden, table, rows *tensor.Tensor) *tensor.Tensor {
	parts := splitHeads(m.InProj.Forward(x), m.NumHeads, 3*m.HeadSize).Chunk(3, -1)
	q, k, v := parts[0].Add(m.perHead(m.QBias)), parts[1], parts[2].Add(m.perHead(m.VBias))
	keys, queries := m.ofTable(m.PosProj.Forward(table)), m.ofTable(m.PosQProj.Forward(table))
	index := rows.Expand(x.Size(0), m.NumHeads, -1, -1)
	toDistance := q.Matmul(keys.Transpose(-1, -2)).Gather(index, -1)
	fromDistance := k.Matmul(queries.Transpose(-1, -2)).Gather(index.Transpose(-1, -2), -1).Transpose(-1, -2)

	scores := q.Matmul(k.Transpose(-1, -2)).Add(toDistance).Add(fromDistance).DivScalar(math.Sqrt(float64(3 * m.HeadSize)))
	p := scores.MaskedFill(hidden, lowest).Softmax(-1).MaskedFill(hidden, 0)
	return joinHeads(p.Matmul(v))
}

// perHead is a bias [H] for vectors [N, heads, S, size].
func (m *DebertaSelfAttention) perHead(bias *tensor.Tensor) *tensor.Tensor {
	return bias.Reshape(m.NumHeads, 1, m.HeadSize)
}

// ofTable takes a table [R, H] to [heads, R, size].
func (m *DebertaSelfAttention) ofTable(x *tensor.Tensor) *tensor.Tensor {
	return x.Reshape(x.Size(0), m.NumHeads, m.HeadSize).Permute(1, 0, 2)
}

// Align compares texts with images, the network of Jia et al., arXiv:2102.05918, with the names
// of Hugging Face's AlignModel where those of its towers are their own: a BERT and an
// EfficientNet.
type Align struct {
	Temperature    *tensor.Tensor
	TextModel      *AlignText
	VisionModel    *AlignVision
	TextProjection *nn.Linear
}

// NewAlign returns the base model with zero weights.
func NewAlign() *Align { return newAlign(BertBase, NewEfficientNetB0()) }

// newAlign joins a BERT of a configuration to the features of an EfficientNet.
func newAlign(c BertConfig, image *EfficientNet) *Align {
	text := NewBert(c)
	return &Align{
		Temperature:    tensor.StateParam(array.New(array.F32)),
		TextModel:      &AlignText{text.Embeddings, text.Encoder},
		VisionModel:    &AlignVision{image.Features},
		TextProjection: linear(c.HiddenSize, 1280),
	}
}

// Forward takes texts, token numbers and masks [T, S] (i64), and images [N, 3, H, W] to vectors
// of length 1 for the images [N, 1280] and the texts [T, 1280], and how well each text fits each
// image [T, N].
func (m *Align) Forward(inputIDs, attentionMask, pixelValues *tensor.Tensor) (imageEmbeds, textEmbeds, logitsPerText *tensor.Tensor) {
	imageEmbeds = nn.Run(m.VisionModel, pixelValues).Normalize(2, -1, 1e-12)
	text := nn.Run(m.TextModel, inputIDs, attentionMask).Select(1, 0)
	textEmbeds = m.TextProjection.Forward(text).Normalize(2, -1, 1e-12)
	return imageEmbeds, textEmbeds, textEmbeds.Matmul(imageEmbeds.T()).Div(m.Temperature)
}

// AlignText is a Bert without its pooler.
type AlignText struct {
	Embeddings *BertEmbeddings
	Encoder    *BertEncoder
}

// Forward takes what Bert takes to the hidden states [N, S, H].
func (m *AlignText) Forward(inputIDs, attentionMask *tensor.Tensor) *tensor.Tensor {
	return nn.Run(m.Encoder, nn.Run(m.Embeddings, inputIDs), maskBias(attentionMask))
}

// AlignVision is an EfficientNet without its classifier.
type AlignVision struct {
	Features *nn.Sequential
}

// Forward takes images [N, 3, H, W] to vectors [N, 1280].
func (m *AlignVision) Forward(x *tensor.Tensor) *tensor.Tensor {
	return nn.Run(m.Features, x).Mean(2, 3)
}
