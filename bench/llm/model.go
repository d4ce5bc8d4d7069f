package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/gguf"
)

// size is the shape of a decoder; its output is its table of words.
type size struct{ width, inner, layers, heads, kv, head, words int }

var sizes = map[string]size{
	"tiny": {256, 512, 2, 4, 2, 64, 1000},
	"0.5b": {1024, 4096, 24, 16, 4, 64, 151936},
	"1.5b": {1536, 8960, 28, 12, 2, 128, 151936},
}

// kinds are the formats that are written, with the deviation of the numbers in their blocks for a
// scale of 1. A minimum of Q4_K is 7.5 of the scales, so that weights have a mean of 0.
var kinds = map[string]struct {
	kind      gguf.Kind
	deviation float64
}{"F16": {gguf.F16, 1}, "Q8_0": {gguf.Q8, 74}, "Q4_0": {gguf.Q4, 4.6}, "Q4_K": {gguf.Q4K, 253}}

// deviation is that of weights, and damped what it is divided by where a matrix writes what is
// added to x: else each layer would enlarge the differences of the one before.
const deviation, damped = 0.03, 32

// writeModel writes a decoder by formula, unless it is there, and returns the name of the file.
func writeModel(dir, name, format string) (file string, err error) {
	s, known := sizes[name]
	k, kept := kinds[format]
	if !known || !kept {
		return "", fmt.Errorf("there is no size %q or no format %q", name, format)
	}
	file = fileOf(dir, name, format)
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	out, err := os.Create(file)
	if err != nil {
		return "", err
	}
	if err := gguf.Write(out, s.keys(), s.tensors(k.kind, deviation/k.deviation)); err != nil {
		_ = out.Close()
		_ = os.Remove(file) // half a file must not be found again
		return "", err
	}
	return file, out.Close()
}

func (s size) keys() []gguf.Key {
	of := func(name string, v any) gguf.Key { return gguf.Key{Name: "llama." + name, Value: v} }
	return []gguf.Key{
		{Name: "general.architecture", Value: "llama"}, {Name: "tokenizer.ggml.model", Value: "no_vocab"},
		of("vocab_size", s.words), of("context_length", 2048), of("embedding_length", s.width), of("block_count", s.layers),
		of("feed_forward_length", s.inner), of("attention.head_count", s.heads), of("attention.head_count_kv", s.kv),
		of("attention.layer_norm_rms_epsilon", 1e-5), of("rope.dimension_count", s.head), of("rope.freq_base", 10000.0),
	}
}

func (s size) tensors(kind gguf.Kind, scale float64) (list []*gguf.Tensor) {
	norm := func(name string) {
		list = append(list, &gguf.Tensor{Name: name, Kind: gguf.F32, Vector: true, Rows: 1, Cols: s.width, At: func(_, _ int) float32 { return 1 }})
	}
	matrix := func(name string, rows, cols int) {
		scale := scale
		if strings.Contains(name, "attn_output") || strings.Contains(name, "ffn_down") {
			scale /= damped
		}
		r := rand.New(rand.NewPCG(uint64(len(list)), 1))
		list = append(list, &gguf.Tensor{Name: name, Kind: kind, Rows: rows, Cols: cols, Fill: func(row []byte) { fill(row, kind, scale, r) }})
	}
	matrix("token_embd.weight", s.words, s.width)
	norm("output_norm.weight")
	for i := range s.layers {
		blk := fmt.Sprintf("blk.%d.", i)
		norm(blk + "attn_norm.weight")
		matrix(blk+"attn_q.weight", s.heads*s.head, s.width)
		matrix(blk+"attn_k.weight", s.kv*s.head, s.width)
		matrix(blk+"attn_v.weight", s.kv*s.head, s.width)
		matrix(blk+"attn_output.weight", s.width, s.heads*s.head)
		norm(blk + "ffn_norm.weight")
		matrix(blk+"ffn_gate.weight", s.inner, s.width)
		matrix(blk+"ffn_up.weight", s.inner, s.width)
		matrix(blk+"ffn_down.weight", s.width, s.inner)
	}
	return list
}

// fill writes a row of random bits, whose floats are scales.
func fill(row []byte, kind gguf.Kind, scale float64, r *rand.Rand) {
	f := kind.Format()
	for i := 0; i+8 <= len(row); i += 8 {
		binary.LittleEndian.PutUint64(row[i:], r.Uint64())
	}
	for ; len(row) > 0; row = row[f.Bytes:] {
		for i, at := range f.Scales {
			s := scale * []float64{1, 7.5}[i]
			if kind == gguf.F16 {
				s *= r.NormFloat64()
			}
			binary.LittleEndian.PutUint16(row[at:], uint16(array.HalfFromFloat64(s)))
		}
	}
}
