package onnx_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// reshape is a file of one Reshape, of a float[6] to a shape that is an input.
const reshape = "\x08\x08:^\x0a\x1e\x0a\x01x\x0a\x02to\x12\x01y\x1a\x09Reshape_y\x22\x07Reshape\x12\x01gZ\x0f\x0a\x01x\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x06Z\x11\x0a\x02to\x12\x0b\x0a\x09\x08\x07\x12\x05\x0a\x03\x12\x01kb\x15\x0a\x01y\x12\x10\x0a\x0e\x08\x01\x12\x0a\x0a\x03\x12\x01a\x0a\x03\x12\x01bB\x02\x10\x11"

func ExampleNewModel() {
	f, err := onnx.Parse([]byte(reshape), "reshape.onnx")
	if err != nil {
		panic(err)
	}
	fmt.Println("sizes follow from", f.SizedBy(onnx.Options{}))
	m := onnx.NewModel(f, cpu.Target{}, onnx.ModelOptions{})
	defer m.Close()
	x := array.FromSlice([]float32{1, 2, 3, 4, 5, 6})
	for _, to := range [][]int64{{2, 3}, {3, 2}, {2, 3}} {
		out, err := m.Run(context.Background(), map[string]*array.Array{"x": x, "to": array.FromSlice(to)})
		if err != nil {
			panic(err)
		}
		fmt.Println(out[0].Shape())
	}
	fmt.Println(m.Stats().Compiled, "compiled for", m.Stats().Runs, "runs")
	// Output:
	// sizes follow from [to]
	// [2 3]
	// [3 2]
	// [2 3]
	// 2 compiled for 3 runs
}

func ExampleOperators() {
	for _, o := range onnx.Operators() {
		if o.Name == "Clip" {
			fmt.Println(o.Name, "has new meanings from the operator sets", o.Since, "on")
		}
	}
	// Output: Clip has new meanings from the operator sets [1 11] on
}

func ExampleSample_Check() {
	s := onnx.Sample{Name: "test_data_set_0", Outputs: []*array.Array{array.FromSlice([]float32{1, 2}, 2)}}
	d, err := s.Check([]*array.Array{array.FromSlice([]float32{1, 2.001}, 2)}, onnx.StandardTolerance)
	fmt.Printf("%.4f %v\n", d.Max, err)
	_, err = s.Check([]*array.Array{array.FromSlice([]float32{1, 3}, 2)}, onnx.StandardTolerance)
	fmt.Println(err)
	// Output:
	// 0.0010 <nil>
	// test_data_set_0: output 0 differs: element 1 is 3, expected 2 [FX8110]
}

// A graph is written as a model; the batch stays a size with a name.
func ExampleExport() {
	m, err := graph.Parse([]byte(`gofx 1
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %y = call_function[relu](%x) : f32[N,4]
  return %y
}
`), "net.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if err := onnx.Export(&file, m, onnx.ExportOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	f, err := onnx.Parse(file.Bytes(), "net.onnx")
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := f.Import(onnx.Options{})
	fmt.Println(back.Graph.Output().Arg(0).Type(), err)
	// Output: f32[N,4] <nil>
}

func ExampleExportFile() {
	m, err := graph.Parse([]byte("gofx 1\ngraph net(%x: f32[2]) {\n  %y = call_function[relu](%x) : f32[2]\n  return %y\n}\n"), "net.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	err = onnx.ExportFile("no/such/folder/net.onnx", m, onnx.ExportOptions{Outputs: []string{"scores"}})
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output: true
}

func ExampleExportedBy() {
	for _, o := range []*op.Op{std.Relu, std.Silu, std.Glu, std.QLinear} {
		fmt.Println(o.Name, "by", onnx.ExportedBy(o))
	}
	// Output:
	// relu by rule
	// silu by expression
	// glu by decomposition
	// q_linear by reference
}
