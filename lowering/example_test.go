package lowering_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

func example() *graph.Module {
	m, err := graph.Parse([]byte(`gofx 1

graph f(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %a = call_method[softmin](%x) {dim=-1}
  %b = call_function[exp](%x)
  return (%a, %b)
}
`), "f.fx")
	if err != nil {
		panic(err)
	}
	return m
}

// Query lists what a target cannot run, without compiling.
func ExampleQuery() {
	m := example()
	fmt.Println(lowering.Query(cpu.Target{}, m.Graph).Err())

	opaque := op.NewAdHoc("example.com/net", "lookup", op.Args("x"), true, false, nil)
	m.Graph.After(m.Graph.Find("b")).Function(opaque, nil, m.Graph.Find("b"))
	for _, e := range lowering.Query(cpu.Target{}, m.Graph) {
		fmt.Println(e.Code, e.Node)
	}
	// Output:
	// <nil>
	// FX5001 lookup
}

// A target of your own lets an Entry check what a run is given: it has the interpreter's errors.
func ExampleNewEntry() {
	m := example()
	m.Graph.Require(shape.Multiple(shape.Sym("N"), shape.Const(2)), nil)
	entry := lowering.NewEntry(m.Graph)
	for _, rows := range []int{6, 7} {
		values, err := entry.Check(lowering.Hosts([]*array.Array{array.New(array.F32, rows, 4)}))
		if err != nil {
			fmt.Println(err)
			continue
		}
		for _, s := range entry.Open() {
			n, _ := entry.Size(s.Name, values)
			fmt.Println(s.Name, "is", n)
		}
	}
	// Output:
	// N is 6
	// input "x" is f32[7,4]: the graph needs N (axis 0, here 7) divisible by 2 [FX1022]
	//     hint: give other sizes, or capture the graph again for these
}

// vector is a target for additions and maxima. It stands for an accelerator; here
// it lets the cpu target compute.
type vector struct{}

func (vector) Name() string { return "vector" }

func (vector) Supports(n *graph.Node) (bool, string) {
	return n.Op() == std.Add || n.Op() == std.Maximum, "it adds and compares"
}

func (vector) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	return cpu.Compile(m, o)
}

