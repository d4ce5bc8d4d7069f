package lazy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/tensor"
)

var learning = lazy.Options{Gradients: true}

func param(v ...float32) *tensor.Tensor { return tensor.Param(array.FromSlice(v)) }

// Gradients are those of eager code, also where values were read on the way and Go code
// branched on them.
func TestGrad_equalsEager(t *testing.T) {
	w, v := param(1, -2, 3), param(.5, 1, 2)
	step := func(x *tensor.Tensor) *tensor.Tensor {
		h := x.Mul(w).Tanh()
		for i := 0; i < 3 && h.Sum().Item() < 2; i++ {
			h = h.Add(v).Mul(w)
		}
		if h.Max().Item() > 1 {
			h = h.Square()
		}
		return h.Mul(v).Mean()
	}
	x := vec(1, 2, 3)
	want, wants, err := fx.ValueAndGrad(func() *tensor.Tensor { return step(x) }, w, v)
	require.NoError(t, err)
	s := open(t, learning)
	for range 4 { // interpreted and compiled
		loss := step(s.In(x))
		g := tensor.Grad(loss, w, v)
		require.Equal(t, want.Item(), loss.Item())
		require.Equal(t, show(wants[0])+show(wants[1]), show(g[0])+show(g[1]))
		require.NoError(t, s.Barrier())
		s.Wait()
	}
	require.Positive(t, s.Stats().Hits)
}

// A step of training in a session is that of eager code, in bits, and compiles nothing after
// the first steps.
func TestGrad_trains(t *testing.T) {
	run := func(s *lazy.Session) (losses []float64) {
		l := nn.NewSequential(nn.NewLinear(3, 4, nn.Seed(1)), nn.NewTanh(), nn.NewLinear(4, 1, nn.Seed(2)))
		x, y := tensor.Randn(tensor.Scalar(int64(3)), 8, 3), tensor.Randn(tensor.Scalar(int64(4)), 8, 1)
		var params, speeds []*tensor.Tensor
		for _, p := range nn.Parameters(l) {
			params = append(params, p)
			speeds = append(speeds, tensor.Param(array.New(p.DType(), p.Shape()...)))
		}
		update := func(grads []*tensor.Tensor) {
			for i, g := range grads {
				speeds[i].MulScalarInPlace(.9)
				speeds[i].AddInPlace(g)
				params[i].SubInPlace(speeds[i].MulScalar(.05))
			}
		}
		for i := range 8 {
			if s == nil {
				loss, grads, err := fx.ValueAndGrad(func() *tensor.Tensor { return l.Forward(x).Sub(y).Square().Mean() }, params...)
				require.NoError(t, err)
				update(grads)
				losses = append(losses, loss.Item())
				continue
			}
			loss := l.Forward(s.In(x)).Sub(s.In(y)).Square().Mean()
			update(tensor.Grad(loss, params...))
			losses = append(losses, loss.Item())
			require.NoError(t, s.Barrier())
			if i == 4 {
				s.Wait()
			}
		}
		return losses
	}
	s := open(t, learning)
	require.Equal(t, run(nil), run(s))
	require.Positive(t, s.Stats().Hits)
}

// Gradients by inputs, by values on the way, of gradients, and of what nothing depends on.
func TestGrad_ofAnything(t *testing.T) {
	s := open(t, learning)
	x := s.In(vec(1, 2))
	y := x.Square()
	require.Equal(t, "[1 2]", show(x))
	loss := y.Mul(x).Sum() // x³
	require.Equal(t, 9.0, loss.Item())
	g := tensor.Grad(loss, x, y)
	require.Equal(t, "[3 12][1 2]", show(g[0])+show(g[1]))
	require.Equal(t, "[6 12]", show(tensor.Grad(g[0].Sum(), x)[0]))
	e := panicOf(t, func() { tensor.Grad(loss, x, s.In(vec(1))) })
	require.Equal(t, grad.Unreached, e.Code)
	zero := tensor.GradWith(loss, []*tensor.Tensor{x, s.In(vec(1))}, tensor.GradOptions{AllowUnused: true})
	require.Equal(t, "[0]", show(zero[1]))
	require.Equal(t, "[3 12]", show(zero[0]), "the session goes on")
}

