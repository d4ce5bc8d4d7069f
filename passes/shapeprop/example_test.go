package shapeprop_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/shapeprop"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

func module(text string) *graph.Module {
	m, err := graph.Parse([]byte("gofx 1\n\n"+text), "net.fx")
	if err != nil {
		panic(err)
	}
	return m
}

func apply(m *graph.Module, p passes.Pass) {
	if _, err := passes.Run(context.Background(), m, []passes.Pass{p}, passes.Options{}); err != nil {
		fmt.Println(err)
	}
}

// Infer gives inputs types and computes all others.
func ExampleInfer() {
	m := module("graph f(%x: ?, %y: ?) {\n  %s = call_function[matmul](%x, %y)\n  return %s\n}\n")
	x, _ := shape.ParseType("f32[N,8]")
	y, _ := shape.ParseType("f32[8,3]")
	apply(m, shapeprop.Infer(map[string]shape.Type{"x": x, "y": y}))
	fmt.Print(m.Graph)

	bad, _ := shape.ParseType("f32[9,3]")
	apply(m, shapeprop.Infer(map[string]shape.Type{"y": bad}))
	// Output:
	// gofx 1
	//
	// graph f(%x: f32[N,8], %y: f32[8,3]) {
	//   symbol N = dim(%x, 0)
	//   %s = call_function[matmul](%x, %y) : f32[N,3]
	//   return %s
	// }
	// node %s: matmul: x [N,8] has 8 columns, y [9,3] has 9 rows [FX2001]
	//     while running pass shape-prop
}

// Specialize fixes symbols; other sizes are then refused at entry.
func ExampleSpecialize() {
	m := module("graph f(%x: f32[N,C]) {\n  %y = call_function[flatten](%x)\n  return %y\n}\n")
	apply(m, shapeprop.Specialize(map[string]int{"N": 2, "C": 3}))
	fmt.Print(m.Graph)
	// Output:
	// gofx 1
	//
	// graph f(%x: f32[2,3]) {
	//   symbol N = dim(%x, 0)
	//   symbol C = dim(%x, 1)
	//   guard C == 3 from %x
	//   guard N == 2 from %x
	//   %y = call_function[flatten](%x) : f32[2,3]
	//   return %y
	// }
}

// Observe records the types of a run, also where they are not known in advance.
func ExampleObserve() {
	m := module("graph f(%x: f32[*]) {\n  %y = call_function[sum](%x) {dim=[0]}\n  return %y\n}\n")
	for _, n := range []int{3, 5} {
		if err := shapeprop.Observe(context.Background(), m, tensor.Ones(n, 4, n)); err != nil {
			fmt.Println(err)
			return
		}
	}
	y := m.Graph.Find("y")
	observed, _ := shapeprop.Observed.Get(y)
	fmt.Println(y.Type(), observed)
	// Output: f32[*] f32[4,?]
}

// Bind says what symbols are, and leaves the graph's own facts as they are.
func ExampleBind() {
	m := module("graph f(%x: f32[N,C]) {\n  %y = call_function[squeeze](%x) {dim=[0]} : f32[*]\n  return %y\n}\n")
	n := map[string]shape.Dim{"N": shape.Const(1), "C": shape.Sym("C")}
	changed, err := shapeprop.Bind(passes.NewCtx(context.Background(), m), m.Graph, nil, func(symbol string) shape.Dim { return n[symbol] })
	fmt.Println(changed, err)
	fmt.Println(m.Graph.Find("x").Type(), m.Graph.Find("y").Type())
	// Output:
	// true <nil>
	// f32[1,C] f32[C]
}

// Check tells what is known, what is checked at entry and where knowledge ends.
func Example_check() {
	m := module(`graph f(%x: f32[N,M], %y: f32[K], %z: f32[*]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  symbol K = dim(%y, 0)
  %a = call_function[add](%x, %y) : ?
  %b = call_function[relu](%z) : ?
  return %a, %b
}
`)
	report, err := passes.Run(context.Background(), m, []passes.Pass{shapeprop.Check}, passes.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(report.Explain())
	// Output:
	// shape-check: 0 matches, 1 left as they are
	//   3 of 5 values have types that are known except for symbols
	//   checked at entry: M == K, which %a needs
	//   %z left as it is: nothing says more of the input than f32[*]
}
