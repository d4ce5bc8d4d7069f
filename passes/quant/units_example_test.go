package quant_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
)

// identity is a graph with one linear layer, whose weight is the identity.
func identity() *graph.Module {
	m, err := graph.Parse([]byte(`gofx 1
graph net(%x: f32[N,2]) {
  %w = get_attr[w] : f32[2,2]
  %y = call_function[linear](%x, %w, _)
  return %y
}
param w : f32[2,2]
`), "net.fx")
	if err != nil {
		panic(err)
	}
	p := *m.Param("w")
	p.Value = array.FromSlice([]float32{1, 0, 0, 1}, 2, 2)
	m.SetParam(p)
	return m
}

// The operators that a plan quantises, each with those that are computed with it.
func ExampleUnits() {
	c := &quant.Config{Global: quant.Setting{Mode: quant.Dynamic}}
	units, err := quant.Units(identity(), c, cpu.QuantBackend())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, u := range units {
		fmt.Println(u.Node, len(u.Members))
	}
	// Output: %y 1
}

// A prepared graph without its observers is the float graph again.
func ExampleStrip() {
	ctx := context.Background()
	m := identity()
	c := &quant.Config{Global: quant.Setting{Mode: quant.Static}}
	if _, err := passes.Run(ctx, m, []passes.Pass{quant.Prepare(c, cpu.QuantBackend())}, passes.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	before := m.Graph.Len()
	if err := quant.Strip(m); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(before > m.Graph.Len(), m.Graph.Len(), len(m.Params()))
	// Output: true 4 1
}

// An engine for Calibrate, or for comparisons, where no target is at hand.
func ExampleNewInterpreter() {
	e := quant.NewInterpreter(identity())
	out, err := e.Run(context.Background(), []*array.Array{array.FromSlice([]float32{3, 4}, 1, 2)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(array.Data[float32](out[0]))
	// Output: [3 4]
}