// What the session does not know the past of is refused where it may matter, and is a
// constant elsewhere.
func TestGrad_ofAPast(t *testing.T) {
	w := param(2, 3)
	wrong := func(h func(s *lazy.Session) *tensor.Tensor) func(t *testing.T) {
		return func(t *testing.T) {
			s := open(t, learning)
			v := h(s)
			e := panicOf(t, func() { tensor.Grad(v.Mul(w).Sum(), w) })
			require.Equal(t, lazy.Past, e.Code)
			require.Equal(t, "grad_test.go", base(e.Pos))
			require.Equal(t, show(v), show(tensor.Grad(v.Detach().Mul(w).Sum(), w)[0]), "the cure")
		}
	}
	t.Run("barrier", wrong(func(s *lazy.Session) *tensor.Tensor {
		y := s.In(vec(1, 2)).Mul(w)
		require.NoError(t, s.Barrier())
		return y.AddScalar(1)
	}))
	t.Run("data", wrong(func(s *lazy.Session) *tensor.Tensor {
		y := s.In(vec(1, 2)).Mul(w)
		tensor.Data[float32](y)[0] = 7
		return y
	}))
	t.Run("data of a view", wrong(func(s *lazy.Session) *tensor.Tensor {
		y := s.In(vec(1, 2)).Mul(w)
		z := y.Flip(0)
		tensor.Data[float32](z.Slice(0, 0, 1))[0] = 7
		return y.Add(z)
	}))
	t.Run("eager code", wrong(func(s *lazy.Session) *tensor.Tensor {
		w := param(1, 2)
		y := w.Square()
		w.AddScalarInPlace(1)
		return s.In(vec(1, 1)).Mul(y.AddScalar(1))
	}))
	t.Run("eager code and data", wrong(func(s *lazy.Session) *tensor.Tensor {
		w := param(1, 2)
		y := w.Square()
		tensor.Data[float32](w)[0] = 7
		return s.In(vec(1, 1)).Mul(y.AddScalar(1))
	}))
	t.Run("function", wrong(func(s *lazy.Session) *tensor.Tensor { return doubled(s.In(vec(1, 2)).Mul(w)) }))
	t.Run("sizes", wrong(func(s *lazy.Session) *tensor.Tensor {
		y := s.In(vec(1, 2)).Mul(w)
		values, _, _, _ := y.Unique()
		return values
	}))

	s := open(t, learning)
	x := s.In(vec(4, 8))
	mean := x.Mean()
	tensor.Data[float32](mean)
	scaled := doubled(x.Div(mean))
	require.NoError(t, s.Barrier())
	g := tensor.Grad(scaled.Mul(w).Sum(), w)
	require.Equal(t, show(scaled), show(g[0]), "nothing there depends on a parameter")
	e := panicOf(t, func() { tensor.Grad(scaled.Mul(x).Sum(), x) })
	require.Equal(t, lazy.Past, e.Code, "but on x")
	y := s.In(vec(1, 1))
	require.Equal(t, show(scaled), show(tensor.Grad(scaled.Mul(y).Sum(), y)[0]), "y came later")
}

// Values that were read, and tensors of a model that were written or read on the way, go on
// as what they were.
func TestGrad_throughMemory(t *testing.T) {
	x := vec(1, 2)
	for name, step := range map[string]func(w, b, x *tensor.Tensor) *tensor.Tensor{
		"a value": func(w, b, x *tensor.Tensor) *tensor.Tensor {
			y := x.Mul(w)
			return y.MulScalar(tensor.Data[float32](y)[0]).Mul(y)
		},
		"a parameter": func(w, b, x *tensor.Tensor) *tensor.Tensor {
			y := x.Mul(w)
			return y.MulScalar(tensor.Data[float32](w)[0]).Mul(w)
		},
		"a buffer": func(w, b, x *tensor.Tensor) *tensor.Tensor {
			b.AssignInPlace(x.Mul(w))
			y := b.Square()
			if b.Sum().Item() > 0 {
				return y.Mul(b)
			}
			return y
		},
		"a buffer that is handed out": func(w, b, x *tensor.Tensor) *tensor.Tensor {
			b.AssignInPlace(x.Mul(w))
			y := b.Square()
			tensor.Data[float32](b)
			return y.Mul(b)
		},
		"a view": func(w, b, x *tensor.Tensor) *tensor.Tensor {
			y := x.Mul(w)
			z := y.Slice(0, 1, 2)
			return y.MulScalar(tensor.Data[float32](z)[0]).Mul(z)
		},
	} {
		t.Run(name, func(t *testing.T) {
			grads := func(f func(w, b *tensor.Tensor) []*tensor.Tensor) string {
				w, b := param(2, 3), param(0, 0)
				g := f(w, b)
				return show(g[0]) + show(b)
			}
			want := grads(func(w, b *tensor.Tensor) []*tensor.Tensor {
				_, g, err := fx.ValueAndGrad(func() *tensor.Tensor { return step(w, b, x).Sum() }, w)
				require.NoError(t, err)
				return g
			})
			s := open(t, learning)
			require.Equal(t, want, grads(func(w, b *tensor.Tensor) []*tensor.Tensor {
				return tensor.Grad(step(w, b, s.In(x)).Sum(), w)
			}))
		})
	}
}

