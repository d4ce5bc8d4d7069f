package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/peers"
	"github.com/gofx-dev/gofx/internal/oracle"
)

// Element types of tensors in a GGUF file, and what its format calls kinds of values.
const (
	ggufF32, ggufQ4, ggufQ8     = 0, 2, 8
	ggufUint32, ggufFloat       = 4, 6
	ggufString                  = 8
	ggufBlock, ggufAlign        = 32, 32
	ggufMagic, ggufVersion      = 0x46554747, 3
	ggufVocabulary, ggufContext = "gpt2.vocab_size", "gpt2.context_length"
)

// ggufTensor is a matrix of the file, or a vector with one row.
type ggufTensor struct {
	name       string
	dims       []uint64 // the fastest first
	kind       uint32
	rows, cols int
	at         func(row, col int) float32
}

// size is the bytes of the data.
func (t *ggufTensor) size() int {
	n := t.rows * t.cols
	switch t.kind {
	case ggufQ4:
		return n / ggufBlock * (2 + ggufBlock/2)
	case ggufQ8:
		return n / ggufBlock * (2 + ggufBlock)
	}
	return 4 * n
}

// decoder writes a decoder as llama.cpp reads it, its matrices in the bits of the case, and
// returns the tokens before.
func (w *network) decoder(file string, c *Case) (*peers.Tensor, error) {
	list, err := w.ggufTensors(c)
	if err != nil {
		return nil, err
	}
	out, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	b := bufio.NewWriterSize(out, 1<<20)
	writeGGUF(b, c, list)
	if err := b.Flush(); err != nil {
		out.Close()
		return nil, err
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	before := file + ".before"
	if err := os.WriteFile(before, oracle.Bytes(w.before), 0o600); err != nil {
		return nil, err
	}
	return &peers.Tensor{Shape: w.before.Shape(), DType: "i64", File: before}, nil
}

// ggufTensors lists the tensors by llama.cpp's names. Its products take rows of outputs, as
// our tables are and the transposed weights of layers.
func (w *network) ggufTensors(c *Case) (list []*ggufTensor, err error) {
	wide := uint32(ggufF32)
	switch c.Bits {
	case 4:
		wide = ggufQ4
	case 8:
		wide = ggufQ8
	}
	add := func(name, path string, kind uint32, transposed bool) {
		a := w.traced.Param(path).Value
		if a == nil {
			err = fmt.Errorf("gguf: the network has no %s", path)
			return
		}
		v := array.Data[float32](array.Contiguous(a))
		t := &ggufTensor{name: name, kind: kind, rows: 1, cols: a.Len(), dims: []uint64{uint64(a.Len())}}
		t.at = func(_, col int) float32 { return v[col] }
		if a.Rank() == 2 {
			t.rows, t.cols = a.Dim(0), a.Dim(1)
			width := t.cols
			t.at = func(row, col int) float32 { return v[row*width+col] }
			if transposed {
				t.rows, t.cols = t.cols, t.rows
				t.at = func(row, col int) float32 { return v[col*width+row] }
			}
			t.dims = []uint64{uint64(t.cols), uint64(t.rows)}
		}
		list = append(list, t)
	}
	add("token_embd.weight", "wte.weight", wide, false)
	add("position_embd.weight", "wpe.weight", ggufF32, false)
	add("output_norm.weight", "ln_f.weight", ggufF32, false)
	add("output_norm.bias", "ln_f.bias", ggufF32, false)
	for i := range c.Decoder.NumLayers {
		ours, theirs := fmt.Sprintf("h.%d.", i), fmt.Sprintf("blk.%d.", i)
		for _, n := range [][2]string{{"attn_norm", "ln_1"}, {"ffn_norm", "ln_2"}} {
			add(theirs+n[0]+".weight", ours+n[1]+".weight", ggufF32, false)
			add(theirs+n[0]+".bias", ours+n[1]+".bias", ggufF32, false)
		}
		for _, n := range [][2]string{{"attn_qkv", "attn.c_attn"}, {"attn_output", "attn.c_proj"}, {"ffn_up", "mlp.c_fc"}, {"ffn_down", "mlp.c_proj"}} {
			add(theirs+n[0]+".weight", ours+n[1]+".weight", wide, true)
			add(theirs+n[0]+".bias", ours+n[1]+".bias", ggufF32, false)
		}
	}
	return list, err
}

// writeGGUF writes the header, which says what the model is, and the data. Errors are those of
// the buffer's Flush.
func writeGGUF(b *bufio.Writer, c *Case, list []*ggufTensor) {
	number := func(v any) { _ = binary.Write(b, binary.LittleEndian, v) }
	text := func(s string) { number(uint64(len(s))); _, _ = io.WriteString(b, s) }
	d := c.Decoder
	numbers := []struct {
		key   string
		value int
	}{{ggufVocabulary, d.VocabSize}, {ggufContext, d.MaxPositions}, {"gpt2.embedding_length", d.Width},
		{"gpt2.feed_forward_length", 4 * d.Width}, {"gpt2.block_count", d.NumLayers}, {"gpt2.attention.head_count", d.NumHeads}}
	texts := [][2]string{{"general.architecture", "gpt2"}, {"tokenizer.ggml.model", "no_vocab"}}
	number(uint32(ggufMagic))
	number(uint32(ggufVersion))
	number(uint64(len(list)))
	number(uint64(len(numbers) + len(texts) + 1))
	size := 4 + 4 + 8 + 8
	for _, t := range texts {
		text(t[0])
		number(uint32(ggufString))
		text(t[1])
		size += 8 + len(t[0]) + 4 + 8 + len(t[1])
	}
	for _, n := range numbers {
		text(n.key)
		number(uint32(ggufUint32))
		number(uint32(n.value))
		size += 8 + len(n.key) + 8
	}
	const epsilon = "gpt2.attention.layer_norm_epsilon"
	text(epsilon)
	number(uint32(ggufFloat))
	number(float32(d.LayerNormEps))
	size += 8 + len(epsilon) + 8
	offset := 0
	for _, t := range list {
		text(t.name)
		number(uint32(len(t.dims)))
		number(t.dims)
		number(t.kind)
		number(uint64(offset))
		size += 8 + len(t.name) + 4 + 8*len(t.dims) + 4 + 8
		offset += aligned(t.size())
	}
	zeros(b, aligned(size)-size)
	for _, t := range list {
		t.write(b)
		zeros(b, aligned(t.size())-t.size())
	}
}

func aligned(n int) int { return (n + ggufAlign - 1) / ggufAlign * ggufAlign }

func zeros(b *bufio.Writer, n int) { _, _ = b.Write(make([]byte, n)) }

// write writes the data, by blocks of 32 where they have few bits: a scale in half precision,
// then the numbers.
func (t *ggufTensor) write(b *bufio.Writer) {
	block := make([]float32, ggufBlock)
	for row := range t.rows {
		if t.kind == ggufF32 {
			for col := range t.cols {
				_, _ = b.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(t.at(row, col))))
			}
			continue
		}
		for col := 0; col < t.cols; col += ggufBlock {
			for i := range block {
				block[i] = t.at(row, col+i)
			}
			_, _ = b.Write(narrowBlock(block, t.kind))
		}
	}
}

// narrowBlock is a block in 8 bits, symmetric, or in 4 bits from -8 to 7, whose scale keeps the
// largest magnitude on the side that has one number more.
func narrowBlock(block []float32, kind uint32) []byte {
	most := float32(0)
	for _, v := range block {
		if abs32(v) > abs32(most) {
			most = v
		}
	}
	step := abs32(most) / 127
	if kind == ggufQ4 {
		step = most / -8
	}
	scale := array.HalfFromFloat32(step)
	inverse := float32(0)
	if step != 0 {
		inverse = 1 / step
	}
	out := binary.LittleEndian.AppendUint16(nil, uint16(scale))
	if kind == ggufQ8 {
		for _, v := range block {
			out = append(out, byte(int8(math.RoundToEven(float64(v*inverse)))))
		}
		return out
	}
	nibble := func(v float32) byte { return byte(min(15, int(v*inverse+8.5))) }
	for i := range ggufBlock / 2 {
		out = append(out, nibble(block[i])|nibble(block[i+ggufBlock/2])<<4)
	}
	return out
}

func abs32(v float32) float32 { return float32(math.Abs(float64(v))) }
