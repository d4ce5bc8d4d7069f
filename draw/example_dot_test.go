package draw_test

import (
	"fmt"
	"strings"

	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/graph"
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
	page := string(draw.HTML(network(), "", draw.Options{})) // without a drawing: a table
	fmt.Println(strings.HasPrefix(page, "<!DOCTYPE html>"), strings.Contains(page, "http://"), strings.Contains(page, "relu"))
	// Output: true false true
}
