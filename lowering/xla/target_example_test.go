package xla_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/shard"
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

const plus = `gofx 1
graph plus(%x: f32[N,2]) {
  symbol N = dim(%x, 0)
  %y = call_function[add](%x, %x) : f32[N,2]
  return %y
}
`

// One program is compiled for all batches of up to 64; Stats says how many runs took it.
func ExampleTarget_bounds() {
	m, err := graph.Parse([]byte(plus), "plus.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := xla.Target{Bounds: map[string]int{"N": 64}}.Compile(m, lowering.Options{})
	if errors.Is(err, pjrt.NoPlugin) {
		e, err = cpu.Target{}.Compile(m, lowering.Options{})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	for _, x := range []*array.Array{array.FromSlice([]float32{1, 2}, 1, 2), array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)} {
		out, err := e.Run(context.Background(), []*array.Array{x})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(array.Data[float32](out[0]))
	}
	if x, ok := e.(*xla.Executable); ok {
		if s := x.Stats(); s.Refused != nil {
			fmt.Println("a program for each size:", s.Refused)
		}
	}
	// Output:
	// [2 4]
	// [2 4 6 8]
}

// The batch is cut over two devices, where there are two; results come back as one.
func ExampleTarget_layout() {
	m, err := graph.Parse([]byte(plus), "plus.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	o := lowering.Options{Shapes: map[string]int{"N": 2}}
	layout := &shard.Layout{Mesh: shard.Mesh{{Name: "data", Size: 2}}, Inputs: map[string]shard.Split{"x": {"data", ""}}}
	e, err := xla.Target{Layout: layout}.Compile(m, o)
	if errors.Is(err, pjrt.NoPlugin) || errors.Is(err, lowering.BadOption) { // no plugin, or one device
		e, err = cpu.Target{}.Compile(m, o)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	out, err := e.Run(context.Background(), []*array.Array{array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out[0].Shape(), array.Data[float32](out[0]))
	// Output: [2 2] [2 4 6 8]
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
