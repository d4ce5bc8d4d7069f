package debug_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/debug"
)

const netText = `gofx 1

graph net(%x: f32[2,4]) {
  %a = call_function[tanh](%x) at "net.go:10"
  %b = call_function[neg](%a) at "net.go:11"
  %c = call_function[neg](%b) at "net.go:12"
  %d = call_function[sigmoid](%c) at "net.go:13"
  %e = call_function[neg](%d) at "net.go:14"
  %f = call_function[neg](%e) at "net.go:15"
  %g = call_function[exp](%f) at "net.go:16"
  return %g
}
`

// net is a graph with two double negations.
func net() debug.Case {
	c, err := debug.Read(netText, nil)
	if err != nil {
		panic(err)
	}
	return c
}

// doubleNeg removes double negations. It is wrong where the value is a sigmoid.
var doubleNeg = passes.EachNode("double-neg", "Removes double negations.", func(c *passes.Ctx, n *graph.Node) error {
	if n.Op() != std.Neg || n.Arg(0).Op() != std.Neg {
		return nil
	}
	x := n.Arg(0).Arg(0)
	if x.Op() == std.Sigmoid {
		return c.Replace(n, n.Arg(0), "a negation of a negation")
	}
	return c.Replace(n, x, "a negation of a negation")
})

// Bisect names the rewrite that changes what the graph computes.
func ExampleBisect() {
	c := net()
	found, err := debug.Bisect(context.Background(), c.Module, []passes.Pass{doubleNeg}, passes.Options{Numeric: &passes.Numeric{Inputs: c.Inputs}}, nil)
	fmt.Println(found.Pass, found.Match, found.Event, err)
	// Output: double-neg 2 net.go:15: %f replaced by %e: a negation of a negation <nil>
}

// Compare shows the first value in which two forms of a model differ.
func ExampleCompare() {
	c := net()
	m := graph.Clone(c.Module)
	if _, err := passes.Run(context.Background(), m, []passes.Pass{doubleNeg}, passes.Options{}); err != nil {
		fmt.Println(err)
	}
	d, err := debug.Compare(context.Background(), c.Module, m, c.Inputs, debug.CompareOptions{})
	fmt.Println(d.First().Node, d.First().Other, d.First().Op, d.First().Pos, d.First().SQNR(), err)
	// Output: f e neg net.go:15 -6.0 dB <nil>
}

// CompareValues compares what two programs have computed.
func ExampleCompareValues() {
	c := net()
	a, err := debug.Values(context.Background(), c.Module, c.Inputs, nil)
	if err != nil {
		fmt.Println(err)
	}
	b, err := debug.Values(context.Background(), c.Module, []*array.Array{array.New(array.F32, 2, 4)}, nil)
	if err != nil {
		fmt.Println(err)
	}
	d, err := debug.CompareValues(a, b, debug.CompareOptions{}, nil)
	fmt.Println(d.First().Node, len(d.Rows), len(d.Results), err)
	// Output: a 7 1 <nil>
}

// Observe computes one value alone.
func ExampleObserve() {
	c := net()
	a, err := debug.Observe(context.Background(), c.Module, []*array.Array{array.New(array.F32, 2, 4)}, nil, "d")
	fmt.Println(array.At[float32](a, 0, 0), err)
	// Output: 0.5 <nil>
}

// Minimise leaves the nodes that fail, and Write makes a test of them.
func ExampleMinimise() {
	c := net()
	m, err := debug.Minimise(context.Background(), c, debug.Fails([]passes.Pass{doubleNeg}, passes.Options{}, nil))
	if err != nil {
		fmt.Println(err)
	}
	fmt.Print(m.Module.Graph)
	src, err := debug.Write(m, debug.TestFile{Package: "rules_test", Name: "TestDoubleNeg", Imports: []string{"example.com/rules"},
		Fails: "debug.Fails([]passes.Pass{rules.DoubleNeg}, passes.Options{}, nil)"})
	fmt.Println(strings.Count(string(src), "\n") > 20, err)
	// Output:
	// gofx 1
	//
	// graph net(%c_1 "c": f32[1,1]) {
	//   %d = call_function[sigmoid](%c_1) : f32[1,1]
	//   %e = call_function[neg](%d) : f32[1,1]
	//   %f = call_function[neg](%e) : f32[1,1]
	//   return %f
	// }
	// true <nil>
}

// Read makes a case of a written one: tensors that are not given follow from a formula.
func ExampleRead() {
	c, err := debug.Read("gofx 1\n\ngraph g(%x: f32[2], %y: i64[N]) {\n  return %x, %y\n}\n", debug.Tensors{"%y": "i64[1] BwAAAAAAAAA="})
	fmt.Println(c.Inputs[0].Shape(), array.At[int64](c.Inputs[1], 0), err)
	// Output: [2] 7 <nil>
}

// zeros is an engine that computes nothing.
type zeros struct{ m *graph.Module }

func (z zeros) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	p := interp.Interpreter{State: interp.NewState(z.m)}
	out, err := p.RunArrays(ctx, in)
	for i, a := range out {
		out[i] = array.New(a.DType(), a.Shape()...)
	}
	return out, err
}

// Differs compares an engine with the interpreter.
func ExampleDiffers() {
	c := net()
	fails := debug.Differs(c.Module, passes.Numeric{}, func(m *graph.Module) (debug.Engine, error) { return zeros{m}, nil })
	err := fails(context.Background(), c).(*diag.Error)
	fmt.Println(err.Code)
	// Output: FX3083
}
