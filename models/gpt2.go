package models

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// GPT2Config holds the sizes of a GPT2.
type GPT2Config struct {
	VocabSize, MaxPositions    int
	Width, NumLayers, NumHeads int
	LayerNormEps               float64
}

// GPT2Small are the sizes of the smallest published model.
var GPT2Small = GPT2Config{VocabSize: 50257, MaxPositions: 1024, Width: 768, NumLayers: 12, NumHeads: 12, LayerNormEps: 1e-5}

// GPT2 is the decoder of Radford et al., "Language Models are Unsupervised
// Multitask Learners", 2019, with the names of Hugging Face's GPT2Model. The
// output layer is the word table transposed.
type GPT2 struct {
	Wte, Wpe *nn.Embedding
	H        []*GPT2Block
	LnF      *nn.LayerNorm
}

// NewGPT2 returns a GPT2 with zero weights.
func NewGPT2(c GPT2Config) *GPT2 {
	m := &GPT2{
		Wte: nn.NewEmbedding(c.VocabSize, c.Width, nn.NoInit()),
		Wpe: nn.NewEmbedding(c.MaxPositions, c.Width, nn.NoInit()),
		LnF: c.norm(),
	}
	for range c.NumLayers {
		m.H = append(m.H, &GPT2Block{
			Ln1: c.norm(),
			Attn: &GPT2Attention{NumHeads: c.NumHeads,
				CAttn: newConv1D(c.Width, 3*c.Width),
				CProj: newConv1D(c.Width, c.Width)},
			Ln2: c.norm(),
			Mlp: &GPT2MLP{CFc: newConv1D(c.Width, 4*c.Width), CProj: newConv1D(4*c.Width, c.Width)},
		})
	}
	return m
}

func (c GPT2Config) norm() *nn.LayerNorm {
	return nn.NewLayerNorm([]int{c.Width}, nn.Eps(c.LayerNormEps), nn.NoInit())
}

// Forward takes token numbers [N, S] (i64) to the hidden states [N, S, H] and
// the scores of the next token [N, S, V].
func (m *GPT2) Forward(inputIDs *tensor.Tensor) (lastHiddenState, logits *tensor.Tensor) {
	positions := tensor.Arange(inputIDs.Size(1))
	x := m.Wte.Forward(inputIDs).Add(m.Wpe.Forward(positions))
	// A query at position i looks at keys up to i.
	later := positions.Unsqueeze(0).Gt(positions.Unsqueeze(1))
	for _, block := range m.H {
		x = nn.RunAll(block, x, later, nil)[0]
	}
	x = m.LnF.Forward(x)
	return x, x.Matmul(m.Wte.Weight.T())
}

// GPT2Decoder is a GPT2 that generates text a few tokens at a time: it takes the
// keys and values of all tokens before, and returns those of the new ones.
type GPT2Decoder struct {
	*GPT2
}

// NewGPT2Decoder returns a decoder with zero weights.
func NewGPT2Decoder(c GPT2Config) *GPT2Decoder { return &GPT2Decoder{NewGPT2(c)} }

// PastType is the type of the keys and values of P tokens in N texts, the second
// input of a GPT2Decoder: f32[P, layers, 2, N, heads, H/heads].
func (c GPT2Config) PastType() string {
	n := strconv.Itoa
	return "f32[P," + n(c.NumLayers) + ",2,N," + n(c.NumHeads) + "," + n(c.Width/c.NumHeads) + "]"
}

