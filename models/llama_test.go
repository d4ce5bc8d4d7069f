package models_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/array/weights"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/tensor"
)

const llamas = "testdata/llama/"

// llama loads a decoder of testdata/llama, which make.py there has written.
func llama(t *testing.T, name string) *models.Llama {
	t.Helper()
	f, err := gguf.Open(llamas + name + ".gguf")
	require.NoError(t, err)
	m, err := models.LoadLlama(f)
	require.NoError(t, err)
	require.NoError(t, f.Close()) // the decoder has its own memory
	return m
}

// reference returns the text, the scores after each of its tokens, and what greedy decoding
// appends to its first eight, as transformers computes them.
func reference(t *testing.T, name string) (ids, scores *tensor.Tensor, greedy []int64) {
	t.Helper()
	f, err := weights.Open(llamas + name + ".safetensors")
	require.NoError(t, err)
	get := func(name string) *array.Array {
		a, err := f.Get(name)
		require.NoError(t, err)
		return a
	}
	return tensor.New(get("ids")).Unsqueeze(0), tensor.New(get("scores")), array.Data[int64](get("greedy"))
}

// TestLlamasEqualTheReference holds each member of the family to transformers: eagerly, interpreted, as a plan that
// was made once for all lengths, and optimised; the text in pieces, and token by token.
func TestLlamasEqualTheReference(t *testing.T) {
	files, err := filepath.Glob(llamas + "*.gguf")
	require.NoError(t, err)
	require.Len(t, files, 7)
	for _, file := range files {
		name := filepath.Base(file[:len(file)-len(".gguf")])
		t.Run(name, func(t *testing.T) {
			m := llama(t, name)
			ids, want, _ := reference(t, name)
			c := m.Config
			in := []fx.Option{fx.Input("input_ids", "i64[N,S]"), fx.Input("past", c.PastType())}
			gm, err := fx.Trace(context.Background(), m, in...)
			require.NoError(t, err)
			require.Empty(t, gm.Graph.Specialisations(), "no size is fixed")
			optimised, err := fx.Trace(context.Background(), m, in...)
			require.NoError(t, err)
			_, err = optimised.Apply(context.Background(), fx.Optimise(), fx.PassOptions{})
			require.NoError(t, err)
			past := tensor.Zeros(0, c.NumLayers, 2, 1, c.NumKVHeads, c.HeadDim)
			for engine, run := range map[string]func(in ...*tensor.Tensor) []*tensor.Tensor{
				"eager": func(in ...*tensor.Tensor) []*tensor.Tensor {
					logits, present := m.Forward(in[0], in[1])
					return []*tensor.Tensor{logits, present}
				},
				"interp": gm.Call, "plan": planned(t, gm), "optimised plan": planned(t, optimised),
			} {
				t.Run(engine, func(t *testing.T) {
					for _, pieces := range [][]int{{}, {16}, {5, 1, 6}} {
						seen := 0
						for i, scores := range tokenByToken(run, ids, past, pieces...) {
							if i < len(pieces) {
								seen += pieces[i]
							} else {
								seen++
							}
							d := fxtest.Compare(array.Contiguous(scores.Array()), array.Contiguous(want.Narrow(0, seen-1, 1).Array()))
							require.True(t, d.Within(fxtest.Tolerance{MaxAbs: 5e-5, L2Rel: 2e-5}), "after %d tokens, pieces %v: %s", seen, pieces, d)
						}
						require.Equal(t, 16, seen)
					}
				})
			}
		})
	}
}

// Greedy decoding yields the reference's tokens, in eager code and in a session, up to the last position.
func TestLlamasGenerate(t *testing.T) {
	s := lazy.New(lazy.Options{Synchronous: true})
	defer s.Close()
	for _, name := range []string{"llama", "llama3", "linear", "qwen2", "qwen3", "gemma"} {
		m := llama(t, name)
		ids, _, want := reference(t, name)
		require.Len(t, want, 16)
		require.Greater(t, len(slices.Compact(slices.Clone(want))), 4, "%s repeats a token", name)
		text := ids.Narrow(1, 0, 8)
		for _, x := range []*tensor.Tensor{text, s.In(text)} {
			got := slices.Collect(m.Generate(x))
			require.Len(t, got, 64-8+1)
			require.Equal(t, want, got[:16], name)
		}
	}
}

// Matrices stay as they are stored: two weights of Q4_0 to a byte, and a scale for 32 of them.
func TestLlamaKeepsBlocks(t *testing.T) {
	m := llama(t, "qwen3")
	q := m.Blk[1].AttnQ
	require.Equal(t, "u8[64,18] Q4_0", q.Weight.Type().String()+" "+q.Format)
	require.Equal(t, "u8[40,34] Q8_0", m.Output.Weight.Type().String()+" "+m.Output.Format)
	m = llama(t, "llama")
	require.Equal(t, "u8[40,64] F16", m.Output.Weight.Type().String()+" "+m.Output.Format)
	require.Equal(t, "u8[32,128] BF16", m.Blk[0].FfnDown.Weight.Type().String()+" "+m.Blk[0].FfnDown.Format)
	require.Equal(t, "f32[64,32]", m.Blk[0].FfnUp.Weight.Type().String()+m.Blk[0].FfnUp.Format)
	require.Nil(t, llama(t, "llama3").Output)
}

