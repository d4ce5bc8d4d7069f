package passes_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
)

func written() *graph.Module {
	m, err := graph.Parse([]byte(`gofx 1

graph f(%x: f32[2,3]) {
  %b = get_attr[b] live : f32[2,3]
  %t = call_function[t](%b)
  %y = call_function[relu](%t)
  %w = call_function[assign](%b, %x)
  return %y
}
param b : f32[2,3] buffer
`), "f.fx")
	if err != nil {
		panic(err)
	}
	return m
}

// Memory finds what a value may share its memory with.
func ExampleMemory() {
	g := written().Graph
	fmt.Println(passes.Memory(g.Find("t")), passes.Memory(g.Find("y")))
	// Output: %b %y
}

// WrittenMemory finds whose memory is written.
func ExampleWrittenMemory() {
	for n := range passes.WrittenMemory(written().Graph) {
		fmt.Println(n)
	}
	// Output: %b
}

// Overwritten tells which reads must not move over a write.
func ExampleOverwritten() {
	g := written().Graph
	paths, memory := passes.Written(g), passes.WrittenMemory(g)
	fmt.Println(passes.Overwritten(g.Find("t"), paths, memory), passes.Overwritten(g.Find("y"), paths, memory))
	// Output: true false
}
