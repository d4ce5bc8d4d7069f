package xla_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
)

// A layer on 2x4 partitions: rows of the batch are cut along one axis, the weight along the other.
func ExampleProgram_Shard() {
	m, err := graph.Parse([]byte(`gofx 1
graph layer(%x: f32[8,4]) {
  %w = get_attr[fc.weight] : f32[12,4]
  %y = call_function[linear](%x, %w) : f32[8,12]
  return %y
}
param fc.weight : f32[12,4]
`), "layer.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := xla.Emit(m, lowering.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	q, err := p.Shard(xla.Layout{
		Mesh:    xla.Mesh{{Name: "data", Size: 2}, {Name: "model", Size: 4}},
		Inputs:  map[string]xla.Split{"x": {"data", ""}},
		Weights: map[string]xla.Split{"fc.weight": {"model", ""}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Bytes())
	fmt.Println(q.Bytes())
	fmt.Println(q.Inputs[0].Local, q.Weights[0].Local)
	// Output:
	// 128 192
	// 64 48
	// [4 4] [3 4]
}
