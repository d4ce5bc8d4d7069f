package train_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// recurrence is a cell that goes over a sequence by Scan, or written out.
type recurrence struct {
	In, State *nn.Linear
	out       bool
}

func newRecurrence(out bool) *recurrence {
	return &recurrence{nn.NewLinear(2, 3, nn.Seed(1)), nn.NewLinear(3, 3, nn.Seed(2)), out}
}

func (m *recurrence) Forward(x *tensor.Tensor) *tensor.Tensor {
	cell := func(h, x *tensor.Tensor) *tensor.Tensor { return m.In.Forward(x).Add(m.State.Forward(h)).Tanh() }
	h := x.Select(0, 0).Sum().MulScalar(0).Expand(4, 3)
	if m.out {
		for i := range 5 {
			h = cell(h, x.Select(0, i))
		}
		return h.Square().Mean()
	}
	last, _ := tensor.Scan(func(carry, slices []*tensor.Tensor) (next, out []*tensor.Tensor) {
		return []*tensor.Tensor{cell(carry[0], slices[0])}, nil
	}, []*tensor.Tensor{h}, []*tensor.Tensor{x})
	return last[0].Square().Mean()
}

func ramp(n int, shape ...int) *array.Array {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i%11)/5 - 1
	}
	return array.FromSlice(v, shape...)
}

// losses runs a step, in the interpreter or as a plan.
func losses(t *testing.T, model, loss any, rule optim.Rule, n int, planned bool, in *array.Array, specs ...fx.Option) (list []float64) {
	t.Helper()
	step, err := train.NewStep(ctx, model, loss, rule, specs...)
	require.NoError(t, err)
	for range n {
		run := step.Run
		if !planned {
			run = func(_ context.Context, in ...*array.Array) ([]*array.Array, error) {
				return step.Graph().RunArrays(ctx, in)
			}
		}
		out, err := run(ctx, in)
		require.NoError(t, err)
		list = append(list, array.Float64At(out[0], 0))
	}
	step.Sync()
	return list
}

// A loop over a sequence trains as the same steps written out.
func TestStep_ofALoop(t *testing.T) {
	x := ramp(40, 5, 4, 2)
	rule := optim.Rule{Optimiser: optim.Adam{LR: 0.05}}
	for _, planned := range []bool{false, true} {
		loop, out := newRecurrence(false), newRecurrence(true)
		want := losses(t, out, out, rule, 5, planned, x, fx.Input("x", "f32[5,4,2]"))
		require.InDeltaSlice(t, want, losses(t, loop, loop, rule, 5, planned, x, fx.Input("x", "f32[T,4,2]")), 1e-6)
		require.Less(t, want[4], want[0]/2)
	}
}

// A loss may have gradients of its own: a penalty of the input's.
func TestStep_ofAGradient(t *testing.T) {
	for _, planned := range []bool{false, true} {
		m := newProduct() // w2·w1·x, whose gradient by x is w2·w1
		loss := func(x *tensor.Tensor) *tensor.Tensor { return tensor.Grad(m.Forward(x), x)[0].Square() }
		got := losses(t, m, loss, optim.Rule{Optimiser: optim.SGD{LR: 0.01}}, 2, planned, array.Scalar[float32](1), fx.Input("x", "f32[]"))
		w1, w2 := 2-0.01*2*6*3, 3-0.01*2*6*2
		require.InDeltaSlice(t, []float64{36, w1 * w1 * w2 * w2}, got, 1e-4)
	}
}

// What is detached or frozen stays out of the update.
func TestStep_withoutSome(t *testing.T) {
	m := newProduct()
	loss := func(x *tensor.Tensor) *tensor.Tensor { return m.W2.Detach().Mul(m.W1).Mul(x) }
	_, err := train.NewStep(ctx, m, loss, optim.Rule{Optimiser: optim.SGD{LR: 0.1}}, fx.Input("x", "f32[]"))
	require.ErrorContains(t, err, "the loss depends on w2 through detach only, which counts as constant")

	require.NoError(t, nn.Freeze(m, "w2"))
	losses(t, m, loss, optim.Rule{Optimiser: optim.SGD{LR: 0.1}}, 1, true, array.Scalar[float32](1), fx.Input("x", "f32[]"))
	require.InDelta(t, 1.7, m.W1.Item(), 1e-6)
	require.InDelta(t, 3, m.W2.Item(), 0)
	_, err = train.NewStep(ctx, m, loss, optim.Rule{Optimiser: optim.SGD{LR: 0.1}, Groups: []optim.Group{{Params: []string{"w2"}, Optimiser: optim.SGD{LR: 1}}}}, fx.Input("x", "f32[]"))
	require.ErrorContains(t, err, "w2")
}

// A while trains with a bound on its trips, and is refused at its line without one.
func TestStep_ofAWhile(t *testing.T) {
	for _, trips := range []int{0, 4} {
		m := newProduct()
		loss := func(x *tensor.Tensor) *tensor.Tensor {
			more := func(in []*tensor.Tensor) *tensor.Tensor { return in[0].LtScalar(3) }
			body := func(in []*tensor.Tensor) []*tensor.Tensor {
				return []*tensor.Tensor{in[0].AddScalar(1), in[1].Mul(m.W1)}
			}
			i := x.MulScalar(0)
			if trips == 0 {
				return tensor.While(more, body, i, m.W2.Mul(x))[1]
			}
			return tensor.WhileAtMost(trips, more, body, i, m.W2.Mul(x))[1]
		}
		if trips == 0 {
			_, err := train.NewStep(ctx, m, loss, optim.Rule{Optimiser: optim.SGD{LR: 0.01}}, fx.Input("x", "f32[]"))
			require.ErrorContains(t, err, "together_test.go:")
			require.ErrorContains(t, err, "WhileAtMost")
			continue
		}
		for _, planned := range []bool{false, true} {
			m.W1, m.W2 = newProduct().W1, newProduct().W2
			got := losses(t, m, loss, optim.Rule{Optimiser: optim.SGD{LR: 0.01}}, 2, planned, array.Scalar[float32](1), fx.Input("x", "f32[]"))
			w1, w2 := 2-0.01*3*3*4, 3-0.01*8 // of w2·w1³
			require.InDeltaSlice(t, []float64{24, w2 * w1 * w1 * w1}, got, 1e-4)
		}
	}
}

// At once, a loop has the gradient that it has in a graph.
func TestValueAndGrad_ofALoop(t *testing.T) {
	x := tensor.New(ramp(40, 5, 4, 2))
	m := newRecurrence(false)
	loss, grads, err := fx.ValueAndGrad(func() *tensor.Tensor { return m.Forward(x) }, nn.Parameters(m)...)
	require.NoError(t, err)
	out := newRecurrence(true)
	want, wants, err := fx.ValueAndGrad(func() *tensor.Tensor { return out.Forward(x) }, nn.Parameters(out)...)
	require.NoError(t, err)
	require.InDelta(t, want.Item(), loss.Item(), 1e-7)
	require.Len(t, grads, len(wants))
	for i, g := range grads {
		for j := range g.Array().Len() {
			require.InDelta(t, array.Float64At(wants[i].Array(), j), array.Float64At(g.Array(), j), 1e-6)
		}
	}
}
