package lazy_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// The steps of docs/lazy-guide.md.

// refine halves x until it is small: how often depends on its elements.
func refine(x *tensor.Tensor) (*tensor.Tensor, int) {
	steps := 0
	for x.Abs().Amax().Item() > 1 {
		x = x.MulScalar(0.5).Sub(x.Tanh())
		steps++
	}
	return x, steps
}

func Example_guide1() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	x := s.In(tensor.FromSlice([]float32{9, -7}))
	y, steps := refine(x)
	fmt.Println(steps, y.Shape())
	// Output: 2 [2]
}

func Example_guide2() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	x := s.In(tensor.Ones(3))
	y := x.Exp().AddScalar(1)
	y = y.Reshape(1, 3)
	fmt.Println(y.Shape(), y.DType(), s.Stats().Runs)
	fmt.Println(y.Sum().Item() > 11, s.Stats().Runs)
	// Output:
	// [1 3] f32 0
	// true 4
}

func Example_guide3() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	refine(s.In(tensor.FromSlice([]float32{9, -7})))
	for _, g := range s.Explain().Graphs {
		fmt.Println("graph", g.Number, "has", g.Calls, "calls and ran", g.Runs, "times")
	}
	// Output:
	// graph 1 has 2 calls and ran 1 times
	// graph 2 has 5 calls and ran 2 times
}

func Example_guide4() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	step := func(x *tensor.Tensor) float64 {
		y := x.Exp()
		_ = y.String() // left from a search for a mistake
		return y.Sum().Item()
	}
	step(s.In(tensor.Ones(3)))
	fmt.Println(s.Stats().Flushes)
	err := s.NoFlush(func() { step(s.In(tensor.Ones(3))) })
	fmt.Println(err.(*diag.Error).Msg)
	// Output:
	// map[item:1 print:1]
	// data is asked for inside NoFlush
}

func Example_guide5() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	for range 5 {
		s.In(tensor.Ones(3)).Exp().Sum().Item()
		s.Wait() // for the compiler, which a program does not do
	}
	g := s.Explain().Graphs[0]
	fmt.Println(g.Interpreted, "runs call by call,", g.Compiled, "as a plan")
	// Output: 3 runs call by call, 2 as a plan
}

func Example_guide6() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	for _, size := range []int{10, 10, 5} {
		s.In(tensor.Ones(size)).Exp().Sum().Item()
	}
	d := s.Explain().Graphs[1].Differs
	fmt.Println(d.Read, "and", d.Other)
	// Output: x0 f32[5] and x0 f32[10]
}

func Example_guide7() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	layer := nn.NewLinear(2, 1)
	before := layer.Bias.Clone()
	layer.Bias.SubInPlace(s.In(tensor.Ones(1)))
	if err := s.Barrier(); err != nil { // writes the bias
		fmt.Println(err)
	}
	fmt.Println(layer.Bias.Equal(before.SubScalar(1)))
	// Output: true
}

func Example_guide8() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	index := tensor.FromSlice([]int64{5})
	bad := s.In(tensor.Ones(2)).Gather(s.In(index), 0)
	defer func() {
		e := recover().(*diag.Error)
		fmt.Println(base(e.Pos) == "guide_test.go", e.Op)
	}()
	bad.Sum().Item() // the error has the line of Gather
	// Output: true gather
}

func Example_guide9() {
	s := lazy.New(lazy.Options{Rounding: true})
	defer s.Close()
	s.In(tensor.Ones(3)).Exp().Sum().Item()
	fmt.Println(s.Stats().Hits, "flush ran compiled")
	// Output: 1 flush ran compiled
}

func Example_guide10() {
	s := lazy.New(lazy.Options{})
	y := s.In(tensor.Ones(3)).MulScalar(2)
	if err := s.Close(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(y)
	// Output: tensor([2., 2., 2.])
}
