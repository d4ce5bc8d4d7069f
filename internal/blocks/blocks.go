package blocks

import "github.com/gofx-dev/gofx/array"

// Format is a layout of the elements of a row.
type Format struct {
	Name            string
	Elements, Bytes int   // of a block
	Scales          []int // the bytes at which its floats of 16 bits begin
}

// formats are in the order of bits.
var formats = [...]Format{
	{"F16", 1, 2, []int{0}},
	{"BF16", 1, 2, []int{0}},
	{"Q8_0", 32, 34, []int{0}},
	{"Q6_K", 256, 210, []int{208}},
	{"Q5_0", 32, 22, []int{0}},
	{"Q5_1", 32, 24, []int{0, 2}},
	{"Q5_K", 256, 176, []int{0, 2}},
	{"Q4_0", 32, 18, []int{0}},
	{"Q4_1", 32, 20, []int{0, 2}},
	{"Q4_K", 256, 144, []int{0, 2}},
	{"Q3_K", 256, 110, []int{108}},
	{"Q2_K", 256, 84, []int{80, 82}},
}

// Names returns the names of the formats.
func Names() []string {
	var names []string
	for i := range formats {
		names = append(names, formats[i].Name)
	}
	return names
}

// Lookup returns the format of a name, nil if there is none.
func Lookup(name string) *Format {
	for i := range formats {
		if formats[i].Name == name {
			return &formats[i]
		}
	}
	return nil
}

// Decode makes floats of whole blocks, as many as fill x. Each product and each sum is rounded.
func (f *Format) Decode(x []float32, b []byte) {
	for ; len(x) > 0; x, b = x[f.Elements:], b[f.Bytes:] {
		f.decode(x[:f.Elements], b[:f.Bytes])
	}
}

// decode branches, as a call by a variable would let x escape.
func (f *Format) decode(x []float32, b []byte) {
	switch f.Name {
	case "F16":
		decodeF16(x, b)
	case "BF16":
		decodeBF16(x, b)
	case "Q8_0":
		decodeQ80(x, b)
	case "Q6_K":
		decodeQ6K(x, b)
	case "Q5_0":
		decodeQ50(x, b)
	case "Q5_1":
		decodeQ51(x, b)
	case "Q5_K":
		decodeQ5K(x, b)
	case "Q4_0":
		decodeQ40(x, b)
	case "Q4_1":
		decodeQ41(x, b)
	case "Q4_K":
		decodeQ4K(x, b)
	case "Q3_K":
		decodeQ3K(x, b)
	case "Q2_K":
		decodeQ2K(x, b)
	}
}

// word reads 16 bits; encoding/binary would bring reflection to kernels.
func word(b []byte) uint16 { return uint16(b[0]) | uint16(b[1])<<8 }

// half reads an f16 scale.
func half(b []byte) float32 { return array.Half(word(b)).Float32() }

func decodeF16(x []float32, b []byte) { x[0] = half(b) }

func decodeBF16(x []float32, b []byte) { x[0] = array.BFloat(word(b)).Float32() }
