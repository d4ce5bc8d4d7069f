package main

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/peers"
)

// modelCases are whole networks: gofx's plan for the processor, PyTorch eager
// and frozen, and what PyTorch exports in ONNX Runtime. Their weights differ, so
// results are not compared here; package models does that with the references.
func modelCases() []*Case {
	id := func(seed, high, tokens int) Input {
		return Input{Tensor: peers.Tensor{Shape: []int{1, tokens}, DType: "i64", Seed: seed, Scale: float64(high)}}
	}
	mask := Input{Tensor: peers.Tensor{Shape: []int{1, 128}, DType: "i64", Scale: 1, Shift: 1}}
	var list []*Case
	add := func(name, suffix string, flops float64, dims map[string]int, in ...Input) {
		c := &Case{Group: "model", Shape: name + suffix, Tol: -1, Op: "model/" + name, Jit: true, Exported: true, Inputs: in}
		c.Work = Work{Flops: flops}
		c.Ours = func(in []*array.Array, threads int) (*Ours, error) { return oursModel(name, dims, in, threads) }
		list = append(list, c)
	}
	for _, b := range []int{1, 32} {
		add("mlp", fmt.Sprintf("_b%d", b), 2*float64(b)*(784*512+512*512+512*10), map[string]int{"N": b}, f32(1, 1, 0, b, 784))
	}
	image := f32(1, 1, 0, 1, 3, 224, 224)
	add("resnet18", "", 2*1814073344, map[string]int{"N": 1}, image)
	add("resnet50", "", 2*4089184256, map[string]int{"N": 1}, image)
	tokens := map[string]int{"N": 1, "S": 128}
	layers := 12 * (12*768*768*128 + 2*128*128*768)
	add("bert_base", "_128", 2*float64(layers+768*768), tokens, id(1, 30522, 128), mask)
	add("gpt2", "_128", 2*float64(layers+128*768*50257), tokens, id(1, 50257, 128))
	return list
}
