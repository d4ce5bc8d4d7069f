package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
)

// program NAME... writes folders with programs of pt2/testdata and calls of them, in ONNX's layout.
func program(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		from := filepath.Join(ts.Getenv("REPO"), "pt2", "testdata", name)
		data, err := os.ReadFile(from + ".pt2")
		ts.Check(err)
		ts.Check(os.MkdirAll(ts.MkAbs(name), 0o777))
		ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(name), "model.pt2"), data, 0o666))
		for n := 0; ; n++ {
			z, err := npy.OpenArchive(fmt.Sprintf("%s.%d.npz", from, n))
			if err != nil {
				break
			}
			dir := filepath.Join(ts.MkAbs(name), fmt.Sprint("test_data_set_", n))
			ts.Check(os.MkdirAll(dir, 0o777))
			for short, long := range map[string]string{"in": "input", "out": "output"} {
				for i := 0; slices.Contains(z.Names(), fmt.Sprint(short, i)); i++ {
					a, err := z.Get(fmt.Sprint(short, i))
					ts.Check(err)
					ts.Check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s_%d.pb", long, i)), protoArray(a), 0o666))
				}
			}
			ts.Check(z.Close())
		}
	}
}

// protoArray is a TensorProto.
func protoArray(a *array.Array) []byte {
	kind := map[array.DType]int{array.F32: 1, array.U8: 2, array.I8: 3, array.I32: 6, array.I64: 7, array.Bool: 9, array.F16: 10, array.F64: 11}[a.DType()]
	var b []byte
	for _, n := range a.Shape() {
		b = append(b, num(1, n)...)
	}
	return append(append(b, num(2, kind)...), msg(9, array.Bytes(array.Contiguous(a)))...)
}
