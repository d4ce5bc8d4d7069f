package graph_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
)

func ExampleResolveDim() {
	g := graph.New("g")
	n := shape.Sym("N")
	x := g.At().Placeholder("x", shape.TensorType(array.F32, shape.Of(n)), nil)
	g.DefineSymbol("N", x, 0)
	twice := n.Mul(shape.Const(2))
	fmt.Println(graph.ResolveDim(g, twice))
	g.AddGuard(n, shape.Const(3), x)
	fmt.Println(graph.ResolveDim(g, twice))
	// Output:
	// 2*N
	// 6
}