// A mapped decoder has the file's memory, another one its own.
func TestLlamaMapped(t *testing.T) {
	f, err := gguf.Open(llamas + "linear.gguf")
	require.NoError(t, err)
	defer f.Close()
	stored, _, ok, err := f.Blocks("blk.0.ffn_up.weight")
	require.NoError(t, err)
	require.True(t, ok)
	own, err := models.LoadLlama(f)
	require.NoError(t, err)
	mapped, err := models.LoadLlama(f, models.Mapped())
	require.NoError(t, err)
	first := func(x *tensor.Tensor) *uint8 { return &array.Data[uint8](x.Array())[0] }
	require.Same(t, &array.Data[uint8](stored)[0], first(mapped.Blk[0].FfnUp.Weight))
	require.NotSame(t, &array.Data[uint8](stored)[0], first(own.Blk[0].FfnUp.Weight))
	ids, _, _ := reference(t, "linear")
	past := tensor.Zeros(0, own.Config.NumLayers, 2, 1, own.Config.NumKVHeads, own.Config.HeadDim)
	want, _ := own.Forward(ids, past)
	got, _ := mapped.Forward(ids, past)
	require.Equal(t, array.Data[float32](want.Array()), array.Data[float32](got.Array()))
}

// Activations of 8 bits change scores by little, and matrices of floats not at all: a plan has the eager code's scores, and
// these differ by less than 2 % in sum from those of whole activations.
func TestLlamaActivations8(t *testing.T) {
	for name, dynamic := range map[string]int{"blocks": 7, "linear": 16, "qwen3": 16, "llama": 0} {
		f, err := gguf.Open(llamas + name + ".gguf")
		require.NoError(t, err)
		m, err := models.LoadLlama(f, models.Activations8())
		require.NoError(t, err)
		n, list := 0, []*models.LlamaLinear{m.TokenEmbd}
		if m.Output != nil {
			list = append(list, m.Output)
		}
		for _, b := range m.Blk {
			list = append(list, b.AttnQ, b.AttnK, b.AttnV, b.AttnOutput, b.FfnGate, b.FfnUp, b.FfnDown)
		}
		for _, l := range list {
			require.Equal(t, !slices.Contains([]string{"", "F16", "BF16", "Q2_K", "Q3_K"}, l.Format), l.Dynamic, l.Format)
			if l.Dynamic {
				n++
			}
		}
		require.Equal(t, dynamic, n, name)
		gm, err := fx.Trace(context.Background(), m, fx.Input("input_ids", "i64[N,S]"), fx.Input("past", m.Config.PastType()))
		require.NoError(t, err)
		_, err = gm.Apply(context.Background(), fx.Optimise(), fx.PassOptions{})
		require.NoError(t, err)
		ids, _, _ := reference(t, name)
		past := tensor.Zeros(0, m.Config.NumLayers, 2, 1, m.Config.NumKVHeads, m.Config.HeadDim)
		whole, _ := llama(t, name).Forward(ids, past)
		got, _ := m.Forward(ids, past)
		off := fxtest.Compare(array.Contiguous(got.Array()), array.Contiguous(whole.Array()))
		t.Log(name, off)
		require.True(t, off.Within(fxtest.Tolerance{MaxAbs: 1, L2Rel: 0.02}), off)
		require.Equal(t, dynamic == 0, off.MaxAbs == 0, "%s: %s", name, off)
		same := fxtest.Compare(array.Contiguous(planned(t, gm)(ids, past)[0].Array()), array.Contiguous(got.Array()))
		require.True(t, same.Within(fxtest.Tolerance{MaxAbs: 1, L2Rel: 5e-3}), "%s", same)
	}
}

