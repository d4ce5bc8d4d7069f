package xla_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

const square = `gofx 1
graph square(%x: f32[2]) {
  %y = call_function[mul](%x, %x) : f32[2]
  return %y
}
`

// The plugin that is installed runs the graph, or where there is none this processor does.
func ExampleTarget() {
	m, err := graph.Parse([]byte(square), "square.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := xla.Target{}.Compile(m, lowering.Options{}) // GOFX_PJRT_PLUGIN, or the one that is found
	if errors.Is(err, pjrt.NoPlugin) {
		e, err = cpu.Target{}.Compile(m, lowering.Options{})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	out, err := e.Run(context.Background(), []*array.Array{array.FromSlice([]float32{2, 3})})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(array.Data[float32](out[0]))
	// Output: [4 9]
}

// A runtime keeps a client and its compiled programs for many executables.
func ExampleNewRuntime() {
	r, err := xla.NewRuntime("/no/such/plugin.so")
	if err != nil {
		fmt.Println(errors.Is(err, pjrt.NoPlugin))
		return
	}
	defer r.Close()
	_ = xla.Target{Runtime: r}
	// Output: true
}
