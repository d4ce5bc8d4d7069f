package main

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// small has the structure of GPT-2 and a text of 24 positions.
var small = models.GPT2Config{VocabSize: 101, MaxPositions: 24, Width: 32, NumLayers: 3, NumHeads: 4, LayerNormEps: 1e-5}

var ctx = context.Background()

// decoder returns a small model with random weights, some of them large enough for
// texts that do not repeat themselves.
func decoder() *models.GPT2Decoder {
	m := models.NewGPT2Decoder(small)
	models.Synthetic(&models.Model{Multipliers: []models.Multiplier{{Name: regexp.MustCompile(`^wpe|^h`), Factor: 5}}}, m, "example")
	return m
}

// take returns the first n tokens.
func take(t *testing.T, n int, tokens iter.Seq2[int64, error]) (list []int64) {
	t.Helper()
	for token, err := range tokens {
		require.NoError(t, err)
		if list = append(list, token); len(list) == n {
			break
		}
	}
	return list
}

// greedy continues a prompt with models.GPT2, which knows of no cache, eagerly.
func greedy(m *models.GPT2, prompt []int64, n int) []int64 {
	all := slices.Clone(prompt)
	for range n {
		_, logits := m.Forward(tensor.FromSlice(all, 1, len(all)))
		all = append(all, argmax(tensor.Data[float32](logits.Select(1, -1))))
	}
	return all[len(prompt):]
}

func TestTheCacheChangesNoToken(t *testing.T) {
	m := decoder()
	g, err := NewGenerator(ctx, m, small, "f32", 2)
	require.NoError(t, err)
	for _, prompt := range [][]int64{{7}, {3, 1, 4, 1, 5}, {100, 0, 50, 25, 75, 12, 60, 33, 99}} {
		n := small.MaxPositions - len(prompt)
		want := greedy(m.GPT2, prompt, n)
		require.Greater(t, len(slices.Compact(slices.Sorted(slices.Values(want)))), 4, "the text repeats itself: %v", want)
		require.Equal(t, want, take(t, n, g.Tokens(ctx, prompt)))
		require.Equal(t, want, take(t, n, g.Recomputed(ctx, prompt)))
	}
}

// TestTextsAreIndependent holds that many texts can be continued at once.
func TestTextsAreIndependent(t *testing.T) {
	m := decoder()
	g, err := NewGenerator(ctx, m, small, "f32", 1)
	require.NoError(t, err)
	got := make([][]int64, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			for token, err := range g.Tokens(ctx, []int64{int64(i), 9}) {
				if got[i] = append(got[i], token); err != nil || len(got[i]) == 10 {
					return
				}
			}
		})
	}
	wg.Wait()
	for i := range got {
		require.Equal(t, greedy(m.GPT2, []int64{int64(i), 9}, 10), got[i])
	}
}

func TestTextsEndWithThePositions(t *testing.T) {
	g, err := NewGenerator(ctx, decoder(), small, "f32", 1)
	require.NoError(t, err)
	prompt := make([]int64, 20)
	require.Len(t, take(t, -1, g.Tokens(ctx, prompt)), 5, "the last position has a next token too")
	require.Len(t, take(t, -1, g.Recomputed(ctx, prompt)), 5)
	require.Empty(t, take(t, -1, g.Tokens(ctx, make([]int64, 25))))
}

func TestWhatCannotBeContinued(t *testing.T) {
	g, err := NewGenerator(ctx, decoder(), small, "f32", 1)
	require.NoError(t, err)
	for want, prompt := range map[string][]int64{"no tokens": nil, "FX": {1, 101}} {
		for _, tokens := range []iter.Seq2[int64, error]{g.Tokens(ctx, prompt), g.Recomputed(ctx, prompt)} {
			next, stop := iter.Pull2(tokens)
			_, err, ok := next()
			require.True(t, ok)
			require.ErrorContains(t, err, want)
			_, _, ok = next()
			require.False(t, ok, "nothing follows an error")
			stop()
		}
	}
}

func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "small.safetensors")
	m := decoder()
	require.NoError(t, nn.SaveFile(path, m, nil))
	want := greedy(m.GPT2, []int64{3, 1, 4}, 6)
	for _, cache := range []bool{true, false} {
		var out bytes.Buffer
		require.NoError(t, run(ctx, &out, small, options{weights: path, prompt: "3, 1,4", store: "f32", tokens: 6, cache: cache}))
		tokens, timing, _ := strings.Cut(out.String(), "\n")
		got, err := numbers(strings.ReplaceAll(strings.TrimSpace(tokens), " ", ","))
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Regexp(t, regexp.MustCompile(`^first token after [0-9.]+.?s, then [0-9.]+ tokens a second\n$`), timing)
	}
	for want, o := range map[string]options{
		"-prompt":    {prompt: "one", tokens: 1},
		"-tokens":    {prompt: "1", store: "f32"},
		"-store":     {prompt: "1", tokens: 1, store: "int2"},
		"no such":    {prompt: "1", tokens: 1, weights: filepath.Join(t.TempDir(), "none")},
		"wte.weight": {prompt: "1", tokens: 1, weights: path + "x"},
	} {
		if want == "wte.weight" { // weights of other sizes
			c := small
			c.VocabSize = 7
			require.NoError(t, nn.SaveFile(o.weights, models.NewGPT2Decoder(c), nil))
		}
		require.ErrorContains(t, run(ctx, &bytes.Buffer{}, small, o), want)
	}
}

// TestStores continues a text with weights in fewer bits: most tokens are those of f32 with
// 16 and 8, more than by chance with 4, which are few for a network this small; and every
// store agrees with its own text.
func TestStores(t *testing.T) {
	m, prompt := decoder(), []int64{3, 1, 4, 1, 5}
	text := append(slices.Clone(prompt), greedy(m.GPT2, prompt, 16)...)
	for store, least := range map[string]int{"f32": 16, "bf16": 12, "int8": 12, "int4": 2} {
		g, err := NewGenerator(ctx, m, small, store, 2)
		require.NoError(t, err)
		n, err := g.Agreeing(ctx, text, len(prompt))
		require.NoError(t, err)
		require.GreaterOrEqual(t, n, least, store)
		own := append(slices.Clone(prompt), take(t, 16, g.Tokens(ctx, prompt))...)
		all, err := g.Agreeing(ctx, own, len(prompt))
		require.NoError(t, err)
		require.Equal(t, 16, all, store)
		var out bytes.Buffer
		require.NoError(t, agreement(ctx, &out, m, g, options{store: store, tokens: 16}, prompt))
		require.Equal(t, fmt.Sprintf("%d of 16 tokens of f32's text are the likeliest ones with weights in %s\n", n, store), out.String())
	}
}
