package tensor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

type ts = []*tensor.Tensor

func TestCondEager(t *testing.T) {
	double := func(in ts) ts { return ts{in[0].MulScalar(2)} }
	negate := func(in ts) ts { return ts{in[0].Neg()} }
	for _, c := range []struct {
		x    *tensor.Tensor
		want f32
	}{{vec(1, 2), f32{2, 4}}, {vec(-1, -2), f32{1, 2}}} {
		out := tensor.Cond(c.x.Sum().GtScalar(0), double, negate, c.x)
		require.Len(t, out, 1)
		requireClose(t, []int{2}, c.want, out[0])
	}
}

func TestWhileEager(t *testing.T) {
	less := func(in ts) *tensor.Tensor { return in[0].LtScalar(100) }
	step := func(in ts) ts { return ts{in[0].MulScalar(2), in[1].AddScalar(1)} }
	out := tensor.While(less, step, tensor.Scalar[float32](1), tensor.Scalar[int64](0))
	require.Equal(t, 128.0, out[0].Item())
	require.Equal(t, 7.0, out[1].Item())
	out = tensor.While(less, step, tensor.Scalar[float32](100), tensor.Scalar[int64](0))
	require.Equal(t, 0.0, out[1].Item(), "no iteration")
}

func TestScanEager(t *testing.T) {
	body := func(carry, slices ts) (next, out ts) {
		sum := carry[0].Add(slices[0].Mul(slices[1]))
		return ts{sum}, ts{sum, slices[0].Unsqueeze(0)}
	}
	last, stacked := tensor.Scan(body, ts{tensor.Scalar[float32](10)}, ts{vec(1, 2, 3), vec(1, 10, 100)})
	require.Equal(t, 331.0, last[0].Item())
	require.Len(t, stacked, 2)
	requireClose(t, []int{3}, f32{11, 31, 331}, stacked[0])
	requireClose(t, []int{3, 1}, f32{1, 2, 3}, stacked[1])

	last, stacked = tensor.Scan(body, ts{vec(5)}, ts{tensor.Zeros(0), tensor.Zeros(0)})
	requireClose(t, []int{1}, f32{5}, last[0])
	require.Equal(t, []int{0, 1}, stacked[0].Shape())
}

// The body of a scan of no rounds is called for the types of its results: what it writes is not
// written. One that needs a value is run on zeros.
func TestScanOfNoRounds(t *testing.T) {
	w, inner := vec(1, 2), vec(3, 4)
	seq := ts{tensor.Zeros(0, 2)}
	last, stacked := tensor.Scan(func(carry, slices ts) (next, out ts) {
		w.AddScalarInPlace(1)
		carry[0].MulScalarInPlace(2)
		tensor.Scan(func(c, s ts) (ts, ts) { inner.AddInPlace(s[0]); return c, nil }, ts{w}, ts{tensor.Ones(2, 2)})
		return ts{w}, ts{slices[0].Add(w), w.Sum().Unsqueeze(0)}
	}, ts{vec(5, 6)}, seq)
	requireClose(t, []int{2}, f32{1, 2}, w)
	requireClose(t, []int{2}, f32{3, 4}, inner)
	requireClose(t, []int{2}, f32{5, 6}, last[0])
	require.Equal(t, []int{0, 2}, stacked[0].Shape())
	require.Equal(t, []int{0, 1}, stacked[1].Shape())

	_, stacked = tensor.Scan(func(carry, slices ts) (next, out ts) {
		if slices[0].Sum().Item() > 0 {
			return carry, ts{slices[0]}
		}
		return carry, ts{slices[0].Unsqueeze(0)}
	}, ts{w}, seq)
	require.Equal(t, []int{0, 1, 2}, stacked[0].Shape())
}

func TestScanMistakes(t *testing.T) {
	same := func(carry, slices ts) (next, out ts) { return carry, slices }
	e := failure(t, func() { tensor.Scan(same, nil, ts{vec(1, 2), vec(1)}) })
	require.Equal(t, op.SizeMismatch, e.Code)
	require.Equal(t, "sequence 1 has 1 slices, expected as many as the first, 2", e.Msg)

	n := 0
	e = failure(t, func() {
		tensor.Scan(func(carry, slices ts) (next, out ts) { n++; return carry, slices[:2-n] }, nil, ts{vec(1, 2)})
	})
	require.Equal(t, op.OperandCount, e.Code)
	e = failure(t, func() { tensor.Scan(same, nil, ts{tensor.Scalar(1.0)}) })
	require.Equal(t, op.BadAxis, e.Code)
}

