package fx_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/tensor"
)

// heads splits features into heads of 64, whatever batch and length are.
func heads(x *tensor.Tensor) *tensor.Tensor {
	n := x.Size(2).Div(64)
	return x.Reshape(x.Size(0), x.Size(1), n, 64).Transpose(1, 2)
}

// Sizes are expressions in the graph.
func Example_sizes() {
	gm := capture(heads, fx.Input("x", "f32[B,S,768]"))
	fmt.Print(graph.PrintGraph(gm.Graph, graph.PrintOptions{}))
	out, err := gm.Run(context.Background(), tensor.Ones(2, 5, 768))
	fmt.Println(out[0].Type(), err)
	// Output:
	// gofx 1
	//
	// graph heads(%x: f32[B,S,768]) {
	//   symbol B = dim(%x, 0)
	//   symbol S = dim(%x, 1)
	//   %reshape = call_method[reshape](%x) {shape=[B,S,12,64]} : f32[B,S,12,64]
	//   %transpose = call_method[transpose](%reshape) {dim0=1, dim1=2} : f32[B,12,S,64]
	//   return %transpose
	// }
	// f32[2,12,5,64] <nil>
}

// every8 needs a length that is a multiple of 8, and says so.
func every8(x *tensor.Tensor) *tensor.Tensor {
	n := x.Size(0)
	n.MustBeMultiple(8)
	return x.Reshape(n.Div(8), 8).Select(1, 0)
}

// The model's statements about sizes are checked when the graph is entered.
func Example_statedSizes() {
	gm := capture(every8, fx.Input("x", "f32[N]"))
	_, err := gm.Run(context.Background(), tensor.Ones(12))
	fmt.Println(err)
	// Output:
	// node %x: input "x" is f32[12]: the graph needs N (axis 0, here 12) divisible by 8 [FX1022]
	//     hint: give other sizes, or capture the graph again for these
}

// counted counts its calls.
type counted struct {
	Calls *tensor.Tensor `fx:",buffer"`
}

func (m *counted) Forward(x *tensor.Tensor) *tensor.Tensor {
	tensor.On(x, m.Calls).AddScalarInPlace(1) // without On, no traced value would take part
	return x.Relu()
}

// A write to state is part of the graph, and later runs see it.
func Example_state() {
	ctx := context.Background()
	m := &counted{tensor.New(array.New(array.I64))}
	gm := capture(m, fx.Input("x", "f32[N]"))
	for range 3 {
		if _, err := gm.Run(ctx, tensor.Ones(4)); err != nil {
			fmt.Println(err)
			return
		}
	}
	for n := range gm.Graph.Nodes() {
		fmt.Println(n.Opcode(), n.Target())
	}
	fmt.Println(m.Calls.Item())
	// Output:
	// placeholder x
	// get_attr calls
	// call_method add
	// call_method relu
	// call_function assign
	// output output
	// 3
}

// TestTracingPage_showsCodeThatRuns compares every Go block of docs/tracing.md
// with the tests that hold it.
func TestTracingPage_showsCodeThatRuns(t *testing.T) {
	page, err := os.ReadFile("../docs/tracing.md")
	require.NoError(t, err)
	var tests []byte
	for _, room := range []string{".", "../tensor", "../tracer"} {
		files, err := filepath.Glob(filepath.Join(room, "*_test.go"))
		require.NoError(t, err)
		for _, f := range files {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			tests = append(tests, text...)
		}
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(page, -1)
	require.GreaterOrEqual(t, len(blocks), 3)
	for _, b := range blocks {
		require.True(t, bytes.Contains(tests, b[1]), "docs/tracing.md shows what no test has:\n%s", b[1])
	}
}