// A file that asks for what the decoder lacks, or whose sizes do not agree, is refused.
func TestLoadLlamaRefuses(t *testing.T) {
	src, err := os.ReadFile(llamas + "linear.gguf")
	require.NoError(t, err)
	for _, c := range []struct{ old, new, want string }{
		{"llama", "mamba", `architecture is "mamba", expected one of gemma, llama, qwen2, qwen3`},
		{"\x06\x00\x00\x00\x00\x00\x00\x00linear", "\x06\x00\x00\x00\x00\x00\x00\x00su_nil", `positions are scaled by "su_nil"`},
		{"rope.scaling.type", "rope.scaling.kind", `key "llama.rope.scaling.kind" may ask for a rule that is unknown`},
		{"head_count_kv\x04\x00\x00\x00\x02", "head_count_kv\x04\x00\x00\x00\x03", "4 heads of queries share 3 of keys"},
		{"head_count_kv\x04\x00\x00\x00\x02", "head_count_kv\x04\x00\x00\x00\x04", "tensor blk.0.attn_k.weight has the shape [16,32], expected [32,32]"},
		{"block_count\x04\x00\x00\x00\x02", "block_count\x04\x00\x00\x00\x03", "tensor blk.2.attn_q.weight has the shape of none"},
		{"block_count\x04\x00\x00\x00\x02", "block_count\x04\x00\x00\x00\x00", `key "llama.block_count" is no positive u32`},
		{"forward_length\x04\x00\x00\x00\x40", "forward_length\x04\x00\x00\x00\x60", "tensor blk.0.ffn_up.weight has the shape [64,32], expected [96,32]"},
		{"embedding_length\x04\x00\x00\x00\x20\x00\x00\x00", "embedding_length\x04\x00\x00\x00\x00\x00\x00\x40", "expected"},
		{"llama.context_length", "llama.expert___count", `key "llama.expert___count" may ask for a rule that is unknown`},
		{"blk.1.ffn_down.weight", "blk.1.ffn_dawn.weight", "ffn_down"},
	} {
		bad := replaced(t, src, c.old, c.new)
		f, err := gguf.Parse(bad)
		require.NoError(t, err, c.new)
		_, err = models.LoadLlama(f)
		require.ErrorContains(t, err, c.want, c.new)
		if c.new != "blk.1.ffn_dawn.weight" {
			require.ErrorIs(t, err, models.NoDecoder)
		}
	}
	src, err = os.ReadFile(llamas + "llama3.gguf")
	require.NoError(t, err)
	f, err := gguf.Parse(replaced(t, src, "\x00\x00\x80\x3f\x00\x00\x80\x3f", "\x00\x00\x80\x3f\x00\x00\x00\x00")) // f32 1 and 1
	require.NoError(t, err)
	_, err = models.LoadLlama(f)
	require.ErrorContains(t, err, "rope_freqs.weight has numbers that are not positive")
	info, ok := diag.Lookup(models.NoDecoder)
	require.True(t, ok)
	require.Equal(t, `the key general.architecture = "mamba"`, info.Example) // the first of these files
}

// replaced replaces text in every place of a file; the file keeps its size.
func replaced(t *testing.T, src []byte, old, new string) []byte {
	t.Helper()
	require.Len(t, new, len(old))
	n := 0
	out := slices.Clone(src)
	for i := 0; i+len(old) <= len(out); i++ {
		if string(out[i:i+len(old)]) == old {
			copy(out[i:], new)
			n++
		}
	}
	require.Positive(t, n, old)
	return out
}

// A plan computes the texts of a batch as each alone.
func TestLlamaBatches(t *testing.T) {
	m := llama(t, "qwen3")
	c := m.Config
	ids := tensor.FromSlice([]int64{3, 30, 17, 5, 6, 7, 2, 39, 0, 11}, 2, 5)
	gm, err := fx.Trace(context.Background(), m, fx.Input("input_ids", "i64[N,S]"), fx.Input("past", c.PastType()))
	require.NoError(t, err)
	past := tensor.Zeros(0, c.NumLayers, 2, 2, c.NumKVHeads, c.HeadDim)
	out := planned(t, gm)(ids, past)
	for i := range 2 {
		logits, present := m.Forward(ids.Narrow(0, i, 1), past.Narrow(3, i, 1))
		for _, p := range [][2]*tensor.Tensor{{out[0].Narrow(0, i, 1), logits}, {out[1].Narrow(3, i, 1), present}} {
			d := fxtest.Compare(array.Contiguous(p[0].Array()), array.Contiguous(p[1].Array()))
			require.True(t, d.Within(fxtest.Tolerance{MaxAbs: 1e-5, L2Rel: 5e-6}), d)
		}
	}
}

// Where only the first elements of a head are turned, the others are the same at each position.
func TestLlamaTurnsPartOfAHead(t *testing.T) {
	c := models.LlamaConfig{
		VocabSize: 40, MaxPositions: 64, Width: 32, Inner: 64, NumLayers: 1, NumHeads: 4, NumKVHeads: 4, HeadDim: 8,
		RMSNormEps: 1e-5, Rotary: models.LlamaRotary{Base: 10000, Dims: 4},
	}
	m := models.NewLlama(c)
	models.Synthetic(&models.Model{}, m, seed)
	_, present := m.Forward(tensor.FromSlice([]int64{3, 3}, 1, 2), tensor.Zeros(0, 1, 2, 1, 4, 8))
	keys := array.Data[float32](array.Contiguous(present.Select(1, 0).Select(1, 0).Array())) // [2, 1, heads, 8]
	for head := range 4 {
		first, second := keys[8*head:8*head+8], keys[32+8*head:32+8*head+8]
		require.Equal(t, first[4:], second[4:])
		for i := range 4 {
			require.NotEqual(t, first[i], second[i])
		}
	}
}
