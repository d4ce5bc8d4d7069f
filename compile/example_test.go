package compile_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/tensor"
)

// Scaler counts its calls.
type Scaler struct {
	Gain  float64
	Calls int
}

// Step is an ordinary method.
func (s *Scaler) Step(x *tensor.Tensor) *tensor.Tensor {
	s.Calls++
	return x.MulScalar(s.Gain).Relu()
}

type stepArgs struct {
	Receiver *Scaler
	X        *tensor.Tensor
}

type stepResults struct{ Y *tensor.Tensor }

// The first call runs Step. Later ones run the graph and count, until a word that Step reads is another one.
func ExampleNew() {
	const name = "github.com/gofx-dev/gofx/compile_test.Scaler"
	table := state.Table{
		Func: "(*Scaler).Step", Receiver: true,
		Fields: []state.Field{
			{Type: name, Name: "Gain", FieldType: "float64", Access: state.Load, Line: "scaler.go:18"},
			{Type: name, Name: "Calls", FieldType: "int", Access: state.Load | state.Store | state.Adds, Line: "scaler.go:17"},
		},
	}
	step := compile.New(table, func(in *stepArgs, out *stepResults) { out.Y = in.Receiver.Step(in.X) }, compile.LiftAfter(2))
	defer step.Close()
	s := &Scaler{Gain: 2}
	for i := range 4 {
		if i == 3 {
			s.Gain = 3
		}
		fmt.Println(step.Call(stepArgs{s, tensor.FromSlice([]float32{float32(i), -1})}).Y)
	}
	fmt.Println(s.Calls, "calls are counted")
	if err := step.Explain(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// tensor([0., 0.])
	// tensor([2., 0.])
	// tensor([4., 0.])
	// tensor([9., 0.])
	// 4 calls are counted
	// (*Scaler).Step
	// calls     4
	// hits      2
	// misses    2
	// captures  2
	// records   2
	// record 1: 5 comparisons, 2 calls, 2 stores
	// record 2: 5 comparisons, 2 calls, 2 stores
	// missed 1: Receiver.Gain, read at scaler.go:18
}

// A function that must not run as it is panics where it would.
func ExampleStrict() {
	table := state.Table{Func: "Seeded", Opaque: []state.Place{{Line: "seeded.go:7", What: "a call of time.Now", Why: "it reads the clock"}}}
	f := compile.New(table, func(in *xIn, out *oneOut) { out.R = in.X.Neg() }, compile.Strict())
	fmt.Println(caught(func() { f.Call(xIn{tensor.Ones(1)}) }) != nil)
	// Output: true
}

// Misses are told as they happen.
func ExampleOnMiss() {
	f := compile.New(dimTable, func(in *dimIn, out *oneOut) { in.M.dim = in.D; out.R = in.X.Neg() }, compile.OnMiss(func(m compile.Miss) { fmt.Printf("%q\n", m.Path) }))
	d := &dims{}
	for _, n := range []int{0, 0, 1} {
		f.Call(dimIn{d, n, tensor.Ones(1)})
	}
	fmt.Print(f.Stats())
	// Output:
	// ""
	// "D"
	// calls     3
	// hits      1
	// misses    2
	// captures  2
	// records   2
}

// With room for one record, the second setting takes the place of the first. No third record is made: what lacks one
// runs in a session.
func ExampleCapacity() {
	f := compile.New(dimTable, func(in *dimIn, out *oneOut) { in.M.dim = in.D; out.R = in.X.Neg() }, compile.Capacity(1))
	d := &dims{}
	for i := range 6 {
		f.Call(dimIn{d, i % 2, tensor.Ones(1)})
	}
	fmt.Print(f.Stats())
	// Output:
	// calls     6
	// hits      2
	// misses    4
	// captures  2
	// records   2
	// evicted   1
	// lazy      2
	// segments  2
}

// A weight that is written between calls is read at each call from the second write on.
func ExampleLiftAfter() {
	f := compile.New(weightTable, func(in *weightIn, out *oneOut) { out.R = in.X.Mul(in.M.W) }, compile.LiftAfter(2))
	m := &weighted{tensor.Zeros(2)}
	for range 6 {
		fmt.Print(f.Call(weightIn{m, tensor.Ones(2)}).R, " ")
		m.W.AddScalarInPlace(1)
	}
	fmt.Println(f.Stats().Hits, "hits")
	// Output:
	// tensor([0., 0.]) tensor([1., 1.]) tensor([2., 2.]) tensor([3., 3.]) tensor([4., 4.]) tensor([5., 5.]) 2 hits
}

// An audit finds what the table lacks.
func ExampleAudit() {
	factor := 1.0
	f := compile.New(state.Table{Func: "f"}, func(in *xIn, out *oneOut) { out.R = in.X.MulScalar(factor) }, compile.Audit(2))
	f.Call(xIn{tensor.Ones(1)})
	f.Call(xIn{tensor.Ones(1)})
	factor = 2
	fmt.Println(errors.Is(caught(func() { f.Call(xIn{tensor.Ones(1)}) }), compile.Differs))
	// Output: true
}

// Another target, here one that may round otherwise.
func ExampleOn() {
	f := compile.New(state.Table{Func: "f"}, func(in *xIn, out *oneOut) { out.R = in.X.Exp() }, compile.On(cpu.Target{}, lowering.Options{}))
	for range 2 {
		fmt.Println(f.Call(xIn{tensor.Zeros(1)}).R)
	}
	// Output:
	// tensor([1.])
	// tensor([1.])
}
