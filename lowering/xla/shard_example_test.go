package xla_test

import (
	"fmt"
	"strings"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla"
)

// A layer on 2x4 partitions: rows of the batch are cut along one axis, the weight along the other.
func ExampleEmitSharded() {
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
	plan, err := shard.Propagate(m, lowering.Options{}, shard.Layout{
		Mesh:    shard.Mesh{{Name: "data", Size: 2}, {Name: "model", Size: 4}},
		Inputs:  map[string]shard.Split{"x": {"data", ""}},
		Weights: map[string]shard.Split{"fc.weight": {"model", ""}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := xla.EmitSharded(plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Bytes())
	fmt.Println(p.Inputs[0].Local, p.Weights[0].Local)
	for _, line := range strings.Split(p.String(), "\n") {
		if strings.Contains(line, "custom_call") {
			fmt.Println(strings.TrimSpace(line))
		}
	}
	// Output:
	// 64 48
	// [4 4] [3 4]
	// %1 = "stablehlo.custom_call"(%0) {call_target_name = "Sharding", mhlo.sharding = "{devices=[2,4]<=[8]}"} : (tensor<8x12xf32>) -> tensor<8x12xf32>
}
