package certificate

import (
	"bytes"
	"compress/flate"
	"io"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
)

// Inputs of at least leastPacked bytes are compressed where that saves a quarter: pictures
// have few values for each of their elements.
const leastPacked = 1 << 16

// packed is the bytes of an array, compressed; nil where that is not worth it.
func packed(a *array.Array) *array.Array {
	data := array.Bytes(array.Contiguous(a))
	if len(data) < leastPacked {
		return nil
	}
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.DefaultCompression)
	if err != nil {
		return nil
	}
	if _, err := w.Write(planes(data, a.DType().Size())); err != nil || w.Close() != nil {
		return nil
	}
	if b.Len() > len(data)/4*3 {
		return nil
	}
	return array.FromSlice(b.Bytes())
}

// planes has the first bytes of all elements, then the second ones, and so on: those of
// numbers of like size are alike.
func planes(data []byte, size int) []byte {
	size = max(size, 1)
	out := make([]byte, 0, len(data))
	for k := range size {
		for i := k; i < len(data); i += size {
			out = append(out, data[i])
		}
	}
	return out
}

// unpacked is the inverse of packed, for a tensor of a file that need not be one.
func unpacked(f *safetensors.File, name string, d array.DType, dims []int) (*array.Array, error) {
	b, err := f.Get(name)
	if err != nil || b.DType() != array.U8 {
		return nil, damaged("tensor " + name + " is missing, or not compressed")
	}
	a := array.New(d, dims...)
	data := array.Bytes(a)
	read := make([]byte, len(data)+1)
	n, err := io.ReadFull(flate.NewReader(bytes.NewReader(array.Bytes(array.Contiguous(b)))), read)
	if n != len(data) || err != io.ErrUnexpectedEOF && (err != io.EOF || n > 0) {
		return nil, damaged("tensor " + name + " has other sizes than the header says")
	}
	size, at := max(d.Size(), 1), 0
	for k := range size {
		for i := k; i < len(data); i += size {
			data[i] = read[at]
			at++
		}
	}
	return a, nil
}
