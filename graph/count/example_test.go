package count_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/count"
)

const perceptron = `graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[2,4]
  %lin = call_function[linear](%x, %w, _) : f32[N,2]
  %relu = call_function[relu](%lin) : f32[N,2]
  return %relu
}
param w : f32[2,4]
`

func parse(text string) *graph.Module {
	m, err := graph.Parse([]byte("gofx 1\n"+text), "net.fx")
	if err != nil {
		panic(err)
	}
	return m
}

// Flops and Bytes are expressions over the graph's symbols.
func ExampleFlops() {
	for n := range parse(perceptron).Graph.Nodes() {
		if n.Opcode().IsCall() {
			fmt.Println(n, count.Flops(n), count.Bytes(n))
		}
	}
	// Output:
	// %lin 16*N 24*N+32
	// %relu 2*N 16*N
}

// Bytes, with sizes: what a call moves when it is not fused with others.
func ExampleBytes() {
	sizes := map[string]int{"N": 8}
	n := parse(perceptron).Graph.Find("lin")
	fmt.Println(count.Bytes(n).Eval(func(name string) (int, bool) { v, ok := sizes[name]; return v, ok }))
	// Output: 224 <nil>
}

// How often a while runs its body is a symbol in what it counts.
func ExampleTurns() {
	m, err := graph.Parse([]byte(`gofx 1
graph net(%x: f32[N]) {
  symbol N = dim(%x, 0)
  %loop = call_function[while](%x) {carry=1} : f32[N] {
    region(%i: f32[N]) {
      %s = call_function[sum](%i) : f32[]
      %t = call_function[gt](%s, %s) : bool[]
      return %t
    }
    region(%i: f32[N]) {
      %j = call_function[neg](%i) : f32[N]
      return %j
    }
  }
  return %loop
}
`), "net.fx")
	if err != nil {
		panic(err)
	}
	flops := count.Flops(m.Graph.Find("loop"))
	fmt.Println(flops)
	n, err := flops.Eval(func(symbol string) (int, bool) {
		return map[string]int{"N": 8, count.Turns("loop"): 3}[symbol], true
	})
	fmt.Println(n, err)
	// Output:
	// 2*N*turns_loop+N+turns_loop+1
	// 60 <nil>
}
