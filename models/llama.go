package models

import (
	"iter"
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/blocks"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// LlamaConfig holds the sizes of a decoder of Llama's family and what its members differ in.
type LlamaConfig struct {
	VocabSize, MaxPositions       int
	Width, Inner, NumLayers       int
	NumHeads, NumKVHeads, HeadDim int
	RMSNormEps                    float64
	Rotary                        LlamaRotary
	Biases                        bool // of queries, keys and values, as Qwen 2 has them
	HeadNorms                     bool // of each head's queries and keys, as Qwen 3 has them
	OutputTable                   bool // a table of its own for the output, not the one of words
	Gelu                          bool // in place of SiLU, approximated by tanh, as Gemma has it
	ScaledWords                   bool // by the square root of the width, as Gemma has them
}

// Llama is the decoder of Touvron et al., "LLaMA: Open and Efficient Foundation Language
// Models", arXiv:2302.13971, and of its family: the root mean square as norm, rotary
// embeddings, fewer heads of keys and values than of queries, a gated perceptron. The names
// are those of GGUF files.
type Llama struct {
	Config     LlamaConfig `fx:"-"`
	TokenEmbd  *LlamaLinear
	Blk        []*LlamaBlock
	OutputNorm *nn.RMSNorm
	Output     *LlamaLinear // nil where the table of words is used
}

// NewLlama returns a decoder with zero weights.
func NewLlama(c LlamaConfig) *Llama {
	return newLlama(c, func(_ string, in, out int) *LlamaLinear {
		return &LlamaLinear{Weight: tensor.StateParam(array.New(array.F32, out, in))}
	})
}

// newLlama returns a decoder with zero biases and norms; matrix makes the matrix of a name.
func newLlama(c LlamaConfig, matrix func(name string, in, out int) *LlamaLinear) *Llama {
	norm := func(n int) *nn.RMSNorm { return nn.NewRMSNorm([]int{n}, nn.Eps(c.RMSNormEps), nn.NoInit()) }
	m := &Llama{Config: c, OutputNorm: norm(c.Width), TokenEmbd: matrix("token_embd.weight", c.Width, c.VocabSize)}
	if c.OutputTable {
		m.Output = matrix("output.weight", c.Width, c.VocabSize)
	}
	for i := range c.NumLayers {
		linear := func(name string, in, out int, bias bool) *LlamaLinear {
			l := matrix("blk."+strconv.Itoa(i)+"."+name+".weight", in, out)
			if bias {
				l.Bias = tensor.StateParam(array.New(array.F32, out))
			}
			return l
		}
		heads, kv := c.NumHeads*c.HeadDim, c.NumKVHeads*c.HeadDim
		b := &LlamaBlock{
			Config: c, AttnNorm: norm(c.Width), FfnNorm: norm(c.Width),
			AttnQ: linear("attn_q", c.Width, heads, c.Biases), AttnK: linear("attn_k", c.Width, kv, c.Biases), AttnV: linear("attn_v", c.Width, kv, c.Biases),
			AttnOutput: linear("attn_output", heads, c.Width, false),
			FfnGate:    linear("ffn_gate", c.Width, c.Inner, false), FfnUp: linear("ffn_up", c.Width, c.Inner, false), FfnDown: linear("ffn_down", c.Inner, c.Width, false),
		}
		if c.HeadNorms {
			b.AttnQNorm, b.AttnKNorm = norm(c.HeadDim), norm(c.HeadDim)
		}
		m.Blk = append(m.Blk, b)
	}
	return m
}

// PastType is the type of the keys and values of P tokens in N texts, the second input of a
// Llama: f32[P, layers, 2, N, heads of keys, size of a head].
func (c LlamaConfig) PastType() string { return c.PastTypeOf(array.F32) }

// PastTypeOf is PastType of keys and values of an element type, see LlamaConfig.CacheType.
func (c LlamaConfig) PastTypeOf(d array.DType) string {
	n := strconv.Itoa
	return d.String() + "[P," + n(c.NumLayers) + ",2,N," + n(c.NumKVHeads) + "," + n(c.CacheRow(d)) + "]"
}

// cacheFormat is how keys and values lie in a cache of bytes.
const cacheFormat = "Q8_0"

// CacheRow is how many elements of a type the keys that a head has of one token are in a cache, see LlamaConfig.CacheType.
func (c LlamaConfig) CacheRow(d array.DType) int {
	if d != array.U8 {
		return c.HeadDim
	}
	f := blocks.Lookup(cacheFormat)
	return c.HeadDim / f.Elements * f.Bytes
}

// CheckCache returns an error, FX8035, if heads do not fit in a cache of an element type.
func (c LlamaConfig) CheckCache(d array.DType) error {
	if unit := blocks.Lookup(cacheFormat).Elements; d == array.U8 && c.HeadDim%unit != 0 {
		return diag.New(NoDecoder, "models: heads of "+strconv.Itoa(c.HeadDim)+" elements do not fit in a cache of 8 bits, expected a multiple of "+strconv.Itoa(unit)).
			WithHint("take a cache of f16")
	}
	return nil
}

// stored is keys or values as a cache of an element type has them.
func stored(t *tensor.Tensor, d array.DType) *tensor.Tensor {
	if d == array.U8 {
		return t.BlockQuantize(cacheFormat)
	}
	return t.Cast(d)
}

// Forward takes token numbers [N, S] (i64) that follow P others, and past, its results for
// those (see LlamaConfig.PastTypeOf), to the scores of the token after the last one [N, V] and
// the keys and values of the new tokens, S in place of P.
func (m *Llama) Forward(inputIDs, past *tensor.Tensor) (logits, present *tensor.Tensor) {
	keys, queries := places(past.Size(0), inputIDs.Size(1))
	x := m.words(inputIDs)
	cos, sin := m.Config.Rotary.turns(queries)
	upTo := upToOwn(keys, queries)
	var cached []*tensor.Tensor
	for i, block := range m.Blk {
		out := nn.RunAll(block, x, cos, sin, upTo, past.Select(1, i).Permute(1, 2, 3, 0, 4))
		x = out[0]
		cached = append(cached, out[1].Permute(2, 0, 1, 3), out[2].Permute(2, 0, 1, 3))
	}
	return m.leave(x), tensor.Stack(cached, 1).Unflatten(1, len(m.Blk), 2)
}

// places are the numbers of all positions, and of the new ones after some before.
func places(before, fresh tensor.Size) (keys, queries *tensor.Tensor) {
	keys = tensor.Arange(before.Add(fresh))
	return keys, keys.Slice(0, before, tensor.End)
}

// upToOwn tells [S, P+S] which keys queries look at: those up to their own.
func upToOwn(keys, queries *tensor.Tensor) *tensor.Tensor {
	return keys.Unsqueeze(0).Le(queries.Unsqueeze(1))
}

// words returns the rows of words [N, S] as hidden states [N, S, H].
func (m *Llama) words(inputIDs *tensor.Tensor) *tensor.Tensor {
	x := m.TokenEmbd.rows(inputIDs)
	if m.Config.ScaledWords {
		x = x.MulScalar(float32(math.Sqrt(float64(m.Config.Width))))
	}
	return x
}

// leave returns the scores after the last of the hidden states x [N, S, H].
func (m *Llama) leave(x *tensor.Tensor) *tensor.Tensor {
	x = m.OutputNorm.Forward(x.Select(1, -1))
	output := m.Output
	if output == nil {
		output = m.TokenEmbd
	}
	return nn.Run(output, x)
}

// Generate yields the likeliest tokens after a text [1, S] (i64), one after the other, until
// the model has no position left or the loop ends. Each token is computed once.
func (m *Llama) Generate(text *tensor.Tensor) iter.Seq[int64] {
	c := m.Config
	return greedy(text, c.MaxPositions, tensor.Zeros(0, c.NumLayers, 2, 1, c.NumKVHeads, c.HeadDim), m.Forward)
}

// LlamaBlock is attention and a gated perceptron, each on the normalised input and added to it.
type LlamaBlock struct {
	Config                          LlamaConfig `fx:"-"`
	AttnNorm                        *nn.RMSNorm
	AttnQ, AttnK, AttnV, AttnOutput *LlamaLinear
	AttnQNorm, AttnKNorm            *nn.RMSNorm // nil without LlamaConfig.HeadNorms
	FfnNorm                         *nn.RMSNorm
	FfnGate, FfnUp, FfnDown         *LlamaLinear
}

// Forward runs one block on x [N, S, H]; cos and sin [S, half of what is turned] are the turns
// of its positions, upTo [S, P+S] is true where a key is looked at, and past [2, N, heads, P, D] are
// the keys and values of tokens before. It returns the keys and values of x as well.
func (m *LlamaBlock) Forward(x, cos, sin, upTo, past *tensor.Tensor) (y, k, v *tensor.Tensor) {
	y = m.through(x, cos, sin, upTo, func(newK, newV *tensor.Tensor) (keys, values *tensor.Tensor) {
		k, v = stored(newK, past.DType()), stored(newV, past.DType())
		return tensor.Cat([]*tensor.Tensor{past.Select(0, 0), k}, 2), tensor.Cat([]*tensor.Tensor{past.Select(0, 1), v}, 2)
	})
	return y, k, v
}

// through runs the block; all gives the keys and values of all positions for those of the new ones.
func (m *LlamaBlock) through(x, cos, sin, upTo *tensor.Tensor, all func(k, v *tensor.Tensor) (keys, values *tensor.Tensor)) *tensor.Tensor {
	c := m.Config
	h := m.AttnNorm.Forward(x)
	turned := func(by *LlamaLinear, norm *nn.RMSNorm, heads int) *tensor.Tensor {
		t := split(nn.Run(by, h), heads)
		if norm != nil {
			t = norm.Forward(t)
		}
		return c.Rotary.turn(t.Transpose(1, 2), c.HeadDim, cos, sin)
	}
	q := turned(m.AttnQ, m.AttnQNorm, c.NumHeads)
	keys, values := all(turned(m.AttnK, m.AttnKNorm, c.NumKVHeads), split(nn.Run(m.AttnV, h), c.NumKVHeads).Transpose(1, 2))
	x = x.Add(nn.Run(m.AttnOutput, c.attend(q, keys, values, upTo).Transpose(1, 2).Flatten(2, 3)))
	h = m.FfnNorm.Forward(x)
	gate := nn.Run(m.FfnGate, h)
	if c.Gelu {
		gate = gate.Gelu(tensor.GeluAttrs{Approximate: "tanh"})
	} else {
		gate = gate.Silu()
	}
	return x.Add(nn.Run(m.FfnDown, gate.Mul(nn.Run(m.FfnUp, h))))
}

// attend is the attention of queries [N, heads, S, D] over keys and values as a cache has them.
func (c LlamaConfig) attend(q, keys, values, upTo *tensor.Tensor) *tensor.Tensor {
	grouped := c.NumHeads != c.NumKVHeads
	if keys.DType() == array.U8 {
		return q.BlockAttention(keys, values, upTo, cacheFormat, tensor.BlockAttentionAttrs{EnableGqa: grouped})
	}
	return q.Cast(keys.DType()).ScaledDotProductAttention(keys, values, upTo, tensor.AttentionAttrs{EnableGqa: grouped}).Cast(array.F32)
}

// split takes x [N, S, heads*D] to [N, S, heads, D].
func split(x *tensor.Tensor, heads int) *tensor.Tensor { return x.Unflatten(-1, heads, -1) }

// LlamaLinear is a linear map x @ Weightᵀ + Bias, or a table of words. The weight is f32
// [out, in], or lies as a GGUF file has it, u8 [out, bytes of a row].
type LlamaLinear struct {
	Weight *tensor.Tensor
	Bias   *tensor.Tensor // [out] or nil
	Format string         // GGUF's name of the weight's format, "Q8_0" for instance, or nothing for f32
	// Dynamic has activations rounded to 8 bits, see [Activations8].
	Dynamic bool
}

// Forward takes x [..., in] to [..., out].
func (m *LlamaLinear) Forward(x *tensor.Tensor) *tensor.Tensor {
	switch {
	case m.Format != "" && m.Dynamic:
		return x.BlockLinearDynamic(m.Weight, m.Bias, m.Format)
	case m.Format != "":
		return x.BlockLinear(m.Weight, m.Bias, m.Format)
	}
	return x.Linear(m.Weight, m.Bias)
}

// rows returns the rows of words [N, S] as [N, S, in].
func (m *LlamaLinear) rows(ids *tensor.Tensor) *tensor.Tensor {
	if m.Format != "" {
		return ids.BlockEmbedding(m.Weight, m.Format)
	}
	return ids.Embedding(m.Weight)
}
