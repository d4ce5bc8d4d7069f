package main

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/onnxpb"
	"github.com/gofx-dev/gofx/bench/shapes"
	"github.com/gofx-dev/gofx/kernel"
)

// memoryCases are bound by memory: copies, transposes, broadcasts, softmax, norms
// and reductions, on arrays far beyond the caches and on those of BERT, GPT-2 and
// convolutional networks.
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
		list = append(list, softmaxCase(len(s)-1, s))
	}
	list = append(list, softmaxCase(1, []int{8, 21, 256, 256}), softmaxCase(1, []int{8, 512, 64}))
	for _, s := range [][]int{{16384, 1024}, {128, 768}, {1024, 768}} {
		list = append(list, layerNormCase(s))
	}
	for _, s := range [][]int{{8, 64, 112, 112}, {1, 512, 7, 7}} {
		list = append(list, batchNormCase(s), groupNormCase(s, 32))
	}
	for _, s := range [][]int{{4096, 4096}, {256, 512}} {
		list = append(list, reduceCase("sum", 0, s), reduceCase("sum", 1, s), reduceCase("max", 0, s), reduceCase("max", 1, s))
	}
	return append(list, reduceCase("argmax", 1, []int{32, 50257}))
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

func softmaxCase(dim int, shape []int) *Case {
	n, name := product(shape), "softmax_"
	if dim != len(shape)-1 {
		name = fmt.Sprintf("softmax%d_", dim)
	}
	c := &Case{Group: "memory", Shape: name + text(shape), Tol: 1e-3, Op: "softmax", Elements: n, Work: Work{Bytes: 8 * float64(n)}}
	c.Attrs = map[string]any{"dim": dim}
	c.Inputs = []Input{f32(1, 3, 0, shape...)}
	c.Ours = func(in []*array.Array, threads int) (*Ours, error) {
		return oursStep("Softmax", threads, kernel.Softmax{Dim: dim}, shape, in...), nil
	}
	c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model {
		m := c.model(shape...)
		node(m, "Softmax", "y", []string{"x0"}, attr("axis", dim))
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

// channels are constant operands with a number for each channel.
func channels(seed, n int) Input {
	in := f32(seed, 0.2, 1, n)
	in.Const = true
	return in
}

// batchNormCase applies given statistics to images of channels first.
func batchNormCase(shape []int) *Case {
	n, k := product(shape), shape[1]
	c := &Case{Group: "memory", Shape: "batch_norm_" + text(shape), Tol: 1e-3, Op: "batch_norm", Elements: n, Work: Work{Bytes: 8 * float64(n)}}
	c.Inputs = []Input{f32(1, 1, 0, shape...), channels(2, k), channels(3, k), channels(4, k), channels(5, k)}
	c.Ours = func(in []*array.Array, threads int) (*Ours, error) {
		return oursStep("BatchNorm", threads, kernel.BatchNorm{Eps: 1e-5}, shape, in...), nil
	}
	c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model {
		m := c.model(shape...)
		node(m, "BatchNormalization", "y", []string{"x0", "x3", "x4", "x1", "x2"}, attr("epsilon", float32(1e-5)))
		return m
	}}}
	return c
}

// groupNormCase normalises groups of channels. The operator set that the models
// use has no such operator.
func groupNormCase(shape []int, groups int) *Case {
	n, k := product(shape), shape[1]
	c := &Case{Group: "memory", Shape: "group_norm_" + text(shape), Tol: 1e-3, Op: "group_norm", Elements: n, Work: Work{Bytes: 8 * float64(n)}}
	c.Attrs = map[string]any{"groups": groups}
	c.Inputs = []Input{f32(1, 1, 0, shape...), channels(2, k), channels(3, k)}
	c.Ours = func(in []*array.Array, threads int) (*Ours, error) {
		return oursStep("GroupNorm", threads, kernel.GroupNorm{Groups: groups, Eps: 1e-5}, shape, in...), nil
	}
	return c
}

