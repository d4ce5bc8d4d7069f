package gguf_test

import (
	"encoding/binary"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/gguf"
)

// model is a file with a name in its metadata and a matrix of Q4_0 of one row.
func model() []byte {
	le := binary.LittleEndian
	text := func(b []byte, s string) []byte { return append(le.AppendUint64(b, uint64(len(s))), s...) }
	b := le.AppendUint32([]byte("GGUF"), 3)
	b = le.AppendUint64(le.AppendUint64(b, 1), 1) // a tensor, a pair
	b = text(le.AppendUint32(text(b, "general.name"), 8), "tiny")
	b = le.AppendUint32(text(b, "w"), 2)
	b = le.AppendUint64(le.AppendUint64(b, 32), 1)
	b = le.AppendUint64(le.AppendUint32(b, 2), 0)
	for len(b)%32 != 0 {
		b = append(b, 0)
	}
	b = append(b, 0, 0x38) // 0.5 in f16
	for j := range 16 {
		b = append(b, byte(j|8<<4))
	}
	return b
}

func ExampleParse() {
	f, err := gguf.Parse(model())
	if err != nil {
		fmt.Println(err)
		return
	}
	name, _ := f.Value("general.name")
	d, shape, _ := f.Type("w")
	fmt.Println(name, f.Names(), f.Format("w"), d, shape)
	w, err := f.Get("w")
	fmt.Println(array.Data[float32](w)[:4], err)
	_, err = f.Get("v")
	fmt.Println(err)
	// Output:
	// tiny [w] Q4_0 f32 [1 32]
	// [-4 -3.5 -3 -2.5] <nil>
	// gguf: no tensor "v" among 1, expected one of that name [FX8065]
}

// A matrix of Q4_0 is had in the form that int4_linear reads, without a rounding.
func ExampleFile_Int4() {
	f, err := gguf.Parse(model())
	if err != nil {
		fmt.Println(err)
		return
	}
	w, scale, ok, err := f.Int4("w")
	fmt.Println(w.Shape(), array.Data[uint8](w)[:2], array.Data[float32](scale), ok, err)
	// Output: [1 16] [16 50] [0.5] true <nil>
}

func ExampleOpen() {
	_, err := gguf.Open("no/such/file.gguf")
	fmt.Println(err)
	// Output: gguf: stat no/such/file.gguf: no such file or directory [FX8009]
}

func ExampleFile_Blocks() {
	f, err := gguf.Parse(model())
	if err != nil {
		fmt.Println(err)
		return
	}
	w, format, ok, err := f.Blocks("w")
	if err != nil || !ok {
		fmt.Println(ok, err)
		return
	}
	fmt.Println(format, w.DType(), w.Shape())
	// Output: Q4_0 u8 [1 18]
}
