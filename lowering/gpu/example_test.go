package gpu_test

import (
	"context"
	"errors"
	"fmt"

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
