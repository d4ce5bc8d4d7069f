package draw_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/graph"
)

func ExampleTable() {
	m, err := graph.Parse([]byte(`gofx 1

graph f(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %neg = call_function[neg](%x) : f32[N,4]
  %softmax = call_function[softmax](%neg) {dim=-1} : f32[N,4]
  return %softmax
}
`), "f.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(draw.Table(m))
	// Output:
	// opcode         name     target   operands  attributes  type      module
	// placeholder    x        x                              f32[N,4]
	// call_function  neg      neg      %x                    f32[N,4]
	// call_function  softmax  softmax  %neg      dim=-1      f32[N,4]
	// output         output   output   %softmax              f32[N,4]
	//
	// 4 nodes: 1 neg, 1 softmax
	// 0 tensors of state, 0 elements
}

// A page of one's own shows a graph in an element: with the script as viewer.js next to it,
// it loads the script and calls gofx.show.
func ExampleViewer() {
	m, err := graph.Parse([]byte("gofx 1\n\ngraph f(%x: f32[4]) {\n  %neg = call_function[neg](%x)\n  return %neg\n}\n"), "f.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	data := draw.NewReport(m, draw.Options{}).Data()
	page := `<div id="graph" style="height: 400px"></div>
<script src="viewer.js"></script>
<script>gofx.show('#graph', ` + string(data) + `)</script>`
	fmt.Println(len(page) < 4000, len(draw.Viewer()) < 150_000)
	// Output:
	// true true
}

func ExampleAmount() {
	fmt.Println(draw.Amount(1234567) + "FLOP")
	// Output:
	// 1.23 MFLOP
}
