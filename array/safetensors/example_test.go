package safetensors_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
)

func tensors() []safetensors.Named {
	return []safetensors.Named{
		{Name: "weight", Array: array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)},
		{Name: "ids", Array: array.FromSlice([]int64{5, 6})},
	}
}

func ExampleWrite() {
	var b bytes.Buffer
	err := safetensors.Write(&b, tensors(), map[string]string{"format": "pt"})
	fmt.Println(err)

	f, err := safetensors.Parse(b.Bytes())
	fmt.Println(f.Names(), f.Metadata(), err)
	// Output:
	// <nil>
	// [weight ids] map[format:pt] <nil>
}

func ExampleParse() {
	var b bytes.Buffer
	if err := safetensors.Write(&b, tensors(), nil); err != nil {
		fmt.Println(err)
		return
	}
	f, err := safetensors.Parse(b.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := f.Get("ids")
	fmt.Println(array.Data[int64](a), err)
	_, err = f.Get("bias")
	fmt.Println(err)

	_, err = safetensors.Parse(b.Bytes()[:100]) // data that is cut off is an error
	fmt.Println(err)
	// Output:
	// [5 6] <nil>
	// safetensors: no tensor "bias" among 2, expected one of that name [FX8007]
	// safetensors: byte 0: header has 120 bytes, expected at most the 92 that follow [FX8001]
}

// Open reads the header only; each Get reads one tensor.
func ExampleOpen() {
	var b bytes.Buffer
	if err := safetensors.Write(&b, tensors(), nil); err != nil {
		fmt.Println(err)
		return
	}
	f, err := safetensors.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	d, shape, _, length, ok := f.Info("weight")
	fmt.Println(d, shape, length, ok)
	// Output: f32 [2 2] 16 true
}

func ExampleReadFile() {
	dir, err := os.MkdirTemp("", "gofx")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "w.safetensors")
	var b bytes.Buffer
	if err = safetensors.Write(&b, tensors(), nil); err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o644)
	}
	fmt.Println(err)
	f, err := safetensors.ReadFile(path)
	fmt.Println(len(f.Names()), err)
	// Output:
	// <nil>
	// 2 <nil>
}

// Files with the same names, types and shapes have the same schema.
func ExampleSchemaHash() {
	a, b := tensors(), tensors()
	b[0].Array = array.New(array.F32, 2, 2) // other values
	b[0], b[1] = b[1], b[0]                 // another order
	fmt.Println(safetensors.SchemaHash(a) == safetensors.SchemaHash(b))
	b[0].Array = array.New(array.I64, 3)
	fmt.Println(safetensors.SchemaHash(a) == safetensors.SchemaHash(b))
	// Output:
	// true
	// false
}

// A mapped file is read where it is used; tensors share its memory.
func ExampleMap() {
	dir, err := os.MkdirTemp("", "gofx")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "w.safetensors")
	var b bytes.Buffer
	if err = safetensors.WriteReference(&b, tensors(), nil); err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o644)
	}
	fmt.Println(err)
	f, err := safetensors.Map(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := f.Get("weight")
	fmt.Println(array.Data[float32](a), err, f.Copied())
	// Output:
	// <nil>
	// [1 2 3 4] <nil> 0
}

// WriteReference puts the widest element types first, as the reference writer does.
func ExampleWriteReference() {
	var b bytes.Buffer
	err := safetensors.WriteReference(&b, tensors(), nil)
	fmt.Println(string(bytes.TrimSpace(b.Bytes()[8:b.Len()-32])), err)
	// Output: {"ids":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},"weight":{"dtype":"F32","shape":[2,2],"data_offsets":[16,32]}} <nil>
}
