package main

import (
	"strings"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/shard"
)

// columns are the linear layers that are cut by their outputs: a partition has some of the heads,
// or of the intermediate features. The layers after them are cut by their inputs.
var columns = []string{"query.weight", "key.weight", "value.weight", "intermediate.dense.weight"}

// layout says how Bert lies on a mesh of data and tensor; everything that is not said follows.
// Ref: Shoeybi et al., Megatron-LM, arXiv:1909.08053, section 3.
func layout(m *graph.Module, mesh shard.Mesh) shard.Layout {
	l := shard.Layout{Mesh: mesh,
		Inputs:  map[string]shard.Split{"input_ids": {"data", ""}},
		Weights: map[string]shard.Split{}}
	for _, p := range m.Params() {
		for _, name := range columns {
			if strings.HasSuffix(p.Path, name) {
				l.Weights[p.Path] = shard.Split{"tensor", ""}
			}
		}
	}
	return l
}
