package fx_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

type flowOf = []*tensor.Tensor

// Functions that do not fit each other are refused in the same words, at the same line,
// whether they run at once or are captured.
func TestControlFlow_sameAnswerEagerlyAndTraced(t *testing.T) {
	id := func(in flowOf) flowOf { return in }
	twice := func(in flowOf) flowOf { return flowOf{in[0], in[0]} }
	integers := func(in flowOf) flowOf { return flowOf{in[0].Cast(array.I64)} }
	some := func(in flowOf) *tensor.Tensor { return in[0].Sum().LtScalar(10) }
	none := func(in flowOf) *tensor.Tensor { return in[0].Sum().LtScalar(0) }
	scan := func(next, out func(in flowOf) flowOf) func(x *tensor.Tensor) flowOf {
		return func(x *tensor.Tensor) flowOf {
			last, _ := tensor.Scan(func(carry, in flowOf) (flowOf, flowOf) { return next(carry), out(in) }, flowOf{x}, flowOf{x})
			return last
		}
	}
	while := func(cond func(flowOf) *tensor.Tensor, body func(flowOf) flowOf) func(x *tensor.Tensor) flowOf {
		return func(x *tensor.Tensor) flowOf { return tensor.While(cond, body, x) }
	}
	cond := func(then, els func(flowOf) flowOf) func(x *tensor.Tensor) flowOf {
		return func(x *tensor.Tensor) flowOf { return tensor.Cond(some(flowOf{x}), then, els, x) }
	}
	absent := func(in flowOf) flowOf { return flowOf{nil} }
	grow := func(in flowOf) flowOf { return flowOf{tensor.Cat(flowOf{in[0], in[0]}, 0)} }
	for name, c := range map[string]struct {
		f    func(x *tensor.Tensor) flowOf
		want string
	}{
		"the branch not run returns more": {cond(id, twice), "the branches return 1 and 2 tensors"},
		"the branch run returns more":     {cond(twice, id), "the branches return 2 and 1 tensors"},
		"nothing":                         {cond(id, func(flowOf) flowOf { return nil }), "the branches return 1 and 0 tensors"},
		"element types":                   {cond(integers, id), "result 0 is i64[3] in one branch and f32[3] in the other"},
		"a nil tensor":                    {cond(absent, id), "result 0 of the function is nil"},
		"a nil tensor that is not run":    {cond(id, absent), "result 0 of the function is nil"},
		"a nil operand":                   {func(x *tensor.Tensor) flowOf { return tensor.Cond(some(flowOf{x}), id, id, nil) }, "operand 1 is nil"},
		"a body returns more":             {while(some, twice), "the body returns 2 tensors, expected the 1 carried ones"},
		"a body returns less":             {while(some, func(flowOf) flowOf { return nil }), "the body returns 0 tensors, expected the 1 carried ones"},
		"no round is run":                 {while(none, twice), "the body returns 2 tensors, expected the 1 carried ones"},
		"a body changes the element type": {while(some, integers), "carried value 0 is f32[3] before and i64[3] after the body"},
		"a body changes the size":         {while(some, grow), "carried value 0 is f32[3] before and f32[6] after the body"},
		"a step carries more":             {scan(twice, id), "the body returns 2 carried tensors, expected 1"},
		"a step carries less":             {scan(func(flowOf) flowOf { return nil }, id), "the body returns 0 carried tensors, expected 1"},
		"a step changes the element type": {scan(integers, id), "carried value 0 is f32[3] before and i64[3] after the body"},
		"a step gives nil":                {scan(id, absent), "result 1 of the function is nil"},
	} {
		t.Run(name, func(t *testing.T) {
			var eager, traced diag.List
			func() {
				defer func() {
					err, _ := recover().(error)
					eager.Add(err)
				}()
				c.f(tensor.Ones(3))
			}()
			_, err := fx.Trace(t.Context(), c.f, fx.Input("x", "f32[3]"))
			traced.Add(err)
			require.Len(t, eager, 1, "eagerly")
			require.NotEmpty(t, traced, "traced")
			require.Equal(t, c.want, eager[0].Msg)
			require.Equal(t, c.want, traced[0].Msg)
			require.Equal(t, tracer.RegionMismatch, eager[0].Code)
			require.Equal(t, traced[0].Code, eager[0].Code)
			require.Equal(t, traced[0].Op, eager[0].Op)
			require.Equal(t, traced[0].Pos, eager[0].Pos)
			require.NotEmpty(t, eager[0].Hint)
			require.Equal(t, eager[0].Hint, traced[0].Hint)
		})
	}
}

// A branch that is called for its types alone leaves nothing in a trace that it captures from.
func TestCond_eagerConditionInATrace(t *testing.T) {
	state := tensor.Ones(3)
	gm, err := fx.Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor {
		y := x.Neg()
		return tensor.Cond(tensor.Scalar(true), func(flowOf) flowOf { return flowOf{y.Exp()} }, func(flowOf) flowOf {
			y.AddScalarInPlace(1)
			state.AddScalarInPlace(1)
			return flowOf{y.Tanh().Add(state)}
		})[0]
	}, fx.Input("x", "f32[3]"))
	require.NoError(t, err)
	require.Equal(t, 4, gm.Graph.Len(), gm.Graph.String())
	require.Equal(t, []float32{1, 1, 1}, tensor.Data[float32](state))
}

