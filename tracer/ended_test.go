package tracer_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// raised returns the diagnostic that f panics with, nil when it returns.
func raised(t *testing.T, f func()) (e *diag.Error) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			e, ok = r.(*diag.Error)
			require.True(t, ok, "panic of %T: %v", r, r)
		}
	}()
	f()
	return nil
}

// reads are all ways to ask a tensor for something or to compute with it.
var reads = map[string]func(x *tensor.Tensor, s tensor.Size){
	"Array":      func(x *tensor.Tensor, _ tensor.Size) { x.Array() },
	"Data":       func(x *tensor.Tensor, _ tensor.Size) { tensor.Data[float32](x) },
	"Item":       func(x *tensor.Tensor, _ tensor.Size) { x.Item() },
	"Bool":       func(x *tensor.Tensor, _ tensor.Size) { x.Bool() },
	"String":     func(x *tensor.Tensor, _ tensor.Size) { _ = x.String() },
	"Equal":      func(x *tensor.Tensor, _ tensor.Size) { x.Equal(tensor.Scalar(float32(0))) },
	"Equal to":   func(x *tensor.Tensor, _ tensor.Size) { tensor.Scalar(float32(0)).Equal(x) },
	"Clone":      func(x *tensor.Tensor, _ tensor.Size) { x.Clone() },
	"Size":       func(x *tensor.Tensor, _ tensor.Size) { x.Size(0) },
	"Dim":        func(x *tensor.Tensor, _ tensor.Size) { x.Dim(0) },
	"Shape":      func(x *tensor.Tensor, _ tensor.Size) { x.Shape() },
	"Rank":       func(x *tensor.Tensor, _ tensor.Size) { x.Rank() },
	"DType":      func(x *tensor.Tensor, _ tensor.Size) { x.DType() },
	"Type":       func(x *tensor.Tensor, _ tensor.Size) { x.Type() },
	"call":       func(x *tensor.Tensor, _ tensor.Size) { x.Relu() },
	"write":      func(x *tensor.Tensor, _ tensor.Size) { x.AddScalarInPlace(1) },
	"write into": func(x *tensor.Tensor, _ tensor.Size) { tensor.Scalar(float32(0)).AssignInPlace(x) },
	"leaf":       func(x *tensor.Tensor, _ tensor.Size) { nn.NewLinear(2, 2).Forward(x) },
	"run":        func(x *tensor.Tensor, _ tensor.Size) { nn.Run(nn.NewSequential(nn.NewLinear(2, 2)), x) },
	"cond": func(x *tensor.Tensor, _ tensor.Size) {
		keep := func(in []*tensor.Tensor) []*tensor.Tensor { return in }
		tensor.Cond(tensor.Scalar(true), keep, keep, x)
	},
	"on":       func(x *tensor.Tensor, _ tensor.Size) { tensor.On(x, tensor.Scalar(float32(0))) },
	"Size.Int": func(_ *tensor.Tensor, s tensor.Size) { s.Int() },
	"factory":  func(_ *tensor.Tensor, s tensor.Size) { tensor.Arange(s) },
	"reshape":  func(_ *tensor.Tensor, s tensor.Size) { tensor.FromSlice([]float32{1, 2}).Reshape(s, -1) },
	"next trace": func(x *tensor.Tensor, _ tensor.Size) {
		must(fx.Trace(ctx, func(*tensor.Tensor) *tensor.Tensor { return x.Relu() }))
	},
	"as argument": func(x *tensor.Tensor, _ tensor.Size) {
		must(fx.Trace(ctx, func(y *tensor.Tensor) *tensor.Tensor { return y }, fx.Args(x)))
	},
}

func must(_ any, err error) {
	var e *diag.Error
	if errors.As(err, &e) {
		panic(e)
	}
}

