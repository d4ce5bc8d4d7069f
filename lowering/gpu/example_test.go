package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/gpu"
)

// A program that should run everywhere takes a device where there is one, and the
// processor elsewhere.
func ExampleOpen() {
	m, err := graph.Parse([]byte("gofx 1\ngraph g(%x: f32[N,2]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[relu](%x)\n  return %y\n}\n"), "g.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	var t lowering.Target = cpu.Target{}
	if d, err := gpu.Open(""); err == nil { // or "opencl:NVIDIA", or what GOFX_GPU says
		t = lowering.Split{First: gpu.Target{Device: d}, Rest: cpu.Target{}}
	}
	e, err := t.Compile(m, lowering.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	out, err := e.Run(context.Background(), []*array.Array{array.FromSlice([]float32{-1, 2, 3, -4}, 2, 2)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(array.Data[float32](out[0]))
	// Output: [0 2 3 0]
}

// Without a driver there is no device, and the error says what to install.
func ExampleDevices() {
	devices, err := gpu.Devices()
	fmt.Println(len(devices) > 0 || errors.Is(err, gpu.NoDevice))
	// Output: true
}

// Why there is no device of a kind is one line.
func ExampleAbsent() {
	for kind, err := range gpu.Absent() {
		if !errors.Is(err, gpu.NoDevice) {
			fmt.Println(kind, err)
		}
	}
	// Output:
}

// Supports says what devices run of a graph: sort by kernels, topk by what it is expanded into.
func ExampleSupports() {
	m, err := graph.Parse([]byte(`gofx 1

graph f(%x: f32[4,4]) {
  %t = call_function[topk](%x) {k=2, dim=-1} : (f32[4,2], i64[4,2])
  %d = call_function[det](%x) : f32[]
  return %d
}
`), "f.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"t", "d"} {
		ok, why := gpu.Supports(m.Graph.Find(name))
		fmt.Printf("%v %q\n", ok, why)
	}
	// Output:
	// true ""
	// false "elimination with pivots is a chain of steps as long as the matrix, each of which looks for the next"
}

// Text needs no device: what a driver would compile, after what would be launched.
func ExampleText() {
	m, err := graph.Parse([]byte("gofx 1\ngraph g(%x: f32[N,2]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[relu](%x)\n  return %y\n}\n"), "g.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := gpu.Text(m, lowering.Options{Shapes: map[string]int{"N": 3}}, gpu.CUDA)
	if err != nil {
		fmt.Println(err)
		return
	}
	first, _, _ := strings.Cut(text, "\n")
	fmt.Println(first)
	// Output: // Kernels of g for cuda: 1 launches, 0 of them once; 280 bytes of values.
}
