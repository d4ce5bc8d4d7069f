package lazy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// plain is a target without results in inputs, as devices are.
type plain struct{ cpu.Target }

func (p plain) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	if err := o.RefuseInto("plain"); err != nil {
		return nil, err
	}
	return p.Target.Compile(m, o)
}

// L-26: later calls of a step record nothing.
func TestRows_L26_secondCallRecordsNothing(t *testing.T) {
	s := open(t, lazy.Options{})
	net := nn.NewLinear(3, 2)
	step := func(x *tensor.Tensor) *tensor.Tensor { return net.Forward(x).Softmax(1) }
	p, err := s.Program(step, tensor.Ones(1, 3))
	require.NoError(t, err)
	require.Len(t, p.Module().Graph.Inputs(), 1)
	for i := range 3 {
		x := tensor.Full([]int{1, 3}, float64(i))
		y, err := p.Run(x)
		require.NoError(t, err)
		require.Len(t, y, 1)
		require.Zero(t, s.Stats().Calls)
		require.True(t, step(x).Equal(tensor.New(y[0].Array())))
	}
	require.Equal(t, 3, s.Stats().Programs)
	require.Equal(t, 1, s.Stats().Compiles)
	require.Empty(t, s.Stats().Flushes)
}

// A step of training runs in the memory of the model, as eager code writes to it.
func TestProgram_writesState(t *testing.T) {
	for name, target := range map[string]lowering.Target{"cpu": cpu.Target{}, "plain": plain{}} {
		t.Run(name, func(t *testing.T) {
			step := func(w *tensor.Tensor) func(x *tensor.Tensor) (a, b *tensor.Tensor) {
				return func(x *tensor.Tensor) (a, b *tensor.Tensor) {
					y := w.Mul(x)
					w.SubInPlace(y.MulScalar(0.5))
					return y, w
				}
			}
			s := open(t, lazy.Options{Target: target})
			w, v := param(1, 2), param(1, 2)
			memory := w.Value().(*array.Array)
			p, err := s.Program(step(w), vec(3, 4))
			require.NoError(t, err)
			require.Equal(t, "tensor([1., 2.])", w.String(), "nothing has run")
			eager := step(v)
			var kept []*tensor.Tensor
			for i := range 4 {
				x := vec(float32(i), 3)
				got, err := p.Run(x)
				require.NoError(t, err)
				a, b := eager(x)
				require.Equal(t, a.String(), got[0].String())
				require.Equal(t, b.String(), got[1].String())
				require.Equal(t, v.String(), w.String())
				kept = append(kept, got[1])
				if i == 1 { // code next to the program is seen
					w.MulScalarInPlace(3)
					v.MulScalarInPlace(3)
				}
			}
			require.Same(t, memory, w.Value())
			require.NotEqual(t, kept[2].String(), kept[3].String(), "results have memory of their own")
			require.Equal(t, 1, s.Stats().Compiles)
			require.Zero(t, s.Stats().Calls)
		})
	}
}

// Weights that eager code, or the session, has written since are read as they are.
func TestProgram_weightsChange(t *testing.T) {
	for name, target := range map[string]lowering.Target{"cpu": cpu.Target{}, "plain": plain{}} {
		t.Run(name, func(t *testing.T) {
			s := open(t, lazy.Options{Target: target})
			net := nn.NewLinear(2, 2)
			other := vec(1, 1)
			step := func(x *tensor.Tensor) *tensor.Tensor { return net.Forward(x).Add(other) }
			x := tensor.Ones(1, 2)
			p, err := s.Program(step, x)
			require.NoError(t, err)
			same := func() {
				t.Helper()
				got, err := p.Run(x)
				require.NoError(t, err)
				require.Equal(t, step(x).String(), got[0].String())
			}
			same()
			require.Equal(t, 1, s.Stats().Compiles)
			net.Weight.MulScalarInPlace(2)
			same()
			net.Weight.MulScalarInPlace(2)
			same()
			require.Equal(t, 2, s.Stats().Compiles, "it is an input now")
			net.Bias.AddInPlace(s.In(vec(1, 2))) // is recorded
			got, err := p.Run(x)
			require.NoError(t, err)
			require.Equal(t, 1, s.Stats().Flushes[lazy.Run])
			require.Equal(t, step(x).String(), got[0].String())
			tensor.Data[float32](other)[0] = 7
			same()
			tensor.Data[float32](net.Weight)[0] = 7
			same()
		})
	}
}