// reduceCase reduces a dimension of a matrix to sums, extremes or positions.
func reduceCase(kind string, dim int, shape []int) *Case {
	n := product(shape)
	c := &Case{Group: "memory", Shape: fmt.Sprintf("%s%d_%s", kind, dim, text(shape)), Tol: 1e-3, Op: "reduce", Elements: n, Work: Work{Bytes: 4 * float64(n), Reads: 4 * float64(n)}}
	c.Attrs = map[string]any{"kind": kind, "dim": dim}
	c.Inputs = []Input{f32(1, 1, 0.5, shape...)}
	out := []int{shape[1-dim]}
	c.Ours = func(in []*array.Array, threads int) (*Ours, error) {
		if kind != "argmax" {
			return oursStep("Reduce", threads, kernel.Reduce{Kind: kind, Dims: []int{dim}}, out, in...), nil
		}
		w, y := &kernel.Workspace{Threads: threads}, []*array.Array{array.New(array.I64, out...)}
		s := kernel.ArgReduce{Kind: kind, Dim: dim}
		return &Ours{Name: "ArgReduce", Out: y[:1], Run: func() { s.Run(w, y, in) }}, nil
	}
	if kind == "argmax" {
		return c // its results are not floats
	}
	c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model {
		m := c.model(out...)
		if kind == "sum" {
			node(m, "ReduceSum", "y", []string{"x0", ints(m, "axes", dim)}, attr("keepdims", 0))
		} else {
			node(m, "ReduceMax", "y", []string{"x0"}, attr("axes", []int{dim}), attr("keepdims", 0))
		}
		return m
	}}}
	return c
}

// gemmCases are the f32 products. Those with weights may use a prepacked right
// operand; the square ones are measured with both kinds.
func gemmCases() []*Case {
	var list []*Case
	for _, g := range shapes.Gemms() {
		list = append(list, gemmCase(g))
		if g.Name == "" {
			g.Weight, g.Name = true, "packed"
			list = append(list, gemmCase(g))
		}
	}
	return list
}

func gemmCase(g shapes.Gemm) *Case {
	a, b, y := []int{g.M, g.K}, []int{g.K, g.N}, []int{g.M, g.N}
	batch := max(1, g.Batch)
	if g.Batch > 1 {
		a, b, y = append([]int{batch}, a...), append([]int{batch}, b...), append([]int{batch}, y...)
	}
	c := &Case{Group: "gemm", Shape: g.Text(), Tol: 1e-3, Op: "matmul", Jit: g.Weight, OneDNN: true}
	if g.Weight {
		c.OneDNNVariant = "packed"
	}
	c.Inputs = []Input{f32(1, 1, 0, a...), weight(2, g.K, b...)}
	c.Inputs[1].Const = g.Weight
	c.Work = Work{
		Flops: 2 * float64(batch) * float64(g.M) * float64(g.N) * float64(g.K),
		Bytes: 4 * float64(batch) * (float64(g.M*g.K) + float64(g.K*g.N) + float64(g.M*g.N)),
	}
	c.Ours = func(in []*array.Array, threads int) (*Ours, error) { return oursGemm(in, y, g.Weight, threads) }
	c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model {
		m := c.model(y...)
		node(m, "MatMul", "y", []string{"x0", "x1"})
		return m
	}}}
	return c
}

// convCases are the distinct f32 convolutions of the networks, with bias, on one image.
func convCases() []*Case {
	var list []*Case
	for _, s := range shapes.AllConvs() {
		list = append(list, convCase(s))
	}
	return list
}

func convCase(s shapes.SharedConv) *Case {
	v := s.Conv
	c := &Case{Group: "conv", Shape: shapes.Text(v), Networks: s.Networks, Tol: 2e-3, Op: "conv", Jit: true}
	fan := v.C / v.Groups * v.Kernel * v.Kernel
	c.Inputs = []Input{
		f32(1, 1, 0, 1, v.C, v.Size, v.Size),
		weight(2, fan, v.M, v.C/v.Groups, v.Kernel, v.Kernel),
		weight(3, 3, v.M),
	}
	out := []int{1, v.M, v.Out(), v.Out()}
	c.Attrs = convAttrs(v)
	c.Work = Work{Flops: 2 * float64(v.MACs()), Bytes: float64(4 * (c.Inputs[0].Len() + c.Inputs[1].Len() + v.M + v.M*v.Out()*v.Out()))}
	c.Ours = func(in []*array.Array, threads int) (*Ours, error) { return oursConv(in, out, v, threads) }
	c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model {
		m := c.model(out...)
		node(m, "Conv", "y", []string{"x0", "x1", "x2"}, onnxConv(v)...)
		return m
	}}}
	return c
}

func convAttrs(v shapes.Conv) map[string]any {
	return map[string]any{"stride": v.Stride, "pad": v.Pad, "groups": v.Groups}
}

func onnxConv(v shapes.Conv) []onnxpb.Attr {
	return []onnxpb.Attr{
		attr("kernel_shape", []int{v.Kernel, v.Kernel}),
		attr("strides", []int{v.Stride, v.Stride}),
		attr("pads", []int{v.Pad, v.Pad, v.Pad, v.Pad}),
		attr("group", v.Groups),
	}
}

// convShapes counts the distinct convolutions of each network.
func convShapes() map[string]int {
	n := map[string]int{}
	for _, s := range shapes.Sources {
		n[s.Network] = len(shapes.Convs(s.Network))
	}
	return n
}
