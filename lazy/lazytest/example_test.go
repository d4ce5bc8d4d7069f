package lazytest_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lazy/lazytest"
	"github.com/gofx-dev/gofx/lowering/generated"
	"github.com/gofx-dev/gofx/tensor"
)

// printing stands for the *testing.T of a test.
type printing struct{}

func (printing) Helper() {}

func (printing) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

var t printing

// A step of the loop may read one number, its loss.
func ExampleFlushes() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	x := s.In(tensor.Ones(3))
	lazytest.Flushes(t, s, lazy.Counts{lazy.Item: 1}, func() {
		loss := x.Exp().Sum()
		fmt.Println(loss) // someone wants to see it
		loss.Item()
	})
	// Output:
	// tensor(8.1548)
	// the step computes print 1, expected item 1; read values after the step, or change the counts
	//   print at example_test.go:28, 1 time
}

// A new size makes a new graph.
func ExampleMaxGraphs() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	for _, size := range []int{10, 10, 5} {
		s.In(tensor.Ones(size)).Exp().Sum().Item()
	}
	lazytest.MaxGraphs(t, s, 1)
	// Output:
	// the session has met 2 graphs, expected at most 1; what differs from step to step is not to change calls or sizes
	// graph 2 differs from graph 1 at call 1
	//   this: %exp = call_function[exp](%x0) : f32[5]  # example_test.go:42
	//   1:    %exp = call_function[exp](%x0) : f32[10]  # example_test.go:42
	//   reads x0 f32[5], there x0 f32[10]
}

// The graphs of a step are reviewed with the code that makes them.
func ExampleGolden() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	s.In(tensor.Ones(3)).Exp().Sum().Item()
	lazytest.Golden(t, s, "testdata/exp.graphs")
	text, err := lazytest.Text(s.Explain()) // as the file has it
	if err != nil {
		fmt.Println(err)
	}
	fmt.Print(text)
	wrong, err := lazytest.Compare(s.Explain(), "testdata/step.graphs")
	fmt.Println(wrong[0], err)
	// Output:
	// gofx 1
	//
	// graph lazy(%x0: f32[3]) {
	//   %exp = call_function[exp](%x0) : f32[3]
	//   %sum = call_function[sum](%exp) : f32[]
	//   return %sum
	// }
	// ----
	// graph 1 is not in testdata/step.graphs
	//   got  graph lazy(%x0: f32[3]) {
	//   want graph lazy(%x0: f32[4]) {  # step.graphs:3 <nil>
}

// A service that ships generated graphs is not to take a path that has none.
func ExampleGenerated() {
	graphs := &generated.Graphs{} // steps.Graphs, of the package that fxgen lazy -gen steps has written
	s := lazy.New(lazy.Options{Generated: graphs})
	defer s.Close()
	s.In(tensor.Ones(3)).Exp().Sum().Item()
	lazytest.Generated(t, s)
	// Output:
	// graph 1 is not in Options.Generated, 1 of its 1 runs had no code; generate again (fxgen lazy -gen) with inputs that take this path
	//   item at example_test.go:85, 1 time
}