// Values that were read of memory before a run keep what it held.
func TestProgram_recordedReaders(t *testing.T) {
	s := open(t, lazy.Options{})
	w := param(1, 2)
	p, err := s.Program(func(x *tensor.Tensor) *tensor.Tensor { w.AddInPlace(x); return x }, vec(1, 1))
	require.NoError(t, err)
	before := s.In(vec(0, 0)).Add(w)
	_, err = p.Run(vec(1, 1))
	require.NoError(t, err)
	require.Equal(t, "tensor([1., 2.])", before.String())
	require.Equal(t, "tensor([2., 3.])", s.In(vec(0, 0)).Add(w).String())
	_, err = p.Run(w) // the memory that the run writes
	require.NoError(t, err)
	require.Equal(t, "tensor([4., 6.])", w.String())
}

// A step may use what the session follows.
func TestProgram_ofFollowedTensors(t *testing.T) {
	s := open(t, lazy.Options{})
	w := param(1, 2)
	before := s.In(vec(0, 0)).Add(w)
	inner := before.Exp()
	inner.MulScalar(2)
	p, err := s.Program(func(x *tensor.Tensor) *tensor.Tensor { w.AddInPlace(x); return w.MulScalar(2) }, vec(1, 1))
	require.NoError(t, err)
	got, err := p.Run(vec(1, 1))
	require.NoError(t, err)
	require.Equal(t, "tensor([4., 6.])", got[0].String())
	w.MulScalarInPlace(0)
	require.Equal(t, "tensor([1., 2.])", before.String())
	require.Equal(t, "tensor([2.7183, 7.3891])", inner.String())

	u := param(1, 2)
	read := s.In(vec(0, 0)).Add(u)
	_, err = s.Program(func(x *tensor.Tensor) *tensor.Tensor { u.MulScalarInPlace(2); return x.Add(u) }, vec(1, 1))
	require.Error(t, err)
	require.Equal(t, lazy.Stale, panicOf(t, func() { _ = read.String() }).Code)
	require.Equal(t, "tensor([2., 4.])", s.In(vec(0, 0)).Add(u).String())
}

// Gradients belong into the step.
func TestProgram_gradients(t *testing.T) {
	s := open(t, learning)
	w := param(1, 2)
	train := func(x *tensor.Tensor) *tensor.Tensor {
		loss := w.Mul(x).Square().Sum()
		w.SubInPlace(tensor.Grad(loss, w)[0].MulScalar(0.1))
		return loss
	}
	p, err := s.Program(train, vec(1, 2))
	require.NoError(t, err)
	loss, err := p.Run(vec(1, 2))
	require.NoError(t, err)
	require.Equal(t, 17.0, loss[0].Item())
	require.Equal(t, "tensor([0.8000, 0.4000])", w.String())
	e := panicOf(t, func() { tensor.Grad(loss[0].Mul(w.Sum()), w) })
	require.Equal(t, lazy.Past, e.Code)
	require.Contains(t, e.Msg, "is the result of a Program")
}

// Branches and loops of tensors read weights that change.
func TestProgram_regions(t *testing.T) {
	s := open(t, lazy.Options{})
	w := param(1, 2)
	step := func(x *tensor.Tensor) *tensor.Tensor {
		return tensor.Cond(x.Sum().GtScalar(0), func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Mul(w)} },
			func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Sub(w)} }, x)[0]
	}
	p, err := s.Program(step, vec(1, 1))
	require.NoError(t, err)
	for range 3 {
		for _, x := range []*tensor.Tensor{vec(1, 1), vec(-1, -1)} {
			got, err := p.Run(x)
			require.NoError(t, err)
			require.Equal(t, step(x).String(), got[0].String())
		}
		w.MulScalarInPlace(2)
	}
}

