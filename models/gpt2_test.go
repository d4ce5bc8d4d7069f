package models_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/tensor"
)

// decoderInputs are symbolic in batch, new tokens and past tokens.
func decoderInputs(c models.GPT2Config) []fx.Option {
	return []fx.Option{fx.Input("input_ids", "i64[N,S]"), fx.Input("past", c.PastType())}
}

// tokenByToken runs a decoder over ids [N, S] in pieces of the given sizes, and
// then one by one, and returns the scores after every piece.
func tokenByToken(run func(in ...*tensor.Tensor) []*tensor.Tensor, ids, past *tensor.Tensor, pieces ...int) (scores []*tensor.Tensor) {
	for at := 0; at < ids.Dim(1); {
		n := 1
		if len(pieces) > 0 {
			n, pieces = pieces[0], pieces[1:]
		}
		out := run(ids.Narrow(1, at, n), past)
		scores = append(scores, out[0])
		past = tensor.Cat([]*tensor.Tensor{past, out[1]}, 0)
		at += n
	}
	return scores
}

// planned runs a captured module as a plan.
func planned(t *testing.T, gm *fx.GraphModule) func(in ...*tensor.Tensor) []*tensor.Tensor {
	e, err := cpu.Compile(gm.Module, lowering.Options{})
	require.NoError(t, err)
	return func(in ...*tensor.Tensor) (out []*tensor.Tensor) {
		arrays := make([]*array.Array, len(in))
		for i, x := range in {
			arrays[i] = array.Contiguous(x.Array())
		}
		results, err := e.Run(context.Background(), arrays)
		require.NoError(t, err)
		for _, a := range results {
			out = append(out, tensor.New(a))
		}
		return out
	}
}

// TestDecoderEqualsGPT2 holds that a cache changes nothing: a decoder that sees a
// text in pieces scores the next token as GPT2 does that sees all of it, eagerly and
// in a plan that was made once for all lengths.
func TestDecoderEqualsGPT2(t *testing.T) {
	c := models.GPT2Config{VocabSize: 40, MaxPositions: 12, Width: 8, NumLayers: 3, NumHeads: 2, LayerNormEps: 1e-5}
	m := models.NewGPT2Decoder(c)
	models.Synthetic(&models.Model{}, m, seed)
	gm, err := fx.Trace(context.Background(), m, decoderInputs(c)...)
	require.NoError(t, err)
	require.Empty(t, gm.Graph.Specialisations(), "no size is fixed")
	optimised, err := fx.Trace(context.Background(), m, decoderInputs(c)...)
	require.NoError(t, err)
	_, err = optimised.Apply(context.Background(), fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	ids, err := models.SyntheticInput(models.InputSpec{Name: "input_ids", Type: "i64[2,12]", Rule: models.Integers{High: c.VocabSize}}, seed, nil)
	require.NoError(t, err)
	past := tensor.Zeros(0, c.NumLayers, 2, 2, c.NumHeads, 4)
	_, whole := m.GPT2.Forward(ids)
	for name, run := range map[string]func(in ...*tensor.Tensor) []*tensor.Tensor{
		"eager": func(in ...*tensor.Tensor) []*tensor.Tensor {
			logits, present := m.Forward(in[0], in[1])
			return []*tensor.Tensor{logits, present}
		},
		"interp": gm.Call, "plan": planned(t, gm), "optimised plan": planned(t, optimised),
	} {
		t.Run(name, func(t *testing.T) {
			for _, pieces := range [][]int{{}, {12}, {5}, {1, 6, 2}} {
				seen := 0
				for i, scores := range tokenByToken(run, ids, past, pieces...) {
					if i < len(pieces) {
						seen += pieces[i]
					} else {
						seen++
					}
					d := fxtest.Compare(array.Contiguous(scores.Array()), array.Contiguous(whole.Select(1, seen-1).Array()))
					require.True(t, d.Within(fxtest.Tolerance{MaxAbs: 1e-6, L2Rel: 1e-6}), "after %d tokens, pieces %v: %s", seen, pieces, d)
				}
				require.Equal(t, 12, seen)
			}
		})
	}
}

// TestDecoderEqualsTheReference runs GPT-2 small one token at a time and compares
// the scores of all positions with PyTorch's for the whole text.
func TestDecoderEqualsTheReference(t *testing.T) {
	ref := fxtest.LoadFixture(t, "gpt2")
	fxtest.Nightly(t)
	m := models.NewGPT2Decoder(models.GPT2Small)
	models.Synthetic(models.Lookup("gpt2"), m, seed)
	in, err := models.Lookup("gpt2").SyntheticInputs(seed)
	require.NoError(t, err)
	gm, err := fx.Trace(context.Background(), m, decoderInputs(models.GPT2Small)...)
	require.NoError(t, err)
	scores := tokenByToken(planned(t, gm), in[0], tensor.Zeros(0, 12, 2, 1, 12, 64))
	ref.CheckOutput(t, ref.Outputs[1], tensor.Stack(scores, 1).Array())
}

// TestGenerate continues a text in eager code and in a session with the tokens that GPT2 scores
// highest, which sees all of the text each time, until no position is left.
func TestGenerate(t *testing.T) {
	c := models.GPT2Config{VocabSize: 40, MaxPositions: 12, Width: 8, NumLayers: 2, NumHeads: 2, LayerNormEps: 1e-5}
	m := models.NewGPT2Decoder(c)
	models.Synthetic(&models.Model{}, m, seed)
	text := []int64{3, 30, 17}
	var want []int64
	for len(text) <= c.MaxPositions {
		_, logits := m.GPT2.Forward(tensor.FromSlice(text, 1, len(text)))
		next := int64(logits.Select(1, -1).Argmax(-1).Item())
		want, text = append(want, next), append(text, next)
	}
	s := lazy.New(lazy.Options{Synchronous: true})
	defer s.Close()
	prompt := tensor.FromSlice(text[:3], 1, 3)
	require.Equal(t, want, slices.Collect(m.Generate(prompt)))
	for range 2 {
		require.Equal(t, want, slices.Collect(m.Generate(s.In(prompt))))
	}
	require.Len(t, want, 10)
}