// A scan of no rounds writes nothing, in a trace and at once.
func TestScan_noRounds(t *testing.T) {
	f := func(x *tensor.Tensor) *tensor.Tensor {
		w := x.Clone()
		_, stacked := tensor.Scan(func(c, s flowOf) (flowOf, flowOf) {
			y := c[0].Add(s[0])
			w.AddScalarInPlace(1)
			return c, flowOf{y}
		}, flowOf{x}, flowOf{tensor.Zeros(0, 3)})
		return w.Add(stacked[0].Sum())
	}
	x := tensor.FromSlice([]float32{1, -2, 3})
	require.True(t, f(x).Equal(x))
	gm, err := fx.Trace(t.Context(), f, fx.Input("x", "f32[3]"))
	require.NoError(t, err)
	got, err := gm.Run(t.Context(), x)
	require.NoError(t, err)
	require.True(t, got[0].Equal(x))
}

// What a loop carries may be memory that its body writes: from the second round on, a read after the
// write sees it. The body is captured once, so that such a read is refused; one before the write is not.
func TestLoops_carryMemoryThatTheyWrite(t *testing.T) {
	scan := func(x *tensor.Tensor, body func(c flowOf) (next, out flowOf), carry ...*tensor.Tensor) flowOf {
		last, stacked := tensor.Scan(func(c, _ flowOf) (flowOf, flowOf) { return body(c) }, carry, flowOf{tensor.Stack(flowOf{x, x, x}, 0)})
		return append(stacked, last...)
	}
	for name, c := range map[string]struct {
		f       func(x *tensor.Tensor) flowOf
		refused bool
	}{
		"a tensor from outside, read afterwards": {func(x *tensor.Tensor) flowOf {
			w := x.Clone()
			return scan(x, func(c flowOf) (flowOf, flowOf) { w.AddScalarInPlace(1); return flowOf{w}, flowOf{c[0]} }, x)[:1]
		}, true},
		"a part of it": {func(x *tensor.Tensor) flowOf {
			w := tensor.Stack(flowOf{x, x}, 0)
			return scan(x, func(c flowOf) (flowOf, flowOf) {
				w.AddScalarInPlace(1)
				return flowOf{w.Select(0, 1)}, flowOf{c[0].MulScalar(2)}
			}, x)[:1]
		}, true},
		"read before": {func(x *tensor.Tensor) flowOf {
			w := x.Clone()
			return scan(x, func(c flowOf) (flowOf, flowOf) {
				y := c[0].MulScalar(2)
				w.AddScalarInPlace(1)
				return flowOf{w}, flowOf{y}
			}, x)[:1]
		}, false},
		"another carried tensor": {func(x *tensor.Tensor) flowOf {
			return scan(x, func(c flowOf) (flowOf, flowOf) {
				c[0].AddScalarInPlace(1)
				return flowOf{c[0], c[0]}, flowOf{c[1]}
			}, x.Clone(), x)[:1]
		}, true},
		"by way of another one": {func(x *tensor.Tensor) flowOf {
			w := x.Clone()
			return scan(x, func(c flowOf) (flowOf, flowOf) {
				y := c[0].MulScalar(2)
				w.AddScalarInPlace(1)
				return flowOf{w, y}, flowOf{c[1]}
			}, x, x)[:1]
		}, false},
		"two rounds later": {func(x *tensor.Tensor) flowOf {
			w := x.Clone()
			return scan(x, func(c flowOf) (flowOf, flowOf) {
				w.AddScalarInPlace(1)
				return flowOf{w, c[0]}, flowOf{c[1]}
			}, x, x)[:1]
		}, true},
		"in a branch": {func(x *tensor.Tensor) flowOf {
			w := x.Clone()
			return scan(x, func(c flowOf) (flowOf, flowOf) {
				w.AddScalarInPlace(1)
				id := func(in flowOf) flowOf { return flowOf{c[0].MulScalar(3)} }
				return flowOf{w}, tensor.Cond(x.Sum().GtScalar(0), id, id, x)
			}, x)[:1]
		}, true},
		"the rounds of a while": {func(x *tensor.Tensor) flowOf {
			w := x.Clone()
			return tensor.While(func(c flowOf) *tensor.Tensor { return c[0].LtScalar(3) }, func(c flowOf) flowOf {
				w.AddScalarInPlace(1)
				return flowOf{c[0].AddScalar(1), w, c[1].MulScalar(10)}
			}, tensor.Scalar(int64(0)), x, x)[2:]
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			x := tensor.New(array.FromSlice([]float32{1, -2, 3}))
			gm, err := fx.Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor { return c.f(x)[0] }, fx.Input("x", "f32[3]"))
			if c.refused {
				require.ErrorContains(t, err, "is in a later round")
				require.NotContains(t, err.Error(), "panicked", "the results that code after the loop reads are there")
				return
			}
			require.NoError(t, err)
			got, err := gm.Run(t.Context(), x)
			require.NoError(t, err)
			require.True(t, got[0].Equal(c.f(x)[0]), "%v, want %v", got[0], c.f(x)[0])
		})
	}
}