// What a program cannot repeat is refused, at the line.
func TestProgram_refuses(t *testing.T) {
	s := open(t, lazy.Options{})
	both := []float32{3, 4}
	x, w, h, own, own2 := vec(1, 2), param(1, 2), s.In(vec(5, 6)), tensor.FromSlice(both), tensor.FromSlice(both)
	for name, c := range map[string]struct {
		step any
		code diag.Code
	}{
		"reads an input":             {func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(x.Sum().Item()) }, "FX1004"},
		"reads a parameter":          {func(x *tensor.Tensor) *tensor.Tensor { return x.Mul(w).MulScalar(w.Select(0, 0).Item()) }, lazy.Forbidden},
		"reads a recorded":           {func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(h.Sum().Item()) }, lazy.Forbidden},
		"reads a known value":        {func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(h.Select(0, 0).Item()) }, lazy.Forbidden},
		"writes to a slice":          {func(x *tensor.Tensor) *tensor.Tensor { tensor.Data[float32](w)[0] = 1; return x.Mul(w) }, lazy.Forbidden},
		"writes to another's slice":  {func(x *tensor.Tensor) *tensor.Tensor { tensor.Data[float32](own2)[1] = 7; return x.Add(own) }, lazy.Forbidden},
		"writes a tensor of Go code": {func(x *tensor.Tensor) *tensor.Tensor { tensor.Data[float32](own)[1] = 7; return own }, lazy.Forbidden},
		"uses a recorded":            {func(x *tensor.Tensor) *tensor.Tensor { return x.Add(h) }, tensor.MixedEngines},
		"writes an input":            {func(x *tensor.Tensor) *tensor.Tensor { x.AddScalarInPlace(1); return x }, "FX1011"},
		"counts": {func() func(x *tensor.Tensor) *tensor.Tensor {
			n := 0
			return func(x *tensor.Tensor) *tensor.Tensor { n++; return x.MulScalar(n) }
		}(), "FX1044"},
		"no function": {3, "FX1003"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Program(c.step, x)
			require.ErrorIs(t, err, c.code)
			if c.code == lazy.Forbidden {
				var e *diag.Error
				require.ErrorAs(t, err, &e)
				require.Contains(t, e.Pos.Func, "TestProgram_refuses.func", "the line is one of the step")
			}
		})
	}
	_, err := s.Program(func(x *tensor.Tensor) *tensor.Tensor { return x }, nil)
	require.ErrorIs(t, err, tensor.NilTensor)
	require.Equal(t, "tensor([5., 6.])", h.String(), "the session goes on")

	p, err := s.Program(func(x *tensor.Tensor) *tensor.Tensor { return x.Exp() }, x)
	require.NoError(t, err)
	_, err = p.Run(vec(1, 2, 3))
	require.ErrorIs(t, err, interp.GuardFailed)
	_, err = p.Run()
	require.ErrorIs(t, err, interp.MissingInput)
	_, err = p.Run(x, x)
	require.ErrorIs(t, err, interp.ExtraInput)
	_, err = p.Run(nil)
	require.ErrorIs(t, err, tensor.NilTensor)
	require.ErrorIs(t, s.NoFlush(func() {
		_, err = p.Run(x)
	}), nil)
	require.ErrorIs(t, err, lazy.Forbidden)
	p.Close()
	p.Close()
	_, err = p.Run(x)
	require.ErrorIs(t, err, lazy.Closed)
	require.NoError(t, s.Close())
	_, err = s.Program(func(x *tensor.Tensor) *tensor.Tensor { return x }, x)
	require.ErrorIs(t, err, lazy.Closed)
}

func TestProgram_refusingTarget(t *testing.T) {
	s := open(t, lazy.Options{Target: refusing{}})
	_, err := s.Program(func(x *tensor.Tensor) *tensor.Tensor { return x.Exp() }, vec(1))
	require.ErrorIs(t, err, lowering.Unsupported)
}