// Split runs on one target what it supports, the rest on another one, and counts what
// goes from one to the other.
func ExampleSplit() {
	m, err := graph.Parse([]byte(`gofx 1

graph f(%x: f32[N,4], %y: f32[N,4]) {
  symbol N = dim(%x, 0)
  %a = call_function[add](%x, %y) : f32[N,4]
  %b = call_function[exp](%a) : f32[N,4]
  %c = call_function[maximum](%b, %y) : f32[N,4]
  return %c
}
`), "f.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := lowering.Split{First: vector{}, Rest: cpu.Target{}}.Pieces(m, lowering.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	fmt.Print(e)
	x := array.FromSlice([]float32{0, 1, 2, 3}, 1, 4)
	out, err := e.Run(context.Background(), []*array.Array{x, array.New(array.F32, 1, 4)})
	fmt.Println(out[0].Shape(), err)
	s := e.Stats()
	fmt.Println("in", s.In, "out", s.Out, "runs", s.Runs)
	// Output:
	// part vector0 on vector: 1 calls
	// part cpu0 on cpu: 1 calls
	// part vector1 on vector: 1 calls
	// %b on cpu: vector: it adds and compares
	// %x to vector0: f32[N,4]
	// %y to vector0: f32[N,4]
	// %vector0 from vector0: f32[N,4]
	// %cpu0 to vector1: f32[N,4]
	// %y to vector1: f32[N,4]
	// %vector1 from vector1: f32[N,4]
	// [1 4] <nil>
	// in {4 64} out {2 32} runs 1
}

// Prepare brings a copy of a graph into the form that targets start from.
func ExamplePrepare() {
	ready, err := lowering.Prepare(example(), lowering.Options{Shapes: map[string]int{"N": 2}, Outputs: []int{0}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(ready.Graph)
	// Output:
	// gofx 1
	//
	// graph f(%x: f32[2,4]) {
	//   symbol N = dim(%x, 0)
	//   %a = call_function[softmin](%x) {dim=-1} : f32[2,4]
	//   return (%a)
	// }
}

// Legalize expands composite operators until a target takes every call.
func ExampleLegalize() {
	ready, err := lowering.Prepare(example(), lowering.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	rules := lowering.Rules[string]{std.Exp: "vexp", std.Neg: "vneg", std.Softmax: "vsoftmax"}
	err = lowering.Legalize(ready.Graph, "toy", func(n *graph.Node) (bool, string) {
		_, ok := rules.Find(n)
		return ok, "no rule"
	})
	fmt.Println(err)
	for n := range ready.Graph.Nodes() {
		if rule, ok := rules.Find(n); ok {
			fmt.Println(rule, n, lowering.SourceOf(n))
		}
	}
	// Output:
	// <nil>
	// vneg %neg {a softmin}
	// vsoftmax %softmax {a softmin}
	// vexp %b {b exp}
}

// Refuse makes the error of a node that a target cannot run.
func ExampleRefuse() {
	fmt.Println(lowering.Refuse(example().Graph.Find("b"), "toy", "no exponentials here"))
	// Output:
	// node %b: exp: target toy cannot run exp: no exponentials here [FX5001]
	//     hint: give the target a rule for it, or let another one run it (lowering.Split)
}

// At starts an error about the user's call that a node comes from.
func ExampleAt() {
	ready, err := lowering.Prepare(example(), lowering.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	softmax := func(n *graph.Node) (bool, string) { return !n.Op().Composite(), "" }
	if err := lowering.Legalize(ready.Graph, "toy", softmax); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lowering.At(ready.Graph.Find("softmax"), lowering.UnknownSize, "how long is a row?"))
	// Output: node %a: softmin: how long is a row? [FX5004]
}

// Runs are what Close of a target's executable waits for.
func ExampleRuns() {
	var runs lowering.Runs
	run := func() error {
		if err := runs.Begin(); err != nil {
			return err
		}
		defer runs.End()
		return nil // what the device does
	}
	fmt.Println(run())
	if runs.Close() {
		fmt.Println("the device's memory is given back, once")
	}
	fmt.Println(run())
	// Output:
	// <nil>
	// the device's memory is given back, once
	// the executable is closed, expected an open one [FX5006]
	//     hint: compile the module again
}

// NoSymbol is the error of a target whose setting names a symbol.
func ExampleNoSymbol() {
	fmt.Println(lowering.NoSymbol(example().Graph, "K", "is cut along an axis"))
	// Output:
	// symbol "K" is cut along an axis, the graph has no such symbol [FX5005]
	//     hint: symbols of the graph: N
}

// Judge says what Target.Supports is to say of a call that a target may expand.
func ExampleTryCall() {
	direct := func(n *graph.Node) (bool, string) { return n.Op() == std.Neg, "there is no rule" }
	try := func(m *graph.Module) error { return lowering.Legalize(m.Graph, "toy", direct) }
	fmt.Println(lowering.TryCall(example().Graph.Find("a"), try))
	// Output: false it is made of softmax; there is no rule
}

// Trial makes a module of one call, on which a target can try its rules.
func ExampleIsolateCall() {
	fmt.Print(lowering.IsolateCall(example().Graph.Find("b")).Graph)
	// Output:
	// gofx 1
	//
	// graph trial(%x: f32[N,4]) {
	//   %exp = call_function[exp](%x) : f32[N,4]
	//   return %exp
	// }
}

// SourceOf names the user's call that a node comes from.
func ExampleSourceOf() {
	fmt.Println(lowering.SourceOf(example().Graph.Find("a")))
	// Output: {a softmin}
}

// PrepareRegion makes a module of the body of a call with regions.
func ExamplePrepareRegion() {
	m, err := graph.Parse([]byte(`gofx 1

graph f(%p: bool[], %x: f32[N]) {
  symbol N = dim(%x, 0)
  %y = call_function[cond](%p, %x) : f32[N] {
    region(%a: f32[N]) {
      %neg = call_function[neg](%a)
      return %neg
    }
    region(%a: f32[N]) {
      return %a
    }
  }
  return %y
}
`), "f.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	ready, err := lowering.Prepare(m, lowering.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	y := ready.Graph.Find("y")
	body, err := lowering.PrepareRegion(ready, y.Regions()[0], []shape.Type{y.Type()})
	fmt.Println(err)
	fmt.Print(body.Graph)
	// Output:
	// <nil>
	// gofx 1
	//
	// graph(%a: f32[N]) {
	//   symbol N = dim(%a, 0)
	//   %neg = call_function[neg](%a) : f32[N]
	//   return %neg
	// }
}

// Options.Key tells options apart that need compilations of their own.
func ExampleOptions_Key() {
	a, b := lowering.Options{Shapes: map[string]int{"N": 1}}, lowering.Options{Shapes: map[string]int{"N": 2}}
	fmt.Println(a.Key() == b.Key(), a.Check(example()))
	// Output: false <nil>
}

// Bound refuses what no machine holds, and what the caller does not allow.
func ExampleBound() {
	m, err := graph.Parse([]byte(`gofx 1

graph f(%x: f32[1,4]) {
  %y = call_function[expand](%x) {shape=[1048576,4]} : f32[1048576,4]
  %z = call_function[relu](%y) : f32[1048576,4]
  return %z
}
`), "f.fx")
	if err != nil {
		panic(err)
	}
	fmt.Println(lowering.Bound(m.Graph, lowering.Options{}))
	fmt.Println(lowering.Bound(m.Graph, lowering.Options{MaxBytes: 1 << 20}))
	// Output:
	// <nil>
	// node %z: relu: f32[1048576,4] takes 16777216 bytes, expected at most 1048576 [FX2009]
	//     hint: check the sizes; Options.MaxBytes, and -max-bytes of fxgen, change the limit
}
