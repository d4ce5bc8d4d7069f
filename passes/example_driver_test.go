package passes_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// chain is a graph with two negations and a value that nobody uses.
func chain() *graph.Module {
	m, err := graph.Parse([]byte(`gofx 1

graph chain(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %a = call_function[neg](%x)
  %b = call_function[neg](%a)
  %c = call_function[exp](%b)
  %unused = call_function[tanh](%b)
  return %c
}
`), "chain.fx")
	if err != nil {
		panic(err)
	}
	return m
}

var noDoubleNeg = passes.Rule(passes.Rewrite{
	Name: "double-neg", Doc: "Removes negation of a negation.",
	Pattern:     func(x *tensor.Tensor) *tensor.Tensor { return x.Neg().Neg() },
	Replacement: func(x *tensor.Tensor) *tensor.Tensor { return x },
})

// EachNode makes a pass of a function of one node.
func ExampleEachNode() {
	tanhToSigmoid := passes.EachNode("tanh-to-sigmoid", "Replaces tanh by sigmoid.", func(c *passes.Ctx, n *graph.Node) error {
		if n.Op() != std.Tanh {
			return nil
		}
		return c.Replace(n, n.Graph().Before(n).Function(std.Sigmoid, nil, n.Arg(0)), "an example")
	})
	m := chain()
	report, err := passes.Run(context.Background(), m, []passes.Pass{tanhToSigmoid}, passes.Options{})
	fmt.Println(report.Matches("tanh-to-sigmoid"), err)
	// Output: 1 <nil>
}

// Run checks, compares and reports; Explain says what was done, and why.
func ExampleReport() {
	m := chain()
	report, err := passes.Run(context.Background(), m, []passes.Pass{noDoubleNeg, simplify.DCE},
		passes.Options{Numeric: &passes.Numeric{Sizes: map[string]int{"N": 3}}})
	fmt.Println(report.Changed(), err)
	for _, p := range report.Passes {
		fmt.Println(p.Name, p.Matches, p.NodesBefore, p.NodesAfter)
	}
	fmt.Print(m.Graph)
	// Output:
	// true <nil>
	// double-neg 1 6 4
	// dce 1 4 3
	// gofx 1
	//
	// graph chain(%x: f32[N,4]) {
	//   symbol N = dim(%x, 0)
	//   %c = call_function[exp](%x) : f32[N,4]
	//   return %c
	// }
}

// Concat, Fixpoint and Rules make one pass of several.
func ExampleConcat() {
	both := passes.Concat("clean", "Removes double negations and what is unused.", noDoubleNeg, simplify.DCE)
	report, err := passes.Run(context.Background(), chain(), []passes.Pass{both}, passes.Options{})
	fmt.Println(report.Matches("clean"), err)
	// Output: 2 <nil>
}

func ExampleFixpoint() {
	p := passes.Fixpoint(noDoubleNeg, 10)
	_, err := passes.Run(context.Background(), chain(), []passes.Pass{p}, passes.Options{})
	fmt.Println(p.Name, err)
	// Output: double-neg <nil>
}

func ExampleRules() {
	p := passes.Rules("peephole", "Applies small rules until nothing changes.", 10, noDoubleNeg, simplify.DCE)
	report, err := passes.Run(context.Background(), chain(), []passes.Pass{p}, passes.Options{})
	fmt.Println(report.Matches("peephole"), err)
	// Output: 2 <nil>
}

// Expect and ExpectAtLeast make missing matches an error.
func ExampleExpect() {
	_, err := passes.Run(context.Background(), chain(), []passes.Pass{noDoubleNeg},
		passes.Options{Expect: []passes.Expectation{passes.Expect("double-neg", 2)}})
	fmt.Println(err)
	_, err = passes.Run(context.Background(), chain(), []passes.Pass{noDoubleNeg},
		passes.Options{Expect: []passes.Expectation{passes.ExpectAtLeast("double-neg", 1)}})
	fmt.Println(err)
	// Output:
	// matched 1 times, expected 2 [FX3025]
	//     while running pass double-neg
	// <nil>
}

func ExampleExplain() {
	r := passes.Rewrite{Name: "double-neg", Doc: "Removes negation of a negation.",
		Pattern:     func(x *tensor.Tensor) *tensor.Tensor { return x.Neg().Neg() },
		Replacement: func(x *tensor.Tensor) *tensor.Tensor { return x }}
	g := chain().Graph
	for _, name := range []string{"a", "b"} {
		why, err := passes.Explain(r, g.Find(name))
		fmt.Printf("%q %v\n", why, err)
	}
	// Output:
	// "matched 1 of 2: at %x: is placeholder, the pattern has neg" <nil>
	// "" <nil>
}

func ExampleCheckOrder() {
	err := passes.CheckOrder([]passes.Pass{simplify.ConstFold, simplify.Functionalize})
	fmt.Println(err)
	// Output:
	// pass functionalize runs after const-fold, expected it before: what calls of modules compute from parameters alone is seen as operands only [FX3020]
	//     hint: exchange them
}

// NewCtx runs a pass outside of the driver.
func ExampleNewCtx() {
	m := chain()
	c := passes.NewCtx(context.Background(), m)
	changed, err := simplify.DCE.Run(c, m.Graph)
	fmt.Println(changed, err, c.Matches())
	for _, e := range c.Log() {
		fmt.Println(e.Node, e.Why)
	}
	// Output:
	// true <nil> 1
	// %unused unused
}

