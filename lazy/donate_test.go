package lazy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/tensor"
)

// heavyBall is a step of training, written by hand. It returns a value on the way and the update.
func heavyBall(x, w, m *tensor.Tensor) (inner, delta *tensor.Tensor) {
	y := x.Mul(w)
	m.AddInPlace(y.Sub(m).MulScalar(0.5))
	delta = m.MulScalar(0.25)
	w.SubInPlace(delta)
	return y, delta
}

// W11: with Donate, nothing is copied, and nothing is compiled after step 3.
func TestRows_W11_updatesInPlace(t *testing.T) {
	for name, target := range map[string]lowering.Target{"cpu": cpu.Target{}, "plain": plain{}} {
		t.Run(name, func(t *testing.T) {
			s := open(t, lazy.Options{Donate: true, Target: target})
			w, m, v, n := param(1, 2), param(0, 0), param(1, 2), param(0, 0)
			memory := w.Value().(*array.Array)
			for i := range 8 {
				x := vec(float32(i), 1)
				heavyBall(s.In(x), w, m)
				require.NoError(t, s.Barrier())
				s.Wait()
				heavyBall(x, v, n)
				require.Equal(t, v.String(), w.String(), "step %d", i)
				require.Equal(t, n.String(), m.String())
				switch {
				case i == 2:
					require.Equal(t, 1, s.Stats().Compiles)
				case i > 2 && name == "cpu":
					require.Equal(t, 2*(i-2), s.Stats().Donated)
					require.Equal(t, 6, s.Stats().Copied, "of the first three steps")
				}
			}
			require.Equal(t, 1, s.Stats().Compiles)
			require.Equal(t, 5, s.Stats().Hits)
			require.Same(t, memory, w.Value())
			if name == "plain" {
				require.Zero(t, s.Stats().Donated)
			}
		})
	}
}

// A step that is not like the two before it, and a flush that is no barrier, donate nothing.
func TestDonate_onlyRepeatedBarriers(t *testing.T) {
	s := open(t, lazy.Options{Donate: true, Warm: 1})
	w, v := param(1, 2), param(1, 2)
	step := func(x, w *tensor.Tensor, odd bool) {
		y := x.Mul(w)
		if odd {
			y = y.Exp()
		}
		w.SubInPlace(y.MulScalar(0.125))
	}
	for i := range 8 {
		step(s.In(vec(1, 1)), w, i%2 == 1)
		step(vec(1, 1), v, i%2 == 1)
		require.NoError(t, s.Barrier())
		s.Wait()
	}
	require.Zero(t, s.Stats().Donated)
	require.Equal(t, v.String(), w.String())
	for range 4 {
		step(s.In(vec(1, 1)), w, false)
		step(vec(1, 1), v, false)
		require.NoError(t, s.Barrier())
		s.Wait()
	}
	require.Equal(t, 1, s.Stats().Donated)
	step(s.In(vec(1, 1)), w, false)
	step(vec(1, 1), v, false)
	require.Equal(t, v.String(), w.String(), "the print is no barrier")
	require.Equal(t, 1, s.Stats().Donated)
}

// donating runs so many steps that the next one is donated.
func donating(t *testing.T, s *lazy.Session, step func()) {
	t.Helper()
	for range 4 {
		step()
		require.NoError(t, s.Barrier())
		s.Wait()
	}
	require.NotZero(t, s.Stats().Donated)
}