// Eager code writes a parameter to a part of a tensor: what holds the whole depends on it, too.
func TestGrad_ofAParameterInAPart(t *testing.T) {
	w := param(1, -2)
	s := open(t, learning)
	b := tensor.Zeros(4)
	b.Slice(0, 0, 2).AssignInPlace(w)
	loss := s.In(vec(1, 2, 3, 4)).Mul(b).Sum()
	e := panicOf(t, func() { tensor.Grad(loss, w) })
	require.Equal(t, lazy.Past, e.Code)
	require.Contains(t, e.Msg, "was computed without the session from a parameter")
}

// Writes past the session are refused where a gradient may go through what they wrote.
func TestGrad_pastTheSession(t *testing.T) {
	w := param(2, 3)
	t.Run("writes of eager code", func(t *testing.T) {
		s := open(t, learning)
		b := param(4, 5)
		require.NoError(t, s.Barrier())
		step := func() []*tensor.Tensor { return tensor.Grad(s.In(vec(1, 2)).Mul(b).Sum(), b, w) }
		b.Slice(0, 0, 1).MulInPlace(w.Slice(0, 1, 2))
		e := panicOf(t, func() { step() })
		require.Equal(t, lazy.Past, e.Code)
		require.Equal(t, "[1 2]", show(tensor.Grad(s.In(vec(1, 2)).Mul(b).Sum(), b)[0]), "nothing else is asked for")
		require.NoError(t, s.Barrier())
		e = panicOf(t, func() { step() })
		require.Equal(t, grad.Unreached, e.Code, "what was before a barrier is constant")
	})
	t.Run("inputs that Go code writes", func(t *testing.T) {
		s := open(t, learning)
		x := s.In(vec(1, 2))
		y := x.MulScalar(2)
		tensor.Data[float32](x)[0] = 5
		e := panicOf(t, func() { tensor.GradWith(y.Sum(), []*tensor.Tensor{x}, tensor.GradOptions{AllowUnused: true}) })
		require.Equal(t, lazy.Past, e.Code)
	})
	t.Run("outside", func(t *testing.T) {
		s := open(t, learning)
		y := tensor.Ones(2)
		tensor.Data[float32](y)
		e := panicOf(t, func() { y.AssignInPlace(s.In(vec(1, 2)).Mul(w)) })
		require.Equal(t, lazy.Past, e.Code)
	})
}

// A session without the option does not keep a past.
func TestGrad_needsItsOption(t *testing.T) {
	s := open(t, lazy.Options{})
	w := param(1)
	e := panicOf(t, func() { tensor.Grad(s.In(vec(1)).Mul(w).Sum(), w) })
	require.Equal(t, tensor.NotRecorded, e.Code)
	require.Contains(t, e.Hint, "Gradients")
}

// Asking for a gradient computes nothing: loss and gradient are one graph.
func TestGrad_asksForNothing(t *testing.T) {
	s := open(t, learning)
	w := param(1, 2)
	require.NoError(t, s.NoFlush(func() {
		g := tensor.Grad(s.In(vec(1, 2)).Mul(w).Square().Sum(), w)
		w.SubInPlace(g[0])
	}))
	require.NoError(t, s.Barrier())
	st := s.Stats()
	require.Equal(t, []int{1, 1}, []int{st.Graphs, st.Flushes[lazy.Barrier]})
}

// Several mistakes are one error, at the line of the first.
func TestGrad_mistakes(t *testing.T) {
	s := open(t, learning)
	w, v := param(1, 2), param(3)
	x := s.In(vec(1, 2)).Mul(w)
	e := panicOf(t, func() { tensor.Grad(x.Sum(), v, s.In(vec(5))) })
	require.Equal(t, grad.Unreached, e.Code)
	require.Len(t, e.Related, 1)
	e = panicOf(t, func() { tensor.Grad(x, w) })
	require.Equal(t, diag.Code("FX3092"), e.Code)
	require.Equal(t, "grad_test.go", base(e.Pos))
}

