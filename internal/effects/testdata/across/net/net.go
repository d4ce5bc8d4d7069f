// Package net has compiled functions, written as fxgen compile does.
package net

import (
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/tensor"
)

type Counter struct {
	Gain  float64
	Steps int
}

func (c *Counter) Step(x *tensor.Tensor) *tensor.Tensor {
	c.Steps++
	return x.MulScalar(c.Gain)
}

// Compiled is made as generated code makes it.
type Compiled struct{ *compile.Func[stepIn, stepOut] }

type (
	stepIn struct {
		c *Counter
		x *tensor.Tensor
	}
	stepOut struct{ r0 *tensor.Tensor }
)

func CompileStep() *Compiled {
	return &Compiled{compile.New(state.Table{}, func(in *stepIn, out *stepOut) { out.r0 = in.c.Step(in.x) })}
}

func (fx *Compiled) Call(c *Counter, x *tensor.Tensor) *tensor.Tensor {
	return fx.Func.Call(stepIn{c, x}).r0
}

var (
	step = CompileStep()
	late = CompileStep()
)

func Step(c *Counter, x *tensor.Tensor) *tensor.Tensor { return step.Call(c, x) }

func Late(c *Counter, x *tensor.Tensor) *tensor.Tensor { return late.Call(c, x) }

func SetLate(f *Compiled) { late = f }

// In is a frame that other packages can name: they may make compiled functions of the type.
type (
	In  struct{ X *tensor.Tensor }
	Out struct{ R *tensor.Tensor }
)

var public = compile.New(state.Table{}, func(in *In, out *Out) { out.R = in.X.Neg() })

func Public(x *tensor.Tensor) *tensor.Tensor { return public.Call(In{x}).R }

type namedIn struct {
	Held *Counter
	X    *tensor.Tensor
}

func runNamed(in *namedIn, out *stepOut) { out.r0 = in.X.MulScalar(in.Held.Gain) }

// Named runs a function that code may call with frames of its own.
func Named(f *compile.Func[namedIn, stepOut], x *tensor.Tensor) *tensor.Tensor {
	return f.Call(namedIn{X: x}).r0
}

func CompileNamed() *compile.Func[namedIn, stepOut] { return compile.New(state.Table{}, runNamed) }

type twiceIn struct {
	Held *Counter
	X    *tensor.Tensor
}

// kept is a literal that is a trampoline, too.
var kept func(*twiceIn, *stepOut)

func CompileTwice() *compile.Func[twiceIn, stepOut] {
	run := func(in *twiceIn, out *stepOut) { out.r0 = in.X.MulScalar(in.Held.Gain) }
	kept = run
	return compile.New(state.Table{}, run)
}

func Twice(f *compile.Func[twiceIn, stepOut], x *tensor.Tensor) *tensor.Tensor {
	return f.Call(twiceIn{X: x}).r0
}

type valueIn struct{ X *tensor.Tensor }

// maker is called by whoever has it.
var maker = compile.New[valueIn, stepOut]

func CompileValue() *compile.Func[valueIn, stepOut] {
	return compile.New(state.Table{}, func(in *valueIn, out *stepOut) { out.r0 = in.X.Neg() })
}

func Value(f *compile.Func[valueIn, stepOut], x *tensor.Tensor) *tensor.Tensor {
	return f.Call(valueIn{x}).r0
}