func TestTensorsOfAnEndedTraceAreRefused(t *testing.T) {
	var x, y, item *tensor.Tensor
	var size tensor.Size
	keep := func(in *tensor.Tensor) *tensor.Tensor {
		x, y, size = in, in.AddScalar(1), in.Size(0)
		item = y.Chunk(2, 1)[0]
		return y
	}
	traces := map[string]func() error{
		"typed": func() error { _, err := fx.Trace(ctx, keep, fx.Input("x", "f32[N,2]")); return err },
		"bare":  func() error { _, err := fx.Trace(ctx, keep, fx.Input("x", "f32[*]")); return err },
		"failed": func() error {
			_, err := fx.Trace(ctx, func(in *tensor.Tensor) *tensor.Tensor { keep(in); in.Item(); return in }, fx.Input("x", "f32[N,2]"))
			require.Error(t, err)
			return nil
		},
		"panicked": func() error {
			_, err := fx.Trace(ctx, func(in *tensor.Tensor) *tensor.Tensor { keep(in); panic("no") }, fx.Input("x", "f32[N,2]"))
			require.Error(t, err)
			return nil
		},
		"bad result": func() error {
			_, err := fx.Trace(ctx, func(in *tensor.Tensor) int { keep(in); return 1 }, fx.Input("x", "f32[N,2]"))
			require.Error(t, err)
			return nil
		},
	}
	for name, trace := range traces {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, trace())
			for read, f := range reads {
				for _, v := range []*tensor.Tensor{x, y, item} {
					e := raised(t, func() { f(v, size) })
					require.NotNil(t, e, read)
					require.Equal(t, tracer.Ended, e.Code, "%s: %v", read, e)
				}
			}
			e := raised(t, func() { y.Array() })
			require.Contains(t, e.Pos.File, "ended_test.go")
		})
	}
}

type noForward struct {
	Layer interface {
		Forward(*tensor.Tensor) *tensor.Tensor
	}
}

type nilEmbedded struct{ Forwarder }

// Forwarder is exported, so that its method is promoted.
type Forwarder interface {
	Forward(x *tensor.Tensor) *tensor.Tensor
}

type deref struct{ W *tensor.Tensor }

func (d *deref) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Add(d.W) }

type badWalk struct{ deref }

func (*badWalk) Walk(func(tensor.Item) bool) { panic("no walk") }

type optional struct{ X, Mask *tensor.Tensor }

func TestNothingToTraceIsRefused(t *testing.T) {
	relu := func(x *tensor.Tensor) *tensor.Tensor { return x.Relu() }
	anything := func(x any) *tensor.Tensor { return x.(*tensor.Tensor).Relu() }
	many := func(xs []*tensor.Tensor) *tensor.Tensor { return xs[0] }
	var none func(*tensor.Tensor) *tensor.Tensor
	var module *deref
	var bound Forwarder = module
	for name, c := range map[string]struct {
		fn   any
		opts []fx.Option
		code diag.Code
	}{
		"nil":                      {fn: nil, code: tracer.BadTarget},
		"nil func":                 {fn: none, code: tracer.BadTarget},
		"nil module":               {fn: module, code: tracer.BadTarget},
		"nil module in interface":  {fn: bound, code: tracer.BadTarget},
		"nil pointer to int":       {fn: (*int)(nil), code: tracer.BadTarget},
		"pointer to int":           {fn: new(int), code: tracer.BadTarget},
		"pointer to nil func":      {fn: &none, code: tracer.BadTarget},
		"value":                    {fn: deref{}, code: tracer.BadTarget},
		"no method":                {fn: &noForward{}, code: tracer.BadTarget},
		"other method":             {fn: &deref{}, opts: []fx.Option{fx.Method("Backward")}, code: tracer.BadTarget},
		"nil func with root":       {fn: none, opts: []fx.Option{fx.Root(&deref{})}, code: tracer.BadTarget},
		"method of nil":            {fn: module.Forward, code: tracer.UserPanic},
		"method of nil interface":  {fn: bound.Forward, code: tracer.UserPanic},
		"embedded nil":             {fn: &nilEmbedded{}, code: tracer.UserPanic},
		"module that cannot walk":  {fn: &badWalk{}, code: tracer.UserPanic},
		"nil tensor as example":    {fn: relu, opts: []fx.Option{fx.Args((*tensor.Tensor)(nil))}, code: tracer.BadArgument},
		"nil tensor for interface": {fn: anything, opts: []fx.Option{fx.Args((*tensor.Tensor)(nil))}, code: tracer.BadArgument},
		"nil for interface":        {fn: anything, opts: []fx.Option{fx.Args(nil)}, code: tracer.BadArgument},
		"no example for interface": {fn: anything, code: tracer.BadArgument},
		"nil func as example":      {fn: relu, opts: []fx.Option{fx.Args(none)}, code: tracer.BadArgument},
		"nil interface in slice":   {fn: func(xs []any) *tensor.Tensor { return nil }, opts: []fx.Option{fx.Args([]any{nil})}, code: tracer.BadResult},
		"nil slice":                {fn: many, opts: []fx.Option{fx.Args([]*tensor.Tensor(nil))}, code: tracer.UserPanic},
		"nil result":               {fn: func(x *tensor.Tensor) *tensor.Tensor { return nil }, code: tracer.BadResult},
		"many bad parameters": {fn: func(_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _,
			_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _ int) *tensor.Tensor {
			return nil
		}, code: tracer.Brake},
		"flattener without functions": {fn: relu, opts: []fx.Option{fx.With(func(p *tracer.Tracer) {
			p.Flatten = map[reflect.Type]tracer.Flattener{reflect.TypeFor[*tensor.Tensor](): {}}
		})}, code: tracer.UserPanic},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fx.Trace(ctx, c.fn, c.opts...)
			var l diag.List
			l.Add(err)
			require.NotEmpty(t, l)
			require.Equal(t, c.code, l[0].Code, "%v", err)
			require.NotEmpty(t, l[0].Pos.File, "%v", err)
		})
	}
}

