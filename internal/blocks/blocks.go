package blocks

import "github.com/gofx-dev/gofx/array"

// Format is a layout of the elements of a row.
type Format struct {
	Name            string
	Elements, Bytes int   // of a block
	Scales          []int // the bytes at which its floats of 16 bits begin
	decode          func(x []float32, b []byte)
}

// formats are in the order of bits.
var formats = [...]Format{
	{"F16", 1, 2, []int{0}, decodeF16},
	{"BF16", 1, 2, []int{0}, decodeBF16},
	{"Q8_0", 32, 34, []int{0}, decodeQ80},
	{"Q6_K", 256, 210, []int{208}, decodeQ6K},
	{"Q5_0", 32, 22, []int{0}, decodeQ50},
	{"Q5_1", 32, 24, []int{0, 2}, decodeQ51},
	{"Q5_K", 256, 176, []int{0, 2}, decodeQ5K},
	{"Q4_0", 32, 18, []int{0}, decodeQ40},
	{"Q4_1", 32, 20, []int{0, 2}, decodeQ41},
	{"Q4_K", 256, 144, []int{0, 2}, decodeQ4K},
	{"Q3_K", 256, 110, []int{108}, decodeQ3K},
	{"Q2_K", 256, 84, []int{80, 82}, decodeQ2K},
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

// word reads 16 bits; encoding/binary would bring reflection to kernels.
func word(b []byte) uint16 { return uint16(b[0]) | uint16(b[1])<<8 }

// half reads an f16 scale.
func half(b []byte) float32 { return array.Half(word(b)).Float32() }

func decodeF16(x []float32, b []byte) { x[0] = half(b) }

func decodeBF16(x []float32, b []byte) { x[0] = array.BFloat(word(b)).Float32() }
