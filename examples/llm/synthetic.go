package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/gofx-dev/gofx/models"
)

// The sizes of the network that is made up.
const (
	width, inner   = 128, 256
	layers         = 4
	heads, kvHeads = 4, 2
	positions      = 512
)

// frequent are words of its vocabulary, next to the bytes.
const frequent = "the of and to in a is that it for on with as was be at by this from or one had not but what all were we when there can an your which their said if do will each about how up out them then she many some so these would other into has more her two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after words called just where most know"

// writer writes the parts of a GGUF file.
type writer struct{ b []byte }

func (w *writer) text(s string) {
	w.b = binary.LittleEndian.AppendUint64(w.b, uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) u32(n uint32) { w.b = binary.LittleEndian.AppendUint32(w.b, n) }
func (w *writer) u64(n uint64) { w.b = binary.LittleEndian.AppendUint64(w.b, n) }

func (w *writer) pair(key string, value any) {
	w.text(key)
	switch v := value.(type) {
	case uint32:
		w.u32(4)
		w.u32(v)
	case float32:
		w.u32(6)
		w.u32(math.Float32bits(v))
	case string:
		w.u32(8)
		w.text(v)
	case []string:
		w.u32(9)
		w.u32(8)
		w.u64(uint64(len(v)))
		for _, s := range v {
			w.text(s)
		}
	case []int32:
		w.u32(9)
		w.u32(5)
		w.u64(uint64(len(v)))
		for _, n := range v {
			w.u32(uint32(n))
		}
	}
}

// vocabulary returns tokens of bytes, of the beginnings of frequent words, and of the end, and how
// neighbours are joined.
func vocabulary() (list []string, kinds []int32, merges []string) {
	known := map[string]bool{}
	add := func(token string, kind int32) {
		if !known[token] {
			known[token] = true
			list, kinds = append(list, token), append(kinds, kind)
		}
	}
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if b < '!' || b > '~' && b < 0xa1 || b == 0xad { // as byte-level vocabularies write them
			r = next
			next++
		}
		add(string(r), 1)
	}
	for _, word := range strings.Fields(frequent) {
		token := "Ġ" // a space
		for _, c := range word {
			if joined := token + string(c); !known[joined] {
				merges = append(merges, token+" "+string(c))
				add(joined, 1)
			}
			token += string(c)
		}
	}
	add("<|end|>", 3)
	return list, kinds, merges
}

// synthetic returns a GGUF file of a small Llama whose weights follow the formula of
// models.NewStream: its text says nothing.
func synthetic() []byte {
	list, kinds, merges := vocabulary()
	pairs := []struct {
		key   string
		value any
	}{
		{"general.architecture", "llama"},
		{"llama.context_length", uint32(positions)}, {"llama.embedding_length", uint32(width)}, {"llama.block_count", uint32(layers)},
		{"llama.feed_forward_length", uint32(inner)}, {"llama.attention.head_count", uint32(heads)}, {"llama.attention.head_count_kv", uint32(kvHeads)},
		{"llama.attention.layer_norm_rms_epsilon", float32(1e-5)},
		{"tokenizer.ggml.model", "gpt2"}, {"tokenizer.ggml.pre", "gpt-2"}, {"tokenizer.ggml.tokens", list}, {"tokenizer.ggml.token_type", kinds},
		{"tokenizer.ggml.merges", merges}, {"tokenizer.ggml.eos_token_id", uint32(len(list) - 1)},
	}
	shapes := [][2]any{{"token_embd.weight", []int{len(list), width}}, {"output.weight", []int{len(list), width}}, {"output_norm.weight", []int{width}}}
	for i := range layers {
		for _, s := range [][2]any{
			{"attn_norm", []int{width}}, {"attn_q", []int{width, width}}, {"attn_k", []int{width * kvHeads / heads, width}}, {"attn_v", []int{width * kvHeads / heads, width}},
			{"attn_output", []int{width, width}}, {"ffn_norm", []int{width}}, {"ffn_gate", []int{inner, width}}, {"ffn_up", []int{inner, width}}, {"ffn_down", []int{width, inner}},
		} {
			shapes = append(shapes, [2]any{fmt.Sprintf("blk.%d.%s.weight", i, s[0]), s[1]})
		}
	}
	w := &writer{b: []byte("GGUF")}
	w.u32(3)
	w.u64(uint64(len(shapes)))
	w.u64(uint64(len(pairs)))
	for _, p := range pairs {
		w.pair(p.key, p.value)
	}
	var data writer
	for _, s := range shapes {
		name, shape := s[0].(string), s[1].([]int)
		w.text(name)
		w.u32(uint32(len(shape)))
		n := 1
		for i := range shape {
			w.u64(uint64(shape[len(shape)-1-i]))
			n *= shape[i]
		}
		w.u32(0) // f32
		w.u64(uint64(len(data.b)))
		data.fill(name, shape[len(shape)-1], n)
	}
	w.b = append(w.b, make([]byte, -len(w.b)&31)...)
	return append(w.b, data.b...)
}

// fill appends n weights, whose products with numbers near 1 are near 1, and pads them to 32 bytes.
func (w *writer) fill(name string, columns, n int) {
	s := models.NewStream("llm", name)
	scale := 3 / math.Sqrt(float64(columns))
	for i := range n {
		x := 1.0
		if !strings.Contains(name, "norm") {
			x = scale * (2*s.At(i) - 1)
		}
		w.u32(math.Float32bits(float32(x)))
	}
	w.b = append(w.b, make([]byte, -len(w.b)&31)...)
}