// Written parameters: a loss from before the write does not depend on the new value, one
// from after it does, by the value that it reads.
func TestGrad_afterWrites(t *testing.T) {
	s := open(t, learning)
	w := param(2, 3)
	x := s.In(vec(1, 1))
	before := x.Mul(w).Sum()
	w.MulScalarInPlace(2)
	e := panicOf(t, func() { tensor.Grad(before, w) })
	require.Equal(t, grad.Unreached, e.Code)
	after := x.Mul(w).Square().Sum()
	require.Equal(t, "[8 12]", show(tensor.Grad(after, w)[0]))
	require.NoError(t, s.Barrier())
	require.Equal(t, "[4 6]", show(w))
	require.Equal(t, "[8 12]", show(tensor.Grad(s.In(vec(1, 1)).Mul(w).Square().Sum(), w)[0]))
}

// What a step leaves in a model is a constant of the next one.
func TestGrad_stateOfTheStepBefore(t *testing.T) {
	s := open(t, learning)
	w, mean := param(2, 3), param(0, 0)
	for range 3 {
		mean.AssignInPlace(s.In(vec(1, 1)).Mul(w))
		require.Positive(t, mean.Sum().Item())
		require.NoError(t, s.Barrier())
		g := tensor.Grad(s.In(vec(1, 2)).Mul(w).Mul(mean).Sum(), w)
		require.Equal(t, "[2 6]", show(g[0]))
		require.NoError(t, s.Barrier())
	}
}

// Steps leave nothing: what one has kept goes at its barrier.
func TestGrad_keepsOneStep(t *testing.T) {
	s := open(t, learning)
	w := param(1, 1)
	for range 50 {
		loss := s.In(vec(1, 2)).Mul(w).Square().Sum()
		w.SubInPlace(tensor.Grad(loss, w)[0].MulScalar(.01))
		loss.Item()
		require.NoError(t, s.Barrier())
		require.Zero(t, lazy.Remembered(s))
	}
}

// Gradients that were asked for together are computed together, when the first of them is read.
func TestGrad_readOneByOne(t *testing.T) {
	s := open(t, learning)
	w, v, u := param(1, 2), param(3, 4), param(5, 6)
	flushes := func() (n int) {
		for _, k := range s.Stats().Flushes {
			n += k
		}
		return n
	}
	for range 3 {
		x := s.In(vec(1, 2))
		before := flushes()
		g := tensor.Grad(x.Mul(w).Mul(v).Mul(u).Sum(), w, v, u)
		require.Equal(t, before, flushes(), "asking computes nothing")
		require.Equal(t, "[15 48]", show(g[0]))
		require.Equal(t, before+1, flushes())
		require.Equal(t, "[5 24]", show(g[1]))
		require.Equal(t, "[3 16]", show(g[2]))
		require.Equal(t, before+1, flushes(), "others are there")
		one := tensor.Grad(x.Mul(w).Square().Sum(), w)
		two := tensor.Grad(x.Mul(v).Square().Sum(), v)
		show(one[0])
		require.Equal(t, before+2, flushes())
		show(two[0])
		require.Equal(t, before+3, flushes(), "each Grad is one")
		require.NoError(t, s.Barrier())
		require.Equal(t, before+3, flushes(), "nothing is left")
		require.Zero(t, lazy.Remembered(s))
	}
}

// A member of Chunk, Split or Unbind is one value for all who read it, so that a loss is
// differentiated by it, also after writes to the memory that it shows.
func TestGrad_byMembersOfViews(t *testing.T) {
	for name, parts := range map[string]func(x *tensor.Tensor) []*tensor.Tensor{
		"chunk":  func(x *tensor.Tensor) []*tensor.Tensor { return x.Chunk(2, 0) },
		"split":  func(x *tensor.Tensor) []*tensor.Tensor { return x.Split([]int{1, 3}, 0) },
		"unbind": func(x *tensor.Tensor) []*tensor.Tensor { return x.Unbind(0, 4) },
	} {
		for _, write := range []bool{false, true} {
			s := open(t, learning)
			x := s.In(vec(1, 2, 3, 4)).MulScalar(2)
			p := parts(x)
			if write {
				p[1].AddScalarInPlace(1)
			}
			loss := p[0].Square().Sum().Add(p[1].Sum())
			g := tensor.GradWith(loss, p[:2], tensor.GradOptions{AllowUnused: true})
			require.Equal(t, show(p[0].MulScalar(2)), show(g[0]), name)
			require.Equal(t, show(p[1].OnesLike()), show(g[1]), name)
		}
	}
}
