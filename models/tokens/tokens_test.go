package tokens_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/models/tokens"
)

func load(t *testing.T, name string) *tokens.Vocabulary {
	t.Helper()
	f, err := gguf.Open("testdata/" + name + ".gguf")
	require.NoError(t, err)
	v, err := tokens.Load(f)
	require.NoError(t, err)
	require.NoError(t, f.Close()) // the vocabulary has its own memory
	return v
}

type reference struct {
	File  string
	Begin []int64
	Cases []struct {
		Text    string
		Tokens  []int64
		Decoded string
	}
}

func references(t *testing.T) (all []reference) {
	t.Helper()
	data, err := os.ReadFile("testdata/reference.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &all))
	require.Len(t, all, 6)
	return all
}

// Texts in several scripts have the tokens that Hugging Face's tokenizers make, and tokens their texts, also one by one.
func TestTokensEqualTheReference(t *testing.T) {
	for _, r := range references(t) {
		t.Run(r.File, func(t *testing.T) {
			v := load(t, r.File)
			require.Equal(t, r.Begin, append([]int64{}, v.Begin()...))
			require.Len(t, r.Cases, 30)
			longest := 0
			for _, c := range r.Cases {
				got := v.EncodeMarked(c.Text)
				require.Equal(t, c.Tokens, append([]int64{}, got...), "%q", c.Text)
				require.Equal(t, c.Decoded, v.Decode(got), "%q", c.Text)
				s, streamed := v.Stream(), ""
				for _, token := range got {
					part := s.Next(token)
					require.True(t, utf8.ValidString(part), "%q", part)
					streamed += part
				}
				streamed += s.Rest()
				if r.File == "scores" { // a text of its own begins without the space
					streamed = strings.TrimPrefix(streamed, " ")
				}
				require.Equal(t, c.Decoded, streamed)
				longest = max(longest, len(got))
			}
			require.Greater(t, longest, 15)
		})
	}
}

// What other people write never becomes a control token.
func TestTextsHaveNoControlTokens(t *testing.T) {
	for _, r := range references(t) {
		v := load(t, r.File)
		const text = "a<s>b</s><|end|>"
		got := v.Encode(text)
		require.NotContains(t, got, v.EncodeMarked("<s>")[len(v.EncodeMarked(""))])
		require.Equal(t, text, v.Decode(got))
		marked := v.EncodeMarked(text)
		require.Less(t, len(marked), len(got))
		require.Equal(t, "ab", strings.ReplaceAll(v.Decode(marked), " ", ""), "control tokens have no text")
		user := v.Encode("<|user|>") // a token of the text's own
		require.Len(t, user, 1)
		require.Equal(t, "<|user|>", v.Decode(user))
	}
}

func TestStops(t *testing.T) {
	v := load(t, "qwen2")
	var stops []string
	for id := range v.Len() {
		if v.Stops(int64(id)) {
			stops = append(stops, string(rune('a'+v.Len()-id)))
		}
	}
	require.Equal(t, []string{"e"}, stops, "</s>, the fourth from the end")
	require.Empty(t, v.Begin())
}

// Bytes that are no text survive over bytes, and where tokens of bytes are.
func TestBytesThatAreNoText(t *testing.T) {
	for _, name := range []string{"llama-bpe", "scores-bare"} {
		v := load(t, name)
		for _, text := range []string{"\xff\xfe", "ok \xe4\xbd", "\xe4", "a\x80b \xc3("} {
			require.Equal(t, text, v.Decode(v.Encode(text)), name)
		}
	}
	s := load(t, "gpt-2").Stream()
	require.Equal(t, "", s.Next(load(t, "gpt-2").Encode("\xe4")[0]))
	require.Equal(t, "\xe4", s.Rest())
	require.Equal(t, "", s.Next(-1)+s.Next(1<<40))
}

// A piece that the file calls unused is taken apart again.
func TestUnusedPieces(t *testing.T) {
	src, err := os.ReadFile("testdata/scores-bare.gguf")
	require.NoError(t, err)
	v := load(t, "scores-bare")
	ids := v.Encode("aaaaaaaa")
	require.Less(t, len(ids), 8)
	f, err := gguf.Parse(src)
	require.NoError(t, err)
	kinds, _ := f.Value("tokenizer.ggml.token_type")
	list := kinds.([]int32)
	for _, id := range ids {
		list[id] = 5
	}
	v, err = tokens.Load(with(t, src, list))
	require.NoError(t, err)
	again := v.Encode("aaaaaaaa")
	require.Equal(t, "aaaaaaaa", v.Decode(again))
	for _, id := range ids {
		require.NotContains(t, again, id)
	}
}

// with returns the file with other kinds of tokens.
func with(t *testing.T, src []byte, kinds []int32) *gguf.File {
	t.Helper()
	out := slices.Clone(src)
	at := strings.Index(string(src), "tokenizer.ggml.token_type")
	require.Positive(t, at)
	at += len("tokenizer.ggml.token_type") + 4 + 4 + 8
	for i, k := range kinds {
		out[at+4*i] = byte(k)
	}
	f, err := gguf.Parse(out)
	require.NoError(t, err)
	return f
}

func TestLoadRefuses(t *testing.T) {
	for _, c := range []struct{ file, old, new, want string }{
		{"gpt-2", "\x04\x00\x00\x00\x00\x00\x00\x00gpt2", "\x04\x00\x00\x00\x00\x00\x00\x00bert", `key tokenizer.ggml.model is "bert", expected gpt2 or llama`},
		{"gpt-2", "gpt-2", "gpt_3", `key tokenizer.ggml.pre is "gpt_3", expected one of deepseek-r1-qwen, gpt-2, llama-bpe, qwen2, smollm`},
		{"gpt-2", "ggml.tokens", "ggml.takens", "no key tokenizer.ggml.tokens"},
		{"gpt-2", "ggml.merges", "ggml.marges", "no key tokenizer.ggml.merges"},
		{"gpt-2", "ggml.token_type", "ggml.taken_type", "no key tokenizer.ggml.token_type"},
		{"gpt-2", "\x01\x00\x00\x00\x00\x00\x00\x00!", "\x01\x00\x00\x00\x00\x00\x00\x00\x01", "no token is the byte 33"},
		{"gpt-2", "\x01\x00\x00\x00\x00\x00\x00\x00!", "\x01\x00\x00\x00\x00\x00\x00\x00\"", "occurs twice"},
		{"gpt-2", "Ġ t", "Ġ\xc4t", "makes no token"},
		{"gpt-2", "bos_token_id\x04\x00\x00\x00", "bos_token_id\x05\x00\x00\x00", "key tokenizer.ggml.bos_token_id is no token"},
		{"gpt-2", "eos_token_id\x04\x00\x00\x00\xe1\x01", "eos_token_id\x04\x00\x00\x00\xe1\x11", "expected a number below 485"},
		{"scores", "<0x0A>", "<0xGA>", `token 14 of a byte is "<0xGA>"`},
		{"scores", "ggml.scores", "ggml.scares", "no key tokenizer.ggml.scores"},
		{"scores", "ggml.scores\x09\x00\x00\x00\x06", "ggml.scores\x09\x00\x00\x00\x05", "tokenizer.ggml.scores is no list of its type"},
		{"scores", "add_space_prefix\x07\x00\x00\x00\x01", "add_space_prefiy\x07\x00\x00\x00\x01", ""},
	} {
		src, err := os.ReadFile("testdata/" + c.file + ".gguf")
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(src), c.old), "%q", c.old)
		require.Len(t, c.new, len(c.old))
		f, err := gguf.Parse([]byte(strings.Replace(string(src), c.old, c.new, 1)))
		require.NoError(t, err)
		_, err = tokens.Load(f)
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.want, "%q", c.new)
		require.ErrorIs(t, err, tokens.BadVocabulary)
	}
	info, ok := diag.Lookup(tokens.BadVocabulary)
	require.True(t, ok)
	require.Equal(t, `the key tokenizer.ggml.model = "bert"`, info.Example) // the first of these
}

// Time is n log n in the length of a text that is one word.
func BenchmarkEncode(b *testing.B) {
	f, err := gguf.Open("testdata/scores.gguf")
	require.NoError(b, err)
	v, err := tokens.Load(f)
	require.NoError(b, err)
	text := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		v.Encode(text)
	}
}
