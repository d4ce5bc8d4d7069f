package fxdata

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"

	"fxvet.test/lib"
)

type net struct {
	W    *tensor.Tensor
	Next *net
	Pair lib.Pair
}

func (m *net) Forward(x, mask *tensor.Tensor) *tensor.Tensor {
	if x.Sum().Item() > 0 { // want `FX1004: the model reads data of a traced tensor: Item`
		return x
	}
	if mask.Any().Bool() { // want `FX1004: .*: Bool`
		return mask
	}
	_ = tensor.Data[float32](x.Neg()) // want `FX1004: .*: Data`
	_ = x.Equal(m.W)                  // want `FX1004: .*: Equal`
	_ = m.W.Equal(x)                  // want `FX1004: .*: Equal`
	_ = x.Array()                     // want `FX1004: .*: Array`
	_ = x.Dim(0)                      // want `FX1005: .*: Dim`
	_ = x.Shape()                     // want `FX1005: .*: Shape`
	_ = x.Size(0).Int()               // want `FX1005: .*: Size.Int`
	_ = x.Size(0).Mul(2).String()     // want `FX1005: .*: Size.String`
	_ = x.Size(0).Equal(mask.Size(0)) // want `FX1005: .*: Size.Equal`
	if lib.Large(x, m.W) {            // want `FX1004: .*: Item in fxvet.test/lib.Large:7`
		return x
	}
	_ = lib.Rows(x)                // want `FX1005: .*: Dim in fxvet.test/lib.rows:12`
	_ = lib.Second(m.W, x).Item()  // want `FX1004`
	_ = lib.Weight(lib.Pair{W: x}) // want `FX1004`
	m.helper(x)
	return m.loops(x).
		Sum().
		Add(tensor.Scalar(x.
			Item())) // want `FX1004`
}

// quiet reads weights, which may be read.
func (m *net) quiet(x *tensor.Tensor) {
	_ = m.W.Item()
	_ = m.W.Dim(0)
	_ = lib.Large(m.W, x)
	_ = lib.Second(x, m.W).Item()
	_ = lib.Weight(lib.Pair{X: x, W: m.W})
	p := lib.Pair{X: x, W: m.W}
	_ = p.W.Item()
	_ = []*tensor.Tensor{x, m.W}[1].Item()
	_ = x.Rank()
	_ = x.DType()
	if n, ok := x.Type().Dim(0).Int(); ok && n > 3 {
		return
	}
	if x.Rank() != 2 {
		panic(fmt.Sprint("two axes are needed, there are ", x.Shape()))
	}
	_ = refuse(x)
}

func refuse(x *tensor.Tensor) error {
	if x.Rank() == 2 {
		return nil
	}
	return fmt.Errorf("two axes are needed, there are %v", x.Shape())
}

func (m *net) helper(x *tensor.Tensor) {
	m.quiet(x)
	y := x
	f := func() float64 { return y.Item() } // want `FX1004`
	_ = f()
	g := x.Item // a method value
	_ = g()     // want `FX1004`
	p := lib.Pair{X: x, W: m.W}
	_ = p.X.Item() // want `FX1004`
	lib.Put(&p, x)
	_ = p.X.Item() // want `FX1004`
	list := []*tensor.Tensor{m.W}
	list = append(list, x.Neg())
	_ = list[1].Item() // want `FX1004`
	for _, z := range []*tensor.Tensor{x, x.Neg()} {
		_ = z.Item() // want `FX1004`
	}
	_ = twice(x).Item() // want `FX1004`
	_ = twice(m.W).Item()
	_ = nn.Run(m.Next, x).Item() // want `FX1004`
	var any any = x
	_ = any.(*tensor.Tensor).Item() // want `FX1004`
	late := func() float64 { return x.Item() }
	_ = late
	//fxvet:ignore fxdata: the caller gives sizes that are fixed
	_ = x.Dim(0)
	//fxvet:ignore fxdata
	_ = x.Dim(1) // want `FX1005`
}

func twice[T any](x T) T { return x }

func (m *net) loops(x *tensor.Tensor) *tensor.Tensor {
	for x.Sum().Item() < 10 { // want `FX1004` `FX1008: the trace does not end: .*tensor.While`
		x = x.AddScalar(1)
	}
	for i := 0; i < x.Dim(0); i++ { // want `FX1005`
		x = x.AddScalar(i)
	}
	return x
}

type variadic struct{}

// Forward has a list of inputs.
func (variadic) Forward(xs ...*tensor.Tensor) []*tensor.Tensor {
	_ = xs[0].Item() // want `FX1004`
	return tensor.Cond(xs[0], func(in []*tensor.Tensor) []*tensor.Tensor {
		_ = in[0].Item() // want `FX1004`
		return in
	}, func(in []*tensor.Tensor) []*tensor.Tensor { return in }, xs...)
}

type generic[T any] struct{ V T }

// Forward belongs to a generic module.
func (m *generic[T]) Forward(x *tensor.Tensor) *tensor.Tensor {
	_ = x.Item() // want `FX1004`
	return x
}

type inner struct{}

// Forward is promoted.
func (inner) Forward(x *tensor.Tensor) *tensor.Tensor {
	_ = x.Item() // want `FX1004`
	return x
}

type outer struct{ inner }

type leaf struct{}

// TypeRule makes leaf a node of its own, which a trace does not look into.
func (leaf) TypeRule() tensor.TypeRule { return tensor.Signature("f32[N] -> f32[N]") }

// Forward may do anything with data.
func (leaf) Forward(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(x.Item()) }

type named = *tensor.Tensor

type stepper struct{}

// Step is captured by name.
func (stepper) Step(x named) named {
	_ = x.Item() // want `FX1004`
	return x
}

// Plain is not captured.
func (stepper) Plain(x *tensor.Tensor) float64 { return x.Item() }

func traced(x *tensor.Tensor) *tensor.Tensor {
	_ = x.Item() // want `FX1004`
	return x
}

func eager(x *tensor.Tensor) float64 { return x.Item() }

var opaque = tensor.Wrap(nearest)

func nearest(x *tensor.Tensor) *tensor.Tensor { return tensor.Scalar(x.Item()) }

func captures(ctx context.Context, s *lazy.Session, w *tensor.Tensor) {
	_, _ = fx.Trace(ctx, traced)
	_, _ = fx.Trace(ctx, &stepper{}, fx.Method("Step"))
	_, _ = fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor {
		_ = w.Item()
		_ = opaque(w).Item()
		return opaque(x.MulScalar(x.Item())) // want `FX1004`
	})
	_, _ = s.Program(func(x *tensor.Tensor) *tensor.Tensor {
		return x.MulScalar(x.Item()) // want `FX1004`
	}, w)
	_ = eager(w)
	_ = shape.Const(3)
}