// Forward takes token numbers [N, S] (i64) that follow P others, and past, its
// results for those (see GPT2Config.PastType), to the scores of the token after the
// last one [N, V] and the keys and values of the new tokens, S in place of P.
// Positions are the first axis, so that a caller appends new ones to past ones.
func (m *GPT2Decoder) Forward(inputIDs, past *tensor.Tensor) (logits, present *tensor.Tensor) {
	before := past.Size(0)
	keys := tensor.Arange(before.Add(inputIDs.Size(1)))
	queries := keys.Slice(0, before, tensor.End)
	x := m.Wte.Forward(inputIDs).Add(m.Wpe.Forward(queries))
	later := keys.Unsqueeze(0).Gt(queries.Unsqueeze(1))
	var cached []*tensor.Tensor
	for i, block := range m.H {
		out := nn.RunAll(block, x, later, past.Select(1, i).Permute(1, 2, 3, 0, 4))
		x = out[0]
		cached = append(cached, out[1].Permute(2, 0, 1, 3), out[2].Permute(2, 0, 1, 3))
	}
	x = m.LnF.Forward(x.Select(1, -1))
	return x.Matmul(m.Wte.Weight.T()), tensor.Stack(cached, 1).Unflatten(1, len(m.H), 2)
}

// GPT2Block is attention and a perceptron, each on the normalised input and added
// to it.
type GPT2Block struct {
	Ln1  *nn.LayerNorm `fx:"ln_1"`
	Attn *GPT2Attention
	Ln2  *nn.LayerNorm `fx:"ln_2"`
	Mlp  *GPT2MLP
}

// Forward runs one block on x [N, S, H]; later [S, P+S] is true where a key must
// not be looked at, and past [2, N, heads, P, H/heads] are the keys and values of
// tokens before, or nil. It returns the keys and values of x as well.
func (m *GPT2Block) Forward(x, later, past *tensor.Tensor) (y, k, v *tensor.Tensor) {
	out := nn.RunAll(m.Attn, m.Ln1.Forward(x), later, past)
	x = x.Add(out[0])
	return x.Add(nn.Run(m.Mlp, m.Ln2.Forward(x))), out[1], out[2]
}

// GPT2Attention is causal multi-head attention with one projection for queries,
// keys and values.
type GPT2Attention struct {
	NumHeads     int
	CAttn, CProj *Conv1D
}

// Forward attends from x [N, S, H] to past and itself; see GPT2Block.
func (m *GPT2Attention) Forward(x, later, past *tensor.Tensor) (y, k, v *tensor.Tensor) {
	qkv := nn.Run(m.CAttn, x).Chunk(3, -1)
	width := m.CProj.Weight.Dim(0)
	for i, t := range qkv {
		qkv[i] = t.Reshape(x.Size(0), x.Size(1), m.NumHeads, width/m.NumHeads).Permute(0, 2, 1, 3)
	}
	q, k, v := qkv[0], qkv[1], qkv[2]
	keys, values := k, v
	if past != nil {
		keys = tensor.Cat([]*tensor.Tensor{past.Select(0, 0), k}, 2)
		values = tensor.Cat([]*tensor.Tensor{past.Select(0, 1), v}, 2)
	}
	scores := q.Matmul(keys.Transpose(-1, -2)).DivScalar(math.Sqrt(float64(width / m.NumHeads)))
	p := scores.MaskedFill(later, lowest).Softmax(-1)
	y = p.Matmul(values).Permute(0, 2, 1, 3).Reshape(x.Size(0), x.Size(1), width)
	return nn.Run(m.CProj, y), k, v
}

// GPT2MLP is the perceptron of a block, with the GELU that is approximated by tanh.
type GPT2MLP struct {
	CFc, CProj *Conv1D
}

// Forward takes x [N, S, H] to [N, S, H].
func (m *GPT2MLP) Forward(x *tensor.Tensor) *tensor.Tensor {
	return nn.Run(m.CProj, nn.Run(m.CFc, x).Gelu(tensor.GeluAttrs{Approximate: "tanh"}))
}

// Conv1D is the linear map of GPT-2's checkpoints, whose weight is stored
// [in, out]: x @ Weight + Bias.
type Conv1D struct {
	Weight, Bias *tensor.Tensor
}

func newConv1D(in, out int) *Conv1D {
	return &Conv1D{Weight: tensor.StateParam(array.New(array.F32, in, out)), Bias: tensor.StateParam(array.New(array.F32, out))}
}

// Forward takes x [..., in] to [..., out].
func (m *Conv1D) Forward(x *tensor.Tensor) *tensor.Tensor {
	return x.Matmul(m.Weight).Add(m.Bias)
}
