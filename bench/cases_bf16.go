package main

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/peers"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/models"
)

// brainTol is the difference of results of networks whose operands are rounded to bf16, relative to their
// mean magnitude: peers round all values.
const brainTol = 0.15

// inBF16 are networks of convolutions and of products, and one whose convolutions are short.
var inBF16 = []string{"resnet50", "mobilenet_v3_large", "vit_b_16", "bert_base", "gpt2"}

// brainCases are networks with operands of products in bf16, next to the same networks in f32 and to the
// peers in bf16.
func brainCases() (list []*Case) {
	for _, name := range inBF16 {
		m := models.Lookup(name)
		list = append(list, &Case{Group: "bf16", Shape: name + "_b1", Tol: brainTol, Op: "network", Network: m, Dims: dimsOf(m, 1), Brain: true,
			Engines: []Engine{{Name: "bf16", Ours: (*network).brain}, floatPlan}})
	}
	return list
}

// brain runs the plan with operands of products in bf16.
func (w *network) brain(threads int) (*Ours, error) {
	g, err := w.optimised(fx.Optimise())
	if err != nil {
		return nil, err
	}
	return oursPlan(g, w.arrays(), lowering.Options{Threads: threads, Shapes: w.dims, Products: array.BF16})
}

// brainRequests returns the requests to the peers that compute a network in bf16: OpenVINO with its hint of
// precision, PyTorch with autocast, as it is and compiled.
func (b *bench) brainRequests(c *Case, row *Row, x *exported) (list []peerCase) {
	if b.procs["openvino"] != nil {
		if x.onnxErr != nil {
			b.leaveOut(c, row, "openvino", x.onnxErr)
		} else {
			list = append(list, peerCase{name: "openvino", process: "openvino",
				load: peers.Request{File: x.onnx, Inputs: x.feeds, Threads: b.threads, Variant: "bf16"}})
		}
	}
	if b.newest("torch") {
		for _, v := range []string{"bf16", "bf16-compile"} {
			list = append(list, peerCase{name: fmt.Sprintf("torch-%s", v), process: "torch", load: peers.Request{Op: c.Op, File: x.dir, Variant: v}})
		}
	}
	return list
}
