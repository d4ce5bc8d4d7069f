package models

import (
	"iter"
	"strconv"

	"github.com/gofx-dev/gofx/array"
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

// CacheType is the type of each tensor of a Llama's cache with room for R positions of N texts:
// [N, heads of keys, R, size of a head], of f32 or f16; or of u8, where a head's elements lie in blocks of GGUF's format Q8_0,
// 34 bytes for 32 of them, see [tensor.BlockQuantize]. A head has to have whole blocks then.
func (c LlamaConfig) CacheType(d array.DType) string {
	return d.String() + "[N," + strconv.Itoa(c.NumKVHeads) + ",R," + strconv.Itoa(c.CacheRow(d)) + "]"
}

// Step is Forward over a cache of fixed room: the keys and values of each layer in turn, see
// LlamaConfig.CacheType. It takes token numbers [N, S] (i64), their positions [N, S] (i64), and which places of the cache
// are looked at, kept [N, T] (bool), of which the last S are those of the new tokens: a place that is not kept holds none
// of the text. It returns the scores of the token after the last one [N, V] and the cache with the keys and values of the new
// tokens in their places. A plan with lowering.Options.Into writes these to the cache and copies nothing else of it.
func (m *Llama) Step(inputIDs, positions, kept *tensor.Tensor, cache []*tensor.Tensor) (logits *tensor.Tensor, after []*tensor.Tensor) {
	fresh, end := inputIDs.Size(1), kept.Size(1)
	before := end.Sub(fresh)
	x := m.words(inputIDs)
	cos, sin := m.Config.Rotary.turns(positions.Unsqueeze(1))
	upTo := kept.Unsqueeze(1).Unsqueeze(1).LogicalAnd(upToOwn(places(before, fresh)))
	for i, block := range m.Blk {
		put := func(into, fresh *tensor.Tensor) *tensor.Tensor {
			all := into.SliceScatter(stored(fresh, into.DType()), 2, before, end)
			after = append(after, all)
			return all.Slice(2, 0, end)
		}
		x = block.through(x, cos, sin, upTo, func(k, v *tensor.Tensor) (keys, values *tensor.Tensor) {
			return put(cache[2*i], k), put(cache[2*i+1], v)
		})
	}
	return m.leave(x), after
}
