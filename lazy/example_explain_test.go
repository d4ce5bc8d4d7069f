package lazy_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

// Explain says what asked for values, where, and how graphs differ.
func ExampleSession_Explain() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	for _, n := range []int{2, 2, 3} {
		s.In(tensor.Ones(n)).Exp().Sum().Item()
	}
	fmt.Print(s.Explain())
	// Output:
	// 2 graphs, 3 flushes of 6 calls
	// graph 1: 2 calls, 1 output, 2 runs: 2 call by call, 0 compiled; interpreted
	//   reads x0 f32[2]
	//   flush item at example_explain_test.go:15, 2 times
	//   then graph 1, 1 time
	//   then graph 2, 1 time
	// graph 2: 2 calls, 1 output, 1 run: 1 call by call, 0 compiled; interpreted
	//   reads x0 f32[3]
	//   differs from graph 1 at call 1
	//     this: %exp = call_function[exp](%x0) : f32[3]  # example_explain_test.go:15
	//     1:    %exp = call_function[exp](%x0) : f32[2]  # example_explain_test.go:15
	//     reads x0 f32[3], there x0 f32[2]
	//   flush item at example_explain_test.go:15, 1 time
	// flushes
	//   item at example_explain_test.go:15, 3 times
}

// The drawing shows which graph follows which.
func ExampleExplanation_DOT() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	for range 2 {
		s.In(tensor.Ones(2)).Exp().Sum().Item()
	}
	fmt.Print(s.Explain().DOT())
	// Output:
	// digraph "session" {
	//   node [fontname="Helvetica", fontsize=11, shape=box];
	//   edge [fontname="Helvetica", fontsize=9];
	//   g1 [label="graph 1\n2 calls, 2 runs\ninterpreted", style="filled,rounded", fillcolor="#f9fafb"];
	//   g1 -> g1 [label="1"];
	// }
}