// What a donated barrier makes unreachable is an error with the line of the value, that of the
// barrier, and the cure; with Keep it is there.
func TestDonate_unreachable(t *testing.T) {
	s := open(t, lazy.Options{Donate: true})
	w, m := param(1, 2), param(0, 0)
	var inner, delta *tensor.Tensor
	step := func() { inner, delta = heavyBall(s.In(vec(1, 1)), w, m) }
	donating(t, s, step)
	e := panicOf(t, func() { _ = inner.String() })
	require.Equal(t, lazy.Donated, e.Code)
	require.Equal(t, "donate_test.go", base(e.Pos))
	require.Equal(t, "mul", e.Op)
	require.Contains(t, e.Hint, "s.Keep")
	require.Len(t, e.Related, 1)
	require.Equal(t, "donate_test.go", base(e.Related[0].Pos))
	require.NotPanics(t, func() { _ = delta.String() }, "it needs new values alone")
	later := s.In(vec(0, 0)).Add(inner)
	require.NoError(t, s.Barrier(), "nobody has asked")
	require.Equal(t, lazy.Donated, panicOf(t, func() { _ = later.String() }).Code)
	_ = w.String()

	eager, old := w.Clone(), m.Clone()
	for range 5 {
		step()
		s.Keep(inner, delta)
		require.NoError(t, s.Barrier())
		s.Wait()
		a, b := heavyBall(vec(1, 1), eager, old)
		require.Equal(t, a.String(), inner.String())
		require.Equal(t, b.String(), delta.String())
		require.Equal(t, eager.String(), w.String())
	}
	donated := s.Stats().Donated
	step()
	require.NoError(t, s.Barrier())
	require.Equal(t, donated, s.Stats().Donated, "another graph than the last ones")
}

// The new value of a tensor, held by name, is right until the next update, or longer with Keep.
func TestDonate_theNewValueItself(t *testing.T) {
	s := open(t, lazy.Options{Donate: true})
	w := param(1, 2)
	var now *tensor.Tensor
	step := func() {
		now = w.Sub(s.In(vec(0.25, 0.25)))
		w.AssignInPlace(now)
	}
	donating(t, s, step)
	require.Equal(t, "tensor([0., 1.])", now.String())
	kept := now
	w.MulScalarInPlace(2) // eager
	require.Equal(t, "tensor([0., 1.])", kept.String())
	require.Equal(t, "tensor([0., 2.])", w.String())
	step()
	require.NoError(t, s.Barrier())
	first := now
	step()
	require.NoError(t, s.Barrier())
	require.Equal(t, lazy.Donated, panicOf(t, func() { _ = first.String() }).Code)
	require.Equal(t, w.String(), now.String())
	view := now.Select(0, 0)
	s.Keep(now)
	step()
	require.NoError(t, s.Barrier())
	require.Equal(t, "tensor(-0.5000)", view.String())
	require.Equal(t, "tensor([-0.7500,  1.2500])", w.String())
}

// Memory that the program was given is not donated.
func TestDonate_memoryOfOthers(t *testing.T) {
	s := open(t, lazy.Options{Donate: true})
	w := param(1, 2)
	step := func() { w.AddInPlace(s.In(vec(1, 1)).Mul(w)) }
	donating(t, s, step)
	donated := s.Stats().Donated
	data := tensor.Data[float32](w)
	require.Equal(t, []float32{16, 32}, data)
	for i := range 5 {
		step()
		require.NoError(t, s.Barrier())
		s.Wait()
		require.Equal(t, []float32{float32(int(32) << i), float32(int(64) << i)}, data)
	}
	require.Equal(t, donated, s.Stats().Donated)
	data[0] = 1
	step()
	require.NoError(t, s.Barrier())
	require.Equal(t, float32(2), data[0])
}

// A tensor that has the new value by name never is the model's memory.
func TestDonate_handlesOwnTheirMemory(t *testing.T) {
	s := open(t, lazy.Options{Donate: true})
	w := param(1, 2)
	var now *tensor.Tensor
	step := func() {
		now = w.Sub(s.In(vec(0.25, 0.25)))
		w.AssignInPlace(now)
	}
	donating(t, s, step)
	tensor.Data[float32](now)[0] = 9
	require.Equal(t, "tensor([0., 1.])", w.String())
	step()
	require.NoError(t, s.Barrier())
	require.NoError(t, s.Close())
	w.MulScalarInPlace(2)
	require.Equal(t, "tensor([-0.2500,  0.7500])", now.String())
	require.Equal(t, "tensor([-0.5000,  1.5000])", w.String())
}