// Training tells what Fact EvalMode forbids.
func ExampleTraining() {
	g := chain().Graph
	n := g.After(g.Find("a")).Function(std.BatchNorm, tensor.BatchNormAttrs{Eps: 1e-5, Training: true}, g.Find("a"), nil, nil, nil, nil)
	fmt.Println(passes.Training(n), passes.Training(g.Find("a")))
	// Output: true false
}

// Inputs makes inputs that fit a graph.
func ExampleInputs() {
	in, err := passes.Inputs(chain().Graph, map[string]int{"N": 3}, 1)
	fmt.Println(shape.TypeOf(in[0]), err)

	r := passes.Random{State: 1}
	fmt.Println(shape.TypeOf(r.Array(array.I64, 2, 2)))
	// Output:
	// f32[3,4] <nil>
	// i64[2,2]
}

// Differ compares arrays with a tolerance, Diff compares texts.
func ExampleDiffer() {
	a, b := array.FromSlice([]float32{1, 2}), array.FromSlice([]float32{1, 2.5})
	fmt.Printf("%q\n", passes.Differ(a, a, 1e-6, 0))
	fmt.Println(passes.Differ(b, a, 1e-6, 0))
	// Output:
	// ""
	// differs at element 1: 2.5, the original gives 2
}

func ExampleDiff() {
	fmt.Print(passes.Diff("a\nb\nc\n", "a\nx\nc\n"))
	// Output:
	// a
	// -b
	// +x
	//  c
}

// MergeTypes joins what is known; Conflict says what cannot be joined.
func ExampleMergeTypes() {
	a, _ := shape.ParseType("f32[N,?]")
	b, _ := shape.ParseType("?[?,4]")
	c, _ := shape.ParseType("f32[N,4,2]")
	fmt.Println(passes.MergeTypes(a, b))
	fmt.Println(passes.DescribeConflict(a, c))
	// Output:
	// f32[N,4]
	// f32[N,?] instead of f32[N,4,2]
}

func ExampleDescribeConflict() {
	a, _ := shape.ParseType("f32[3]")
	b, _ := shape.ParseType("f32[4]")
	n, _ := shape.ParseType("f32[N]")
	fmt.Printf("%s; %q\n", passes.DescribeConflict(a, b), passes.DescribeConflict(a, n))
	// Output: f32[3] instead of f32[4]; ""
}

func ExampleKeepType() {
	g := chain().Graph
	n := g.Find("a")
	n.SetType(shape.Unranked(array.F32))
	t, _ := shape.ParseType("f32[N,4]")
	passes.KeepType(n, t)
	fmt.Println(n.Type())
	// Output: f32[N,4]
}

// Params tells which operands are constant and who else reads them.
func ExampleNewParams() {
	m, err := graph.Parse([]byte(`gofx 1

graph net(%x: f32[N,2]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[2,2]
  %a = call_function[linear](%x, %w, _)
  %b = call_function[linear](%a, %w, _)
  return %b
}
param w : f32[2,2]
`), "net.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	m.SetParam(graph.Param{Path: "w", Value: array.FromSlice([]float32{1, 0, 0, 1}, 2, 2)})
	p, a := passes.NewParams(m, m.Graph), m.Graph.Find("a")
	path, value, why := p.Constant(a, 1)
	fmt.Printf("%s %v %q\n", path, value.Shape(), why)
	fmt.Println(p.Reader(path, a))
	// Output:
	// w [2 2] ""
	// %b
}

// Where names a node for the reason of a refusal.
func ExampleWhere() {
	fmt.Println(passes.Where(chain().Graph.Find("a")))
	// Output: %a
}

// Gives follows a captured value through rewrites.
func ExampleCapturedName() {
	m := chain()
	tanhToSigmoid := passes.EachNode("tanh-to-sigmoid", "Replaces tanh by sigmoid.", func(c *passes.Ctx, n *graph.Node) error {
		if n.Op() != std.Tanh {
			return nil
		}
		return c.Replace(n, n.Graph().Before(n).Function(std.Sigmoid, nil, n.Arg(0)), "an example")
	})
	_, err := passes.Run(context.Background(), m, []passes.Pass{tanhToSigmoid}, passes.Options{})
	fmt.Println(passes.CapturedName(m.Graph.Find("sigmoid")), passes.CapturedName(m.Graph.Find("c")), err)
	// Output: unused c <nil>
}

// LintEach names the rewrite that breaks the graph.
func ExampleOptions_lintEach() {
	m := chain()
	careless := passes.EachNode("careless", "Forgets what a value is.", func(c *passes.Ctx, n *graph.Node) error {
		if n.Op() == std.Neg {
			n.SetType(shape.TensorType(array.I64, shape.ConstDims(1)))
			c.Rewrote(n, nil, "an example")
		}
		return nil
	})
	_, err := passes.Run(context.Background(), m, []passes.Pass{careless}, passes.Options{LintEach: true})
	e := err.(*diag.Error)
	fmt.Println(e.Code, e.Phase, e.Msg)
	// Output: FX3023 pass careless invalid graph after rewrite 1, %a changed: an example
}
