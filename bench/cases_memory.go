package main

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/onnxpb"
)

// memoryCases are bound by memory: copies, transposes, broadcasts, softmax and
// layer norm, on arrays far beyond the caches and on those of BERT and GPT-2.
func memoryCases() []*Case {
	list := []*Case{
		moveCase("copy", []int{4096, 4096}, nil, nil),
		moveCase("transpose", []int{4096, 4096}, []int{1, 0}, nil),
		moveCase("transpose", []int{1024, 1024}, []int{1, 0}, nil),
		moveCase("nchw_nhwc", []int{8, 64, 112, 112}, []int{0, 2, 3, 1}, nil),
		moveCase("nhwc_nchw", []int{8, 112, 112, 64}, []int{0, 3, 1, 2}, nil),
		moveCase("heads", []int{1, 128, 12, 64}, []int{0, 2, 1, 3}, nil),
		moveCase("broadcast_rows", []int{1, 4096}, nil, []int{4096, 4096}),
		moveCase("broadcast_columns", []int{4096, 1}, nil, []int{4096, 4096}),
	}
	for _, s := range [][]int{{4096, 4096}, {32, 50257}, {12, 128, 128}, {12, 1024, 1024}} {
		list = append(list, softmaxCase(s))
	}
	for _, s := range [][]int{{16384, 1024}, {128, 768}, {1024, 768}} {
		list = append(list, layerNormCase(s))
	}
	return list
}

func text(shape []int) string {
	s := ""
	for i, d := range shape {
		if i > 0 {
			s += "x"
		}
		s += fmt.Sprint(d)
	}
	return s
}

func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// moveCase copies a permuted or broadcast view to a contiguous array.
func moveCase(name string, shape, perm, expand []int) *Case {
	c := &Case{Group: "memory", Shape: name + "_" + text(shape), Op: "move", Attrs: map[string]any{}}
	c.Inputs = []Input{f32(1, 1, 0, shape...)}
	out := shape
	if perm != nil {
		c.Attrs["perm"] = perm
		out = make([]int, len(perm))
		for i, p := range perm {
			out[i] = shape[p]
		}
		c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model {
			m := c.model(out...)
			node(m, "Transpose", "y", []string{"x0"}, attr("perm", perm))
			return m
		}}}
	}
	if expand != nil {
		c.Attrs["expand"], out = expand, expand
		c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model {
			m := c.model(out...)
			node(m, "Expand", "y", []string{"x0", ints(m, "to", out...)})
			return m
		}}}
	}
	c.Elements = product(out)
	c.Work.Bytes = 4 * float64(product(shape)+product(out))
	c.Ours = func(in []*array.Array, threads int) (*Ours, error) { return oursMove(in, perm, expand, threads) }
	return c
}

func softmaxCase(shape []int) *Case {
	n := product(shape)
	c := &Case{Group: "memory", Shape: "softmax_" + text(shape), Tol: 1e-3, Op: "softmax", Elements: n, Work: Work{Bytes: 8 * float64(n)}}
	c.Inputs = []Input{f32(1, 3, 0, shape...)}
	c.Ours = oursSoftmax
	c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model {
		m := c.model(shape...)
		node(m, "Softmax", "y", []string{"x0"}, attr("axis", -1))
		return m
	}}}
	return c
}

func layerNormCase(shape []int) *Case {
	n, d := product(shape), shape[len(shape)-1]
	c := &Case{Group: "memory", Shape: "layer_norm_" + text(shape), Tol: 1e-3, Op: "layer_norm", Elements: n, Work: Work{Bytes: 8 * float64(n+d)}}
	c.Inputs = []Input{f32(1, 1, 0, shape...), f32(2, 0.2, 1, d), f32(3, 0.1, 0, d)}
	c.Inputs[1].Const, c.Inputs[2].Const = true, true
	c.Ours = oursLayerNorm
	c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model {
		m := c.model(shape...)
		node(m, "LayerNormalization", "y", []string{"x0", "x1", "x2"}, attr("axis", -1), attr("epsilon", float32(1e-5)))
		return m
	}}}
	return c
}
