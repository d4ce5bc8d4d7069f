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