// The branch that is not run is called for its types alone: nothing is written or read.
func TestCondCallsTheOtherBranchForItsTypesAlone(t *testing.T) {
	state, p := vec(1, 2), tensor.Param(array.FromSlice(f32{5}))
	var other *tensor.Tensor
	run := func(then, els func(in ts) ts) func() {
		return func() { tensor.Cond(tensor.Scalar(true), then, els, vec(3, 4)) }
	}
	id := func(in ts) ts { return in }
	run(id, func(in ts) ts {
		state.AddScalarInPlace(1)
		state.AssignInPlace(in[0])
		p.MulInPlace(p)
		in[0].ReluInPlace()
		other = in[0].Matmul(vec(1, 2))
		return ts{state.Slice(0, 0, 1).Add(p).Expand(2)}
	})()
	requireClose(t, []int{2}, f32{1, 2}, state)
	requireClose(t, []int{1}, f32{5}, p)
	require.Equal(t, "f32[]", other.Type().String())
	for name, f := range map[string]func(){
		"calls":  func() { other.Add(vec(1)) },
		"reads":  func() { other.Item() },
		"writes": func() { other.AssignInPlace(tensor.Scalar(float32(1))) },
	} {
		require.Equal(t, tensor.RegionMismatch, failure(t, f).Code, name)
	}
	for name, els := range map[string]func(in ts) ts{
		"needs a value":     func(in ts) ts { return make(ts, int(in[0].Sum().Item())) },
		"writes elements":   func(in ts) ts { tensor.Data[float32](state)[0] = 7; return nil },
		"is wrong":          func(in ts) ts { return ts{in[0].Add(vec(1, 2, 3))} },
		"panics":            func(in ts) ts { panic("other") },
		"opaque, then asks": func(in ts) ts { return make(ts, wrappedScale(in[0], nil).Dim(0)) },
	} {
		require.NotPanics(t, run(id, els), name)
	}
	requireClose(t, []int{2}, f32{1, 2}, state)
}

// A function that calls itself in a branch ends when values say so.
func TestCondEndsWhereAFunctionCallsItself(t *testing.T) {
	calls := 0
	var down func(in ts) ts
	down = func(in ts) ts {
		calls++
		return tensor.Cond(in[0].LeScalar(0), func(in ts) ts { return in },
			func(in ts) ts { return down(ts{in[0].AddScalar(-1)}) }, in[0])
	}
	require.Equal(t, 0.0, down(ts{tensor.Scalar(float32(5))})[0].Item())
	require.Less(t, calls, 100)

	outer := func(in ts) ts {
		return tensor.While(func(in ts) *tensor.Tensor { return in[0].LtScalar(10) }, func(in ts) ts {
			last, stacked := tensor.Scan(func(c, s ts) (ts, ts) { return c, s }, in, ts{vec(1, 2)})
			return append(last, stacked...)
		}, in...)
	}
	e := failure(t, func() {
		tensor.Cond(tensor.Scalar(true), func(in ts) ts { return append(outer(in), in...) },
			func(in ts) ts { return ts{in[0], in[0], in[0]} }, tensor.Scalar(float32(20)))
	})
	require.Equal(t, "the body returns 2 tensors, expected the 1 carried ones", e.Msg)
}

// What is rehearsed on one goroutine concerns no other.
func TestCondRehearsesOnItsOwnGoroutine(t *testing.T) {
	inside, done := make(chan bool), make(chan bool)
	x := vec(1)
	go func() {
		<-inside
		x.AddScalarInPlace(1)
		done <- true
	}()
	tensor.Cond(tensor.Scalar(true), func(in ts) ts { return in }, func(in ts) ts {
		inside <- true
		<-done
		return in
	}, vec(3))
	requireClose(t, []int{1}, f32{2}, x)
}

func scale(x, factor *tensor.Tensor) *tensor.Tensor {
	if factor == nil {
		return x
	}
	return x.MulScalar(factor.Item())
}