func TestAbsentTensorsInExamplesStayAbsent(t *testing.T) {
	x := tensor.FromSlice([]float32{-1, 2})
	sum := func(xs []*tensor.Tensor) *tensor.Tensor {
		if xs[1] == nil {
			return xs[0].Neg()
		}
		return xs[0].Add(xs[1])
	}
	gm, err := fx.Trace(ctx, sum, fx.Args([]*tensor.Tensor{x, nil}))
	require.NoError(t, err)
	require.Len(t, gm.Graph.Inputs(), 1)
	require.Len(t, gm.Graph.Specialisations(), 1, "that the tensor is absent is fixed, and noted")
	out, err := gm.Run(ctx, x)
	require.NoError(t, err)
	require.True(t, out[0].Equal(sum([]*tensor.Tensor{x, nil})))

	masked := func(in map[string]*tensor.Tensor) *tensor.Tensor {
		if in["mask"] == nil {
			return in["x"].Abs()
		}
		return in["x"].Mul(in["mask"])
	}
	gm, err = fx.Trace(ctx, masked, fx.Args(map[string]*tensor.Tensor{"x": x, "mask": nil}))
	require.NoError(t, err)
	out, err = gm.Run(ctx, x)
	require.NoError(t, err)
	require.True(t, out[0].Equal(x.Abs()))

	gm, err = fx.Trace(ctx, func(o optional) *tensor.Tensor { return o.X.Relu() }, fx.Args(optional{X: x}))
	require.NoError(t, err)
	require.Len(t, gm.Graph.Inputs(), 1)
}

func TestExamplesForInterfaces(t *testing.T) {
	x := tensor.FromSlice([]float32{-1, 2})
	gm, err := fx.Trace(ctx, func(v any) *tensor.Tensor { return v.(*tensor.Tensor).Relu() }, fx.Args(x))
	require.NoError(t, err)
	out, err := gm.Run(ctx, x)
	require.NoError(t, err)
	require.True(t, out[0].Equal(x.Relu()))

	gm, err = fx.Trace(ctx, func(v any) *tensor.Tensor { return v.(optional).X.Neg() }, fx.Args(optional{X: x}))
	require.NoError(t, err)
	out, err = gm.Run(ctx, x)
	require.NoError(t, err)
	require.True(t, out[0].Equal(x.Neg()))

	gm, err = fx.Trace(ctx, func(v any, x *tensor.Tensor) *tensor.Tensor { return x.AddScalar(v.(int)) }, fx.Args(3, x))
	require.NoError(t, err)
	out, err = gm.Run(ctx, x)
	require.NoError(t, err)
	require.True(t, out[0].Equal(x.AddScalar(3)))
}

func TestNilOptionsAreNone(t *testing.T) {
	_, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return x.Relu() }, nil, fx.With(nil))
	require.NoError(t, err)
}
