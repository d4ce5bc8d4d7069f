package models

import (
	"iter"

	"github.com/gofx-dev/gofx/tensor"
)

// Generate yields the likeliest tokens after a text [1, S] (i64), one after the other, until
// the model has no position left or the loop ends. Every token is computed once: its keys and
// values are kept, and their number grows. The loop is ordinary Go, so it runs in the engine of
// the text.
func (m *GPT2Decoder) Generate(text *tensor.Tensor) iter.Seq[int64] {
	heads := m.H[0].Attn.NumHeads
	past := tensor.Zeros(0, len(m.H), 2, 1, heads, m.Wte.Weight.Dim(1)/heads)
	return greedy(text, m.Wpe.Weight.Dim(0), past, m.Forward)
}

// greedy yields the tokens that a decoder scores highest after a text and each token before,
// as long as their positions are below a number; past has no positions yet.
func greedy(text *tensor.Tensor, positions int, past *tensor.Tensor, forward func(inputIDs, past *tensor.Tensor) (logits, present *tensor.Tensor)) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		text, past := text, past
		for used := text.Dim(1); used <= positions; used++ {
			logits, present := forward(text, past)
			next := logits.Argmax(-1)
			if !yield(int64(next.Item())) {
				return
			}
			past, text = tensor.Cat([]*tensor.Tensor{past, present}, 0), next.Reshape(1, 1)
		}
	}
}
