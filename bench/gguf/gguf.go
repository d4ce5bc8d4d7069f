// Package gguf writes models for llama.cpp: keys that describe a model, then its tensors, in
// f32, by blocks of 32 in fewer bits, or as they are given.
//
// Ref: ggml, GGUF specification, version 3.
package gguf

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/blocks"
)

// Kind is how a tensor's elements are stored.
type Kind uint32

// The kinds, by the numbers of the format: a scale in half precision precedes 32 numbers of 4
// or 8 bits.
const (
	F32 Kind = 0
	F16 Kind = 1
	Q4  Kind = 2
	Q8  Kind = 8
	Q4K Kind = 12
)

// Format is the layout of elements that are not f32.
func (k Kind) Format() *blocks.Format {
	return blocks.Lookup(map[Kind]string{F16: "F16", Q4: "Q4_0", Q8: "Q8_0", Q4K: "Q4_K"}[k])
}

// Block is how many elements of a row share a scale.
const Block = 32

// Types of a key's value, and where data begin.
const (
	typeUint32, typeFloat32, typeString = 4, 6, 8
	align                               = 32
	magic, version                      = 0x46554747, 3
)

// Key is a fact of the model. Its value is an int, a float64 or a string.
type Key struct {
	Name  string
	Value any
}

// Tensor is a vector, which has one row and Vector, or a matrix by rows.
type Tensor struct {
	Name       string
	Kind       Kind
	Vector     bool
	Rows, Cols int
	At         func(row, col int) float32
	// Fill writes the bytes of a row, in the place of At.
	Fill func(row []byte)
}

// size is the bytes of the data.
func (t *Tensor) size() int {
	n := t.Rows * t.Cols
	if f := t.Kind.Format(); f != nil {
		return n / f.Elements * f.Bytes
	}
	return 4 * n
}

// Write writes a model.
func Write(w io.Writer, keys []Key, tensors []*Tensor) error {
	for _, t := range tensors {
		if f := t.Kind.Format(); f != nil && t.Cols%f.Elements != 0 {
			return fmt.Errorf("gguf: %s has %d columns, want a multiple of %d where numbers have few bits", t.Name, t.Cols, f.Elements)
		}
	}
	head, err := header(keys, tensors)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<20)
	put(b, head, len(head))
	for _, t := range tensors {
		t.write(b)
		put(b, nil, t.size())
	}
	return b.Flush()
}

// put writes bytes, and zeros up to where the next data begin; size counts earlier bytes,
// too. Errors are those of the buffer's Flush.
func put(b *bufio.Writer, data []byte, size int) {
	_, _ = b.Write(data)
	_, _ = b.Write(make([]byte, aligned(size)-size))
}

func aligned(n int) int { return (n + align - 1) / align * align }

// header describes the model and says where its tensors are.
func header(keys []Key, tensors []*Tensor) (h []byte, err error) {
	le := binary.LittleEndian
	text := func(s string) { h = append(le.AppendUint64(h, uint64(len(s))), s...) }
	h = le.AppendUint32(h, magic)
	h = le.AppendUint32(h, version)
	h = le.AppendUint64(h, uint64(len(tensors)))
	h = le.AppendUint64(h, uint64(len(keys)))
	for _, k := range keys {
		text(k.Name)
		switch v := k.Value.(type) {
		case int:
			h = le.AppendUint32(le.AppendUint32(h, typeUint32), uint32(v))
		case float64:
			h = le.AppendUint32(le.AppendUint32(h, typeFloat32), math.Float32bits(float32(v)))
		case string:
			h = le.AppendUint32(h, typeString)
			text(v)
		default:
			return nil, fmt.Errorf("gguf: %s is a %T, want an int, a float64 or a string", k.Name, k.Value)
		}
	}
	offset := 0
	for _, t := range tensors {
		text(t.Name)
		dims := []int{t.Cols, t.Rows} // the fastest first
		if t.Vector {
			dims = dims[:1]
		}
		h = le.AppendUint32(h, uint32(len(dims)))
		for _, d := range dims {
			h = le.AppendUint64(h, uint64(d))
		}
		h = le.AppendUint32(h, uint32(t.Kind))
		h = le.AppendUint64(h, uint64(offset))
		offset += aligned(t.size())
	}
	return h, nil
}

// write writes the data.
func (t *Tensor) write(b *bufio.Writer) {
	block := make([]float32, Block)
	var out []byte
	for row := range t.Rows {
		if t.Fill != nil {
			out = slices.Grow(out[:0], t.size()/t.Rows)[:t.size()/t.Rows]
			t.Fill(out)
			_, _ = b.Write(out)
			continue
		}
		if t.Kind == F32 {
			for col := range t.Cols {
				out = binary.LittleEndian.AppendUint32(out[:0], math.Float32bits(t.At(row, col)))
				_, _ = b.Write(out)
			}
			continue
		}
		for col := 0; col < t.Cols; col += Block {
			for i := range block {
				block[i] = t.At(row, col+i)
			}
			_, _ = b.Write(narrow(block, t.Kind))
		}
	}
}

// narrow is a block in 8 bits, symmetric, or in 4 bits from -8 to 7, whose scale puts the
// largest magnitude on the side that has one number more.
func narrow(block []float32, kind Kind) []byte {
	most := 0.0
	for _, v := range block {
		if math.Abs(float64(v)) > math.Abs(most) {
			most = float64(v)
		}
	}
	step := math.Abs(most) / 127
	if kind == Q4 {
		step = most / -8
	}
	inverse := 0.0
	if step != 0 {
		inverse = 1 / step
	}
	out := binary.LittleEndian.AppendUint16(nil, uint16(array.HalfFromFloat64(step)))
	if kind == Q8 {
		for _, v := range block {
			out = append(out, byte(int8(math.RoundToEven(float64(v)*inverse))))
		}
		return out
	}
	nibble := func(v float32) byte { return byte(min(15, int(float64(v)*inverse+8.5))) }
	for i := range Block / 2 {
		out = append(out, nibble(block[i])|nibble(block[i+Block/2])<<4)
	}
	return out
}
