package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/models/decode"
	"github.com/gofx-dev/gofx/models/sampling"
	"github.com/gofx-dev/gofx/models/tokens"
	"github.com/gofx-dev/gofx/tensor"
)

// text runs the program and returns what it writes.
func text(t *testing.T, o options) string {
	t.Helper()
	var out, report bytes.Buffer
	require.NoError(t, run(context.Background(), &out, &report, o))
	require.Regexp(t, `^loaded in \S+\n\d+ tokens of the prompt: [0-9.]+ tokens/s(; \d+ tokens after the first: [0-9.]+ tokens/s)?\n$`, report.String())
	return out.String()
}

// The text of the likeliest tokens is that of the network's own Generate.
func TestTextsAreThoseOfTheNetwork(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made-up.gguf")
	require.NoError(t, os.WriteFile(path, synthetic(), 0o644))
	f, err := gguf.Open(path)
	require.NoError(t, err)
	defer f.Close()
	v, err := tokens.Load(f)
	require.NoError(t, err)
	m, err := models.LoadLlama(f)
	require.NoError(t, err)
	prompt := v.Encode("it was the ")
	require.Less(t, len(prompt), len("it was the "), "words are joined")
	var want []int64
	for token := range m.Generate(tensor.FromSlice(prompt, 1, len(prompt))) {
		if want = append(want, token); len(want) == 24 {
			break
		}
	}
	for _, cache := range []string{"", "f32"} {
		got := text(t, options{model: path, prompt: "it was the ", n: 24, cache: cache})
		require.Equal(t, v.Decode(want)+"\n", got)
	}
}

func TestSeedsRepeatTexts(t *testing.T) {
	o := options{prompt: "a", n: 40, sampling: sampling.Config{Temperature: 1, TopP: 0.95, Seed: 3}}
	first := text(t, o)
	require.Equal(t, first, text(t, o))
	o.sampling.Seed = 4
	require.NotEqual(t, first, text(t, o))
	o.cache, o.int8 = "f16", true
	require.NotEmpty(t, text(t, o))
	o.cache = "int8"
	eight := text(t, o)
	require.NotEmpty(t, eight)
	require.Equal(t, eight, text(t, o))
}

// A text ends at a token that says so.
func TestTextsEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ends.gguf")
	src := synthetic()
	o := options{prompt: "a", n: 40}
	whole := text(t, o)
	f, err := gguf.Parse(src)
	require.NoError(t, err)
	v, err := tokens.Load(f)
	require.NoError(t, err)
	m, err := models.LoadLlama(f)
	require.NoError(t, err)
	var list []int64 // until a token comes that was not there before
	for token := range m.Generate(tensor.FromSlice(v.Encode("a"), 1, 1)) {
		if list = append(list, token); len(list) == 5 {
			break
		}
	}
	last := list[4]
	require.NotContains(t, list[:4], last)
	key := "tokenizer.ggml.eos_token_id\x04\x00\x00\x00"
	at := bytes.Index(src, []byte(key)) + len(key)
	src[at], src[at+1] = byte(last), byte(last>>8)
	require.NoError(t, os.WriteFile(path, src, 0o644))
	o.model = path
	require.Equal(t, v.Decode(list[:4])+"\n", text(t, o))
	require.True(t, strings.HasPrefix(whole, v.Decode(list[:4])))
}

func TestWrongFlags(t *testing.T) {
	bert := filepath.Join(t.TempDir(), "bert.gguf")
	require.NoError(t, os.WriteFile(bert, bytes.Replace(synthetic(), []byte("\x05\x00\x00\x00\x00\x00\x00\x00llama"), []byte("\x05\x00\x00\x00\x00\x00\x00\x00mamba"), 1), 0o644))
	long := strings.Repeat("the ", 600)
	for want, o := range map[string]options{
		"-n is 0, expected 1 at least": {prompt: "a"},
		"the text has no token":        {n: 1},
		`-cache is "f8"`:               {n: 1, prompt: "a", cache: "f8"},
		"TopP is 2":                    {n: 1, prompt: "a", sampling: sampling.Config{TopP: 2}},
		"no-such":                      {n: 1, prompt: "a", model: "no-such.gguf"},
		`architecture is "mamba", expected one of gemma, llama, qwen2`:  {n: 1, prompt: "a", model: bert},
		"tokens after 0, expected at most 512: a text has room for 512": {n: 1, prompt: long},
		"the text has 16 tokens and the network has room for no more":   {n: 40, prompt: "a", decode: decode.Options{Positions: 16}},
		"Positions is 513, expected 1 to 512":                           {n: 1, prompt: "a", decode: decode.Options{Positions: 513}},
	} {
		var out, report bytes.Buffer
		require.ErrorContains(t, run(context.Background(), &out, &report, o), want)
		require.NotContains(t, report.String(), "Inf")
	}
}

// A signal ends the text between two tokens; what there is was written.
func TestSignalsEndTexts(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var out stopping
	out.after, out.cancel = 5, cancel
	var report bytes.Buffer
	err := run(ctx, &out, &report, options{prompt: "a", n: 200})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 6, out.writes, "five tokens and the end of the line")
	require.Contains(t, report.String(), "4 tokens after the first")
}

// stopping cancels a context at some write.
type stopping struct {
	bytes.Buffer
	writes, after int
	cancel        func()
}

func (s *stopping) WriteString(text string) (int, error) { return s.Write([]byte(text)) }

func (s *stopping) Write(b []byte) (int, error) {
	if s.writes++; s.writes == s.after {
		s.cancel()
	}
	return s.Buffer.Write(b)
}
