package lazy_test

import (
	"errors"
	"fmt"

	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// A session records calls on its tensors, and computes them together when the program looks
// at a number.
func ExampleNew() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	x := s.In(tensor.FromSlice([]float32{1, 2, 3}))
	y := x.MulScalar(2)
	y = y.Add(x).Sqrt()
	fmt.Println(s.Stats().Runs, "calls have run")
	if y.Sum().Item() > 4 { // data-dependent: ordinary Go
		y = y.Neg()
	}
	fmt.Println(y.Square().Sum())
	fmt.Println(s.Stats().Flushes)
	// Output:
	// 0 calls have run
	// tensor(18.)
	// map[item:1 print:1]
}

// The result has the elements of now; the model's code is the same as without a session.
func ExampleSession_In() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	net := nn.NewSequential(nn.NewLinear(4, 8), nn.NewReLU(), nn.NewLinear(8, 2))
	image := tensor.Ones(1, 4)
	fmt.Println(net.Forward(s.In(image)).Equal(net.Forward(image)))
	// Output: true
}

// A barrier computes what was recorded and writes the model's tensors that were changed in place.
func ExampleSession_Barrier() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	layer := nn.NewLinear(2, 1)
	before := layer.Bias.Clone()
	layer.Bias.SubInPlace(s.In(tensor.Ones(1)))
	if err := s.Barrier(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(layer.Bias.Equal(before.SubScalar(1)))
	// Output: true
}

// A test demands that a part of a program computes nothing.
func ExampleSession_NoFlush() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	x := s.In(tensor.Ones(3))
	err := s.NoFlush(func() { x.Sum().Item() })
	fmt.Println(errors.Is(err, lazy.Forbidden))
	// Output: true
}

// The third flush of a graph runs compiled, once the compiler is ready.
func ExampleSession_Wait() {
	s := lazy.New(lazy.Options{Warm: 2})
	defer s.Close()
	for i := range 5 {
		s.In(tensor.Ones(3).MulScalar(float64(i))).Exp().Sum().Item()
		s.Wait()
	}
	st := s.Stats()
	fmt.Println(st.Graphs, "graph,", st.Interpreted, "runs call by call,", st.Hits, "compiled")
	// Output: 1 graph, 3 runs call by call, 2 compiled
}

// A learning rate that changes is an input of the graph.
func ExamplePolicy() {
	for _, p := range []lazy.Policy{lazy.Auto, lazy.Fixed, lazy.Always} {
		s := lazy.New(lazy.Options{Scalars: p})
		for _, lr := range []float64{0.5, 0.25, 0.125, 0.1} {
			s.In(tensor.Ones(3)).MulScalar(lr).Sum().Item()
			s.Wait()
		}
		fmt.Println(p, s.Stats().Graphs)
		s.Close()
	}
	// Output:
	// auto 1
	// fixed 4
	// always 1
}

// Texts of many lengths: from the third on they are one graph.
func ExampleSymbol() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	for n := range 20 {
		s.In(tensor.Ones(2, n+5)).Softmax(1).Sum().Item()
	}
	graphs := s.Explain().Graphs
	for _, y := range graphs[len(graphs)-1].Symbols {
		fmt.Println(len(graphs), "graphs; axis", y.Axis, "had the sizes", y.Sizes)
	}
	// Output: 3 graphs; axis 1 had the sizes [5 6 7]
}

func ExampleSession_Stats() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	x := s.In(tensor.Ones(3))
	x.AddScalar(1).Sum().Item()
	fmt.Print(s.Stats())
	// Output:
	// calls        2
	// runs         2
	// flush item   1
	// graphs       1
	// interpreted  1
	// longest      2
}

// After Close, what was computed can be read, and the models are eager.
func ExampleSession_Close() {
	s := lazy.New(lazy.Options{})
	y := s.In(tensor.Ones(3)).MulScalar(2)
	if err := s.Close(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(y)
	// Output: tensor([2., 2., 2.])
}

// A tensor that lies turned is read as it lies, without a copy.
func ExampleLaid() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3).T()
	fmt.Println(x.Shape(), lazy.Laid(x.Array()).Shape())
	// Output: [3 2] [2 3]
}