// A member of several results may be the new value.
func TestDonate_members(t *testing.T) {
	s := open(t, lazy.Options{Donate: true})
	w, v := param(4, 1, 2), param(4, 1, 2)
	var sorted *tensor.Tensor
	step := func(w, x *tensor.Tensor) *tensor.Tensor {
		y, _ := x.Add(w).Sort(0, tensor.SortAttrs{})
		w.AssignInPlace(y)
		return y
	}
	donating(t, s, func() { sorted = step(w, s.In(vec(0, 1, 3))) })
	first := sorted
	step(w, s.In(vec(0, 1, 3)))
	require.NoError(t, s.Barrier())
	require.Equal(t, lazy.Donated, panicOf(t, func() { _ = first.String() }).Code)
	for range 5 {
		step(v, vec(0, 1, 3))
	}
	require.Equal(t, v.String(), w.String())
}

// Targets with memory of their own give the new values back in the memory of the model, too.
func TestDonate_onDevices(t *testing.T) {
	d, err := gpu.Open("")
	if err != nil {
		require.ErrorIs(t, err, gpu.NoDevice)
		t.Skip(err)
	}
	s := open(t, lazy.Options{Donate: true, Rounding: true, Strict: true, Target: gpu.Target{Device: d, Cache: "-"}})
	w, m, v, n := param(1, 2), param(0, 0), param(1, 2), param(0, 0)
	memory := w.Value().(*array.Array)
	for i := range 8 {
		x := vec(float32(i), 1)
		heavyBall(s.In(x), w, m)
		require.NoError(t, s.Barrier())
		heavyBall(x, v, n)
	}
	fxtest.Close(t, "steps", []*array.Array{v.Array(), n.Array()}, []*array.Array{w.Array(), m.Array()})
	require.Same(t, memory, w.Value())
	require.Equal(t, 10, s.Stats().Donated, "from the fourth step on: the first one had weights that nothing had written")
}

// A value on the way that is read after each barrier, from the first on, is kept by the plan, which
// updates the model in its memory all the same.
func TestDonate_whatIsReadInEveryStep(t *testing.T) {
	s := open(t, lazy.Options{Donate: true, Synchronous: true})
	w, m, v, n := param(1, 2), param(0, 0), param(1, 2), param(0, 0)
	for i := range 9 {
		x := vec(float32(i), 1)
		inner, _ := heavyBall(s.In(x), w, m)
		require.NoError(t, s.Barrier())
		want, _ := heavyBall(x, v, n)
		require.Equal(t, want.String(), inner.String(), "step %d", i)
		require.Equal(t, v.String(), w.String())
	}
	require.Equal(t, []int{1, 1, 12}, []int{s.Stats().Graphs, s.Stats().Compiles, s.Stats().Donated})
}

// A parameter shows the memory of another in another order: what is written to one is read of both.
func TestDonate_parametersOfOneMemory(t *testing.T) {
	for name, step := range map[string]func(w, tied, g *tensor.Tensor){
		"a part of the tied one": func(_, tied, g *tensor.Tensor) { tied.Select(0, 0).AddInPlace(g) },
		"both":                   func(w, tied, g *tensor.Tensor) { w.SubInPlace(w.Mul(g)); tied.Select(0, 0).AddInPlace(g) },
		"one for the other":      func(w, tied, g *tensor.Tensor) { w.AssignInPlace(tied.T().Select(0, 0).Mul(g).Sub(w)) },
	} {
		for _, donate := range []bool{false, true} {
			s := open(t, lazy.Options{Donate: donate, Warm: 1})
			made := func() (w, tied *tensor.Tensor) {
				w = tensor.Param(array.FromSlice([]float32{1.5, .25, -1.5, 0, .75, -.5}, 2, 3))
				return w, tensor.Param(w.T().Array())
			}
			w, tied := made()
			v, twin := made()
			for i := range 6 {
				x := vec(float32(i)/8, .25)
				step(w, tied, s.In(x).Mean())
				require.NoError(t, s.Barrier())
				s.Wait()
				step(v, twin, x.Mean())
				require.Equal(t, v.String(), w.String(), "%s, step %d", name, i)
				require.Equal(t, twin.String(), tied.String(), "%s, step %d", name, i)
			}
		}
	}
}
