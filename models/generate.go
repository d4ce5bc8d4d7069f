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
	return func(yield func(int64) bool) {
		heads := m.H[0].Attn.NumHeads
		past := tensor.Zeros(0, len(m.H), 2, 1, heads, m.Wte.Weight.Dim(1)/heads)
		for used := text.Dim(1); used <= m.Wpe.Weight.Dim(0); used++ {
			logits, present := m.Forward(text, past)
			next := logits.Argmax(-1)
			if !yield(int64(next.Item())) {
				return
			}
			past, text = tensor.Cat([]*tensor.Tensor{past, present}, 0), next.Reshape(1, 1)
		}
	}
}
