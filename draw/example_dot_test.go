package draw_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

func network() *graph.Module {
	m, err := graph.Parse([]byte(`gofx 1

graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %fc = call_module[fc](%x) : f32[N,2] in "fc" "nn.Linear"
  %relu = call_function[relu](%fc) : f32[N,2]
  return %relu
}
param fc.weight : f32[2,4]
module fc = linear (weight=fc.weight, bias=_) type "example.com/nn.Linear"
`), "net.fx")
	if err != nil {
		panic(err)
	}
	return m
}

// DOT is text for Graphviz; draw/graphviz renders it.
func ExampleDOT() {
	dot := draw.DOT(network(), draw.Options{LeftToRight: true})
	fmt.Println(strings.HasPrefix(dot, "digraph"), strings.Contains(dot, "rankdir=LR"), strings.Count(dot, " -> "))
	plain := draw.DOT(network(), draw.Options{NoTypes: true})
	fmt.Println(strings.Contains(dot, "f32[N,2]"), len(plain) < len(dot))
	// Output:
	// true true 3
	// true true
}

// HTML is one file that loads nothing.
func ExampleHTML() {
	page := string(draw.HTML(network(), draw.Options{}))
	fmt.Println(strings.HasPrefix(page, "<!DOCTYPE html>"), strings.Contains(page, "http://"), strings.Contains(page, "relu"))
	// Output: true false true
}

// A report has the graph before the first pass and after each one.
func ExampleNewReport() {
	m := network()
	r := draw.NewReport(m, draw.Options{})
	rename := passes.EachNode("relu-to-gelu", "", func(c *passes.Ctx, n *graph.Node) error {
		if n.Op() != std.Relu {
			return nil
		}
		return c.Replace(n, n.Graph().Before(n).Function(std.Gelu, nil, n.Arg(0)), "gelu is smoother")
	})
	if _, err := passes.Run(context.Background(), m, []passes.Pass{rename}, passes.Options{OnPass: r.OnPass}); err != nil {
		panic(err)
	}
	page := string(r.HTML())
	fmt.Println(strings.Contains(page, `"name":"captured"`), strings.Contains(page, `"name":"relu-to-gelu"`), strings.Contains(page, "gelu is smoother"))
	// Output: true true true
}

// The most expensive node is reddest.
func ExampleCost() {
	o := draw.Cost(network(), map[string]int{"N": 8})
	fmt.Println(o.Marks["fc"].Text, o.Marks["fc"].Heat, o.Marks["relu"].Text)
	// Output: 128 FLOP 1 16 FLOP
}
