package shard_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
)

func layers() *graph.Module {
	m, err := graph.Parse([]byte(`gofx 1
graph layers(%x: f32[16,64]) {
  %up = get_attr[up.weight] : f32[256,64]
  %down = get_attr[down.weight] : f32[64,256]
  %h = call_function[linear](%x, %up) : f32[16,256]
  %a = call_function[relu](%h) : f32[16,256]
  %y = call_function[linear](%a, %down) : f32[16,64]
  return %y
}
param up.weight : f32[256,64]
param down.weight : f32[64,256]
`), "layers.fx")
	if err != nil {
		panic(err)
	}
	return m
}

// What is wrong for all sizes is told while a symbol is open.
func ExampleCheck() {
	m, err := graph.Parse([]byte("gofx 1\ngraph g(%x: f32[N,6] at \"net.go:7:2\") {\n  symbol N = dim(%x, 0)\n  %y = call_function[neg](%x) : f32[N,6]\n  return %y\n}\n"), "g.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	mesh := shard.Mesh{{Name: "data", Size: 2}, {Name: "tensor", Size: 4}}
	for _, split := range []shard.Split{{"data", ""}, {"data", "tensor"}} {
		fmt.Println(shard.Check(m, lowering.Options{}, shard.Layout{Mesh: mesh, Inputs: map[string]shard.Split{"x": split}}))
	}
	// Output:
	// <nil>
	// net.go:7:2: input x is f32[N,6]: dimension 1 has no 4 equal parts along tensor [FX5190]
	//     hint: cut another dimension, or choose an axis whose size divides it
}

// Two layouts are said, and all others follow.
func ExamplePropagate() {
	plan, err := shard.Propagate(layers(), lowering.Options{}, shard.Layout{
		Mesh:    shard.Mesh{{Name: "data", Size: 2}, {Name: "tensor", Size: 4}},
		Inputs:  map[string]shard.Split{"x": {"data", ""}},
		Weights: map[string]shard.Split{"up.weight": {"tensor", ""}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range plan.Weights {
		fmt.Println(w.Name, w.Split, w.Local)
	}
	for _, e := range plan.Exchanges {
		fmt.Println(e.Kind, e.Axis, e.Node, shard.Bytes(e.Bytes))
	}
	// Output:
	// up.weight [tensor,] [64 64]
	// down.weight [,tensor] [64 64]
	// all-reduce tensor y 3.0 KiB
}

// Stages run one after the other, each on devices of its own.
func ExampleStages() {
	p, err := shard.Stages(layers(), lowering.Options{}, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range p.Stages {
		fmt.Println(s.Calls, "calls,", s.Flops, "FLOP,", shard.Bytes(s.Weights), "of weights,", shard.Bytes(s.Received), "received")
	}
	fmt.Printf("%.0f%% waiting with 8 batches\n", 100*p.Bubble(8))
	// Output:
	// 1 calls, 524288 FLOP, 64.0 KiB of weights, 0 B received
	// 2 calls, 528384 FLOP, 64.0 KiB of weights, 16.0 KiB received
	// 11% waiting with 8 batches
}

func ExampleBytes() {
	fmt.Println(shard.Bytes(1000), shard.Bytes(3<<20))
	// Output: 1000 B 3.0 MiB
}
