package models

import (
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
