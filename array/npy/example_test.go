package npy_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
)

func ExampleWrite() {
	var b bytes.Buffer
	if err := npy.Write(&b, array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)); err != nil {
		fmt.Println(err)
		return
	}
	a, err := npy.Read(&b, 1<<20) // at most a mebibyte of data
	fmt.Println(a.DType(), a.Shape(), array.Data[float32](a), err)
	// Output: f32 [2 2] [1 2 3 4] <nil>
}

// A file that promises more than the caller allows is refused before it is read.
func ExampleRead() {
	var b bytes.Buffer
	if err := npy.Write(&b, array.New(array.F64, 1000)); err != nil {
		fmt.Println(err)
		return
	}
	_, err := npy.Read(&b, 100)
	fmt.Println(err)
	// Output: npy: byte 60: array has more than 100 bytes of data, expected at most as many [FX8013]
}

func ExampleWriteFile() {
	dir, err := os.MkdirTemp("", "gofx")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "x.npy")
	fmt.Println(npy.WriteFile(path, array.FromSlice([]bool{true, false})))
	a, err := npy.ReadFile(path)
	fmt.Println(array.Data[bool](a), err)
	// Output:
	// <nil>
	// [true false] <nil>
}

func ExampleWriteArchive() {
	var b bytes.Buffer
	err := npy.WriteArchive(&b, []npy.Named{
		{Name: "x", Array: array.FromSlice([]float32{1, 2})},
		{Name: "y", Array: array.FromSlice([]int64{3})},
	}, true)
	fmt.Println(err)
	a, err := npy.ParseArchive(b.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	y, err := a.Get("y")
	fmt.Println(a.Names(), array.Data[int64](y), err)
	// Output:
	// <nil>
	// [x y] [3] <nil>
}
