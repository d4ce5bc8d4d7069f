package main

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/onnxpb"
)

// chainOps are the operators of the microbenchmark, repeated for longer chains.
var chainOps = []string{"add", "mul", "div", "add", "sub", "mul", "div", "add"}

// chainCases are chains of 8, 16 and 32 elementwise operators on nine n by n
// matrices: operator i takes the result so far and matrix 1 + i%8.
func chainCases() []*Case {
	var list []*Case
	for _, n := range []int{100, 1000, 4000} {
		for _, k := range []int{8, 16, 32} {
			list = append(list, chainCase(k, n))
		}
	}
	return list
}

func chainCase(k, n int) *Case {
	c := &Case{Group: "chain", Shape: fmt.Sprintf("%dops_n%d", k, n), Tol: 1e-3, Op: "chain", Elements: n * n}
	for i := range 9 {
		c.Inputs = append(c.Inputs, f32(i, 0.5, 1, n, n))
	}
	var ops []string
	for i := range k {
		ops = append(ops, chainOps[i%len(chainOps)])
	}
	c.Attrs = map[string]any{"ops": ops}
	for _, o := range ops {
		if o == "div" {
			c.Work.Divs += float64(n * n)
		} else {
			c.Work.Adds += float64(n * n)
		}
	}
	c.Work.Bytes, c.Work.Reads = 4*10*float64(n*n), 4*9*float64(n*n)
	c.Ours = func(in []*array.Array, threads int) (*Ours, error) { return oursChain(in, ops, threads) }
	c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model {
		names := map[string]string{"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div"}
		m := c.model(n, n)
		v := "x0"
		for i, o := range ops {
			out := ""
			if i+1 == k {
				out = "y"
			}
			v = node(m, names[o], out, []string{v, inputName(1 + i%8)})
		}
		return m
	}}}
	return c
}

// vectorFuncs are the functions that are measured an element, with ONNX's name
// and the domain that is not the standard one.
var vectorFuncs = []struct {
	name, onnx, domain string
	scale, shift       float64
}{
	{"exp", "Exp", "", 5, 0},
	{"log", "Log", "", 5, 5.001},
	{"tanh", "Tanh", "", 4, 0},
	{"erf", "Erf", "", 3, 0},
	{"sigmoid", "Sigmoid", "", 6, 0},
	{"gelu", "Gelu", microsoft, 4, 0},
	{"silu", "QuickGelu", microsoft, 4, 0},
	{"sin", "Sin", "", 10, 0},
	{"cos", "Cos", "", 10, 0},
}

// vectorCases take a function of 4096 elements, which stay in the first level of
// cache, and of a million.
func vectorCases() []*Case {
	var list []*Case
	for _, f := range vectorFuncs {
		for _, n := range []int{4096, 1 << 20} {
			c := &Case{Group: "vector", Shape: fmt.Sprintf("%s_%d", f.name, n), Tol: 1e-4, Op: "unary", Elements: n,
				Attrs: map[string]any{"name": f.name},
				Work:  Work{Bytes: 8 * float64(n)}}
			c.Mkldnn = f.name == "tanh" || f.name == "sigmoid" || f.name == "gelu"
			c.OneDNN = f.name != "erf" && f.name != "sin" && f.name != "cos" // which it lacks
			c.Inputs = []Input{f32(1, f.scale, f.shift, n)}
			c.Ours = func(in []*array.Array, threads int) (*Ours, error) { return oursUnary(in, f.name, threads) }
			c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model {
				m := c.model(n)
				v := onnxpb.Node{Op: f.onnx, Domain: f.domain, In: []string{"x0"}, Out: []string{"y"}}
				if f.onnx == "QuickGelu" {
					v.Attrs = []onnxpb.Attr{attr("alpha", float32(1))}
				}
				m.Nodes = []onnxpb.Node{v}
				return m
			}}}
			list = append(list, c)
		}
	}
	return list
}