func total(xs ...*tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) {
	return tensor.Stack(xs, 0).Sum(), tensor.Scalar(int64(len(xs)))
}

func swallow(x *tensor.Tensor, n int) *tensor.Tensor { return x }

func noTensor(x *tensor.Tensor) error { return nil }

func broken(x *tensor.Tensor) *tensor.Tensor { return x.Add(vec(1, 2, 3)) }

var (
	wrappedScale = tensor.Wrap(scale)
	wrappedTotal = tensor.WrapPure(total)
)

func TestWrapRunsEagerly(t *testing.T) {
	requireClose(t, []int{2}, f32{3, 6}, wrappedScale(vec(1, 2), tensor.Scalar[float32](3)))
	requireClose(t, []int{2}, f32{1, 2}, wrappedScale(vec(1, 2), nil))
	sum, n := wrappedTotal(vec(1, 2), vec(3, 4))
	require.Equal(t, 10.0, sum.Item())
	require.Equal(t, 2.0, n.Item())
}

func TestWrapDefinesAnOperator(t *testing.T) {
	path, name := tensor.FuncName(scale)
	require.Equal(t, "github.com/gofx-dev/gofx/tensor_test", path)
	require.Equal(t, "scale", name)
	o := op.Lookup(path + ".scale")
	require.NotNil(t, o)
	require.True(t, o.AdHoc)
	require.Equal(t, op.Effectful, o.Effect)
	require.Equal(t, op.Pure, op.Lookup(path+".total").Effect)
	require.Equal(t, []string{"r0", "r1"}, op.Lookup(path+".total").Results)
	require.True(t, op.Lookup(path+".total").Variadic())

	out, err := o.Host([]*array.Array{array.FromSlice(f32{1, 2}), nil})
	require.NoError(t, err)
	require.Equal(t, f32{1, 2}, array.Data[float32](out[0]))
}

func TestWrapMistakes(t *testing.T) {
	require.Equal(t, `parameter 1 is a int, expected *tensor.Tensor`, failure(t, func() { tensor.Wrap(swallow) }).Msg)
	require.Equal(t, `result 0 is a error, expected *tensor.Tensor`, failure(t, func() { tensor.Wrap(noTensor) }).Msg)
	for _, f := range []func(){
		func() { tensor.Wrap(func(x *tensor.Tensor) *tensor.Tensor { return x }) },
		func() { tensor.Wrap(vec(1).Add) },
		func() { tensor.Wrap(3) },
		func() { tensor.Wrap[func(x *tensor.Tensor) *tensor.Tensor](nil) },
	} {
		require.Equal(t, tensor.BadWrap, failure(t, f).Code)
	}
}

func TestOnArraysReturnsErrors(t *testing.T) {
	one := func(xs ts) ts { return ts{broken(xs[0])} }
	_, err := tensor.OnArrays(one, []*array.Array{array.FromSlice(f32{1, 2})})
	var e *diag.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, op.ShapeMismatch, e.Code)
	require.Panics(t, func() { _, _ = tensor.OnArrays(func(ts) ts { panic("other") }, nil) })
}

func TestWhileAtMost(t *testing.T) {
	double := func(in ts) ts { return ts{in[0].MulScalar(2)} }
	below := func(limit float64) func(in ts) *tensor.Tensor {
		return func(in ts) *tensor.Tensor { return in[0].LtScalar(limit) }
	}
	for limit, want := range map[float64]float64{1: 1, 2: 2, 8: 8} {
		require.Equal(t, want, tensor.WhileAtMost(3, below(limit), double, tensor.Scalar[float32](1))[0].Item())
	}
	e := failure(t, func() { tensor.WhileAtMost(3, below(9), double, tensor.Scalar[float32](1)) })
	require.Equal(t, tensor.TooManyTrips, e.Code)
	require.Equal(t, "the loop goes on after 3 trips, the most that it says it makes", e.Msg)
	require.Contains(t, e.Pos.File, "control_test.go")
	e = failure(t, func() { tensor.WhileAtMost(0, below(9), double, tensor.Scalar[float32](1)) })
	require.Equal(t, op.BadAttr, e.Code)
}
