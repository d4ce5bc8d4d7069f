package main

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/onnxpb"
	"github.com/gofx-dev/gofx/bench/shapes"
)

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
