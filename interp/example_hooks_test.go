package interp_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

// blocks has two modules, one of which divides.
func blocks() *graph.Module {
	m, err := graph.Parse([]byte(`gofx 1

graph net(%x: f32[N]) {
  symbol N = dim(%x, 0)
  %a = call_function[neg](%x) : f32[N] in "encoder.first" at "net.go:10" "(*Net).Forward"
  %b = call_function[exp](%a) : f32[N] in "encoder.second" at "net.go:11" "(*Net).Forward"
  %c = call_function[div](%x, %a) : f32[N] in "decoder" at "net.go:20" "(*Net).Forward"
  %d = call_function[mul](%b, %c) : f32[N] at "net.go:30" "(*Net).Forward"
  return %d
}
`), "net.fx")
	if err != nil {
		panic(err)
	}
	return m
}

type next = func([]interp.Result) (interp.Result, error)

// A profiler counts calls and adds up time, by operator.
func ExampleInterpreter_profiler() {
	type cost struct {
		calls int
		time  time.Duration
	}
	costs := map[string]*cost{}
	p := &interp.Interpreter{State: interp.NewState(blocks())}
	p.CallFunction = func(n *graph.Node, in []interp.Result, next next) (interp.Result, error) {
		c := costs[n.Op().Name]
		if c == nil {
			c = &cost{}
			costs[n.Op().Name] = c
		}
		start := time.Now()
		defer func() { c.calls, c.time = c.calls+1, c.time+time.Since(start) }()
		return next(in)
	}
	for range 3 {
		if _, err := p.Run(context.Background(), tensor.Ones(4)); err != nil {
			fmt.Println(err)
		}
	}
	for _, name := range []string{"neg", "exp", "div", "mul"} {
		fmt.Println(name, costs[name].calls, costs[name].time >= 0)
	}
	// Output:
	// neg 3 true
	// exp 3 true
	// div 3 true
	// mul 3 true
}

// The first node whose value is not finite, while its operands are, is the culprit.
func ExampleInterpreter_nonFinite() {
	finite := func(v interp.Result) bool {
		return v.T == nil || !slices.ContainsFunc(tensor.Data[float32](v.T), func(f float32) bool {
			return math.IsNaN(float64(f)) || math.IsInf(float64(f), 0)
		})
	}
	p := &interp.Interpreter{State: interp.NewState(blocks())}
	p.CallFunction = func(n *graph.Node, in []interp.Result, next next) (interp.Result, error) {
		v, err := next(in)
		if err == nil && !finite(v) && !slices.ContainsFunc(in, func(v interp.Result) bool { return !finite(v) }) {
			fmt.Println(n, n.Op().Name, "at", n.Pos(), "makes", tensor.Data[float32](v.T))
		}
		return v, err
	}
	_, err := p.Run(context.Background(), tensor.FromSlice([]float32{1, 0}))
	fmt.Println(err)
	// Output:
	// %c div at net.go:20 makes [-1 NaN]
	// <nil>
}

// A logger of activations writes what goes through chosen nodes.
func ExampleInterpreter_activations() {
	p := &interp.Interpreter{State: interp.NewState(blocks())}
	wanted := map[string]bool{"encoder.second": true, "decoder": true}
	p.Node = func(n *graph.Node, in []interp.Result, next next) (interp.Result, error) {
		v, err := next(in)
		if err == nil && wanted[n.Scope().Path] {
			fmt.Printf("%s: %v, mean %.3f\n", n.Scope().Path, v.T.Type(), v.T.Mean().Item())
		}
		return v, err
	}
	_, err := p.Run(context.Background(), tensor.FromSlice([]float32{1, 2}))
	fmt.Println(err)
	// Output:
	// encoder.second: f32[2], mean 0.252
	// decoder: f32[2], mean -1.000
	// <nil>
}

// Time by module: a call counts for its module and for those around it.
func ExampleInterpreter_modules() {
	spent, calls := map[string]time.Duration{}, map[string]int{}
	p := &interp.Interpreter{State: interp.NewState(blocks())}
	p.CallFunction = func(n *graph.Node, in []interp.Result, next next) (interp.Result, error) {
		start := time.Now()
		v, err := next(in)
		took, path := time.Since(start), n.Scope().Path
		for i := 0; i <= len(path); i++ {
			if i == len(path) || path[i] == '.' {
				spent[path[:i]] += took
				calls[path[:i]]++
			}
		}
		return v, err
	}
	_, err := p.Run(context.Background(), tensor.Ones(2))
	fmt.Println(err, spent["encoder"] >= spent["encoder.first"])
	for _, path := range []string{"encoder", "encoder.first", "decoder", ""} {
		fmt.Printf("%q %d\n", path, calls[path])
	}
	// Output:
	// <nil> true
	// "encoder" 2
	// "encoder.first" 1
	// "decoder" 1
	// "" 1
}

// made says that a rewrite made a node.
type made string

func (m made) MadeBy() string { return "pass " + string(m) }

// An error of a run names the node, the line of the model, and the pass that made the
// node, where side data say so.
func ExampleInterpreter_errors() {
	m := blocks()
	g := m.Graph
	d := g.Find("d")
	d.SetArg(0, g.Before(d).Function(std.Cat, tensor.DimAttrs{}, d.Arg(0), d.Arg(0))) // of another size
	graph.NewKey[made]("made").Set(d, "doubling")
	state := interp.NewState(m)
	_, err := (&interp.Interpreter{State: state}).RunArrays(context.Background(), []*array.Array{array.FromSlice([]float32{1, 2})})
	fmt.Println(err)
	// Output:
	// net.go:30: mul: shapes [4] and [2] do not broadcast: dimension -1 is 4 and 2 [FX2001]
	//     net.go:30: %d was made by pass doubling
}
