package cpu_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/plan"
)

func perceptron() *graph.Module {
	m, err := graph.Parse([]byte(`gofx 1

graph net(%x: f32[N,2]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[2,2]
  %h = call_function[linear](%x, %w, _)
  %r = call_function[relu](%h)
  %y = call_function[linear](%r, %w, _)
  return %y
}
param w : f32[2,2]
`), "net.fx")
	if err != nil {
		panic(err)
	}
	m.SetParam(graph.Param{Path: "w", Value: array.FromSlice([]float32{1, 0, -1, 1}, 2, 2)})
	return m
}

// One executable serves all batch sizes and any number of goroutines.
func ExampleCompile() {
	e, err := cpu.Compile(perceptron(), lowering.Options{Threads: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	for _, x := range []*array.Array{array.FromSlice([]float32{1, 2}, 1, 2), array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)} {
		out, err := e.Run(context.Background(), []*array.Array{x})
		fmt.Println(array.Data[float32](out[0]), err)
	}
	fmt.Println(e.Threads())

	_, err = e.Run(context.Background(), []*array.Array{array.New(array.F32, 1, 3)})
	fmt.Println(err)
	// Output:
	// [1 0] <nil>
	// [1 0 3 -2] <nil>
	// 2
	// node %x: input "x" is f32[1,3], expected f32[N,2] [FX1022]
	//     hint: capture it again for these sizes, or with symbolic ones
}

// RunInto writes results where the caller wants them and allocates nothing.
func ExampleExecutable_RunInto() {
	e, err := cpu.Compile(perceptron(), lowering.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	out := array.New(array.F32, 1, 2)
	err = e.RunInto(context.Background(), []*array.Array{out}, []*array.Array{array.FromSlice([]float32{3, 5}, 1, 2)})
	fmt.Println(array.Data[float32](out), err)
	// Output: [3 -1] <nil>
}

// PeakBytes tells the memory of a run before it is run.
func ExampleExecutable_PeakBytes() {
	e, err := cpu.Compile(perceptron(), lowering.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	small, err := e.PeakBytes(map[string]int{"N": 1000})
	large, _ := e.PeakBytes(map[string]int{"N": 2000})
	fmt.Println(small >= 1000*2*4, small < large, err)

	_, err = e.PeakBytes(nil)
	fmt.Println(err)
	// Output:
	// true true <nil>
	// symbol N has no value, expected a size for each symbol [FX5005]
}

// Executables of one model share its packed weights; Trim drops the memory that is kept for
// the next run.
func ExampleExecutable_Footprint() {
	m := perceptron()
	large, err := cpu.Compile(m, lowering.Options{Shapes: map[string]int{"N": 64}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer large.Close()
	small, err := cpu.Compile(m, lowering.Options{Shapes: map[string]int{"N": 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer small.Close()
	fmt.Println(large.Footprint(small).Packed == small.Footprint().Packed)

	_, err = large.Run(context.Background(), []*array.Array{array.New(array.F32, 64, 2)})
	fmt.Println(large.Footprint().Idle > 0, err)
	large.Trim()
	fmt.Println(large.Footprint().Idle)
	// Output:
	// true
	// true <nil>
	// 0
}

// A Target says what it supports and compiles; Plan is what it executes.
func ExampleTarget() {
	m := perceptron()
	var t lowering.Target = cpu.Target{}
	ok, _ := t.Supports(m.Graph.Find("h"))
	e, err := t.Compile(m, lowering.Options{Shapes: map[string]int{"N": 4}})
	fmt.Println(t.Name(), ok, err)
	p := e.(*cpu.Executable).Plan()
	fmt.Println(len(p.Steps) > 0, len(p.Symbols))
	// Output:
	// cpu true <nil>
	// true 0
}

// Plan makes a plan without weights, for printing.
func ExamplePlan() {
	ready, err := lowering.Prepare(perceptron(), lowering.Options{Shapes: map[string]int{"N": 4}})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := cpu.Plan(ready, lowering.Options{})
	fmt.Println(p.Name, p.Check(), err)
	for _, b := range p.Buffers {
		if b.Kind == plan.Input || b.Kind == plan.Output {
			fmt.Println(b.Kind, b.Name, b.Type)
		}
	}
	// Output:
	// net <nil> <nil>
	// input x f32[4,2]
	// output y f32[4,2]
}

// What the target can do with quantised values is data, for plans of package quant.
func ExampleQuantBackend() {
	for _, o := range cpu.QuantBackend().Operators[:3] {
		fmt.Println(o.Op, o.Modes)
	}
	// Output:
	// linear [static dynamic weight_only]
	// matmul [static dynamic weight_only]
	// embedding [weight_only]
}

// What the calls of a graph take on this processor, for tune.MixedOptions.
func ExampleQuantCost() {
	m, err := graph.Parse([]byte(`gofx 1
graph net(%x: f32[2,2]) {
  %h = call_function[matmul](%x, %x)
  %y = call_function[softmax](%h)
  return %y
}
`), "net.fx")
	if err != nil {
		panic(err)
	}
	x := array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	took, err := cpu.QuantCost([]*array.Array{x}, 5, lowering.Options{Threads: 1})(context.Background(), m)
	fmt.Println(len(took), took["h"] > 0, took["y"] > 0, err)
	// Output: 2 true true <nil>
}

// A result is made in the memory of an input, which the caller gives up.
func ExampleCompile_into() {
	m := perceptron()
	e, err := cpu.Compile(m, lowering.Options{Into: []lowering.Into{{Result: 0, Input: 0}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	x := array.FromSlice([]float32{3, 5}, 1, 2)
	out, err := e.Run(context.Background(), []*array.Array{x})
	fmt.Println(out[0] == x, array.Data[float32](x), err)
	// Output: true [3 -1] <nil>
}

// Operands of products are rounded to bf16, which these have exactly. Granted says what the processor does.
func ExampleExecutable_Granted() {
	m := perceptron()
	e, err := cpu.Compile(m, lowering.Options{Products: array.BF16})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	out, err := e.Run(context.Background(), []*array.Array{array.FromSlice([]float32{3, 5}, 1, 2)})
	fmt.Println(array.Data[float32](out[0]), err, e.Granted() == "bf16: "+kernel.ProductsOfBF16()+", in 2 steps")
	// Output: [3 -1] <nil> true
}

// How a plan is cut for 16 threads, on any machine.
func ExampleExecutable_Cutting() {
	m, err := graph.Parse([]byte(`gofx 1

graph net(%x: f32[1024,1024]) {
  %y = call_function[relu](%x)
  return %y
}
`), "net.fx")
	if err != nil {
		panic(err)
	}
	e, err := cpu.Compile(m, lowering.Options{Threads: 2})
	if err != nil {
		panic(err)
	}
	defer e.Close()
	c, err := e.Cutting(context.Background(), []*array.Array{array.New(array.F32, 1024, 1024)}, 16, 1)
	if err != nil {
		panic(err)
	}
	s := c.Predict(cpu.Handover(), 0)
	fmt.Println(s.Threads, "threads,", s.Barriers, "barrier,", s.Tiles >= 16)
	// Output: 16 threads, 1 barrier, true
}

// What sharing work takes here.
func ExampleHandover() {
	h := cpu.Handover()
	fmt.Println(h.Call > 0 && h.Line > 0)
	// Output: true
}

// Implementations whose estimates are close are compared on this machine. "-" keeps nothing for later programs.
func ExampleExecutable_Stats() {
	m, err := graph.Parse([]byte(`gofx 1

graph net(%x: f32[1,64,1,1]) {
  %w = get_attr[w] : f32[32,64,1,1]
  %y = call_function[conv2d](%x, %w)
  return %y
}
param w : f32[32,64,1,1]
`), "net.fx")
	if err != nil {
		panic(err)
	}
	m.SetParam(graph.Param{Path: "w", Value: array.New(array.F32, 32, 64, 1, 1)})
	o := lowering.Options{Measure: lowering.Measure{On: true}}
	o.Measure.Folder = "-"
	e, err := cpu.Compile(m, o)
	if err != nil {
		panic(err)
	}
	defer e.Close()
	for _, c := range e.Stats().Measured { // there is one way only without AVX2
		if len(c.Ways) < 2 || c.Chosen >= len(c.Ways) || c.Stored {
			fmt.Println(c)
		}
	}
	o.Exact = true
	exact, err := cpu.Compile(m, o)
	if err != nil {
		panic(err)
	}
	defer exact.Close()
	fmt.Println(len(exact.Stats().Measured))
	// Output: 0
}
