package fx_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
	"github.com/gofx-dev/gofx/tracer/alias"
)

func floats(a *array.Array) []float64 { return array.Data[float64](array.Contiguous(a)) }

func vec64(v ...float64) *array.Array { return array.FromSlice(v, len(v)) }

// traced captures a function of one vector f64[3] and runs it on x, interpreted and
// optimised.
func traced(t *testing.T, f any, x ...float64) [][]float64 {
	t.Helper()
	gm, err := fx.Trace(t.Context(), f, fx.Input("x", "f64[3]"))
	require.NoError(t, err)
	return both(t, gm, x...)
}

func both(t *testing.T, gm *fx.GraphModule, x ...float64) (values [][]float64) {
	t.Helper()
	in := func() []*array.Array { return []*array.Array{vec64(x...)} }
	fast := fx.NewGraphModule(graph.Clone(gm.Module))
	out, err := gm.RunArrays(t.Context(), in())
	require.NoError(t, err, gm.String())
	_, err = fast.Apply(t.Context(), fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	again, err := fast.RunArrays(t.Context(), in())
	require.NoError(t, err)
	for i, a := range out {
		values = append(values, floats(a))
		require.InDeltaSlice(t, values[i], floats(again[i]), 1e-12)
	}
	return values
}

// refusedGrad captures a function that is wrong and returns the mistakes, which are at lines
// of this file.
func refusedGrad(t *testing.T, f any, o ...fx.Option) diag.List {
	t.Helper()
	_, err := fx.Trace(t.Context(), f, append([]fx.Option{fx.Input("x", "f64[3]")}, o...)...)
	require.Error(t, err)
	var list diag.List
	require.ErrorAs(t, err, &list)
	for _, e := range list {
		require.Regexp(t, "fx/grad_[a-z]*_test.go$", e.Pos.File, "%v", e)
		require.True(t, e.Hint != "" || e.Code == tensor.NilTensor, "%v", e)
	}
	return list
}

type pair = []*tensor.Tensor

func TestGrad_becomesPartOfTheTrace(t *testing.T) {
	out := traced(t, func(x *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) {
		loss := x.Square().Sum()
		return loss, tensor.Grad(loss, x)[0]
	}, 1, 2, 3)
	require.Equal(t, [][]float64{{14}, {2, 4, 6}}, out)
}

// The total derivative by a value on the way, and by what it is computed from.
func TestGrad_byIntermediateValues(t *testing.T) {
	out := traced(t, func(x *tensor.Tensor) pair {
		y := x.MulScalar(3)
		z := y.Gelu() // an expression, and below a call that is expanded
		loss := y.Square().Add(z).Add(y.Softmax(0)).Sum()
		g := tensor.Grad(loss, y, x, z, y)
		return pair{g[0], g[1], g[2], g[3]}
	}, 1, -2, .5)
	for i := range 3 {
		require.InDelta(t, 3*out[0][i], out[1][i], 1e-9)
	}
	require.Equal(t, []float64{1, 1, 1}, out[2])
	require.Equal(t, out[0], out[3])
}

// Dropout that drops nothing is its operand: the gradient by its value is not that by its
// operand.
func TestGrad_byCallThatIsItsOperand(t *testing.T) {
	out := traced(t, func(x *tensor.Tensor) pair {
		y := x.Flip(0).Flip(0).Transpose(0, 0)
		return tensor.Grad(y.Add(x.MulScalar(5)).Sum(), y, x)
	}, 1, 2, 3)
	require.Equal(t, [][]float64{{1, 1, 1}, {6, 6, 6}}, out)
}

func TestGrad_ofGrad(t *testing.T) {
	out := traced(t, func(x *tensor.Tensor) pair {
		first := tensor.Grad(x.PowScalar(4).Sum(), x)[0]
		second := tensor.Grad(first.Sum(), x)[0]
		return pair{first, second, tensor.Grad(second.Mul(x).Sum(), x)[0]}
	}, 1, 2, -1)
	require.InDeltaSlice(t, []float64{4, 32, -4}, out[0], 1e-9)
	require.InDeltaSlice(t, []float64{12, 48, 12}, out[1], 1e-9)
	require.InDeltaSlice(t, []float64{36, 144, 36}, out[2], 1e-9)
}

// A penalty on the gradient is differentiated through it; Detach stops that.
func TestGrad_stopsAtDetach(t *testing.T) {
	out := traced(t, func(x *tensor.Tensor) pair {
		free := x.Mul(x.Detach()).Sum()
		det := x.Mul(x.Detach().Reshape(1, 3).Matmul(x.Detach().Reshape(3, 1)).Reshape()) // no gradient of what lies before
		return pair{tensor.Grad(free, x)[0], tensor.Grad(det.Sum(), x)[0]}
	}, 1, 2, 3)
	require.Equal(t, [][]float64{{1, 2, 3}, {14, 14, 14}}, out)
}

// What has no gradient may stand before Detach.
func TestDetach_needsNoGradientBefore(t *testing.T) {
	out := traced(t, func(x *tensor.Tensor) pair {
		d := x.Reshape(3, 1).Matmul(x.Reshape(1, 3)).Det().Detach()
		return tensor.Grad(x.Sum().Add(d.Mul(x.Sum())), x)
	}, 1, 2, 3)
	require.Equal(t, [][]float64{{1, 1, 1}}, out)
}

// Detach shows the memory of its operand, as in PyTorch.
func TestDetach_isAView(t *testing.T) {
	run := func(x *tensor.Tensor) *tensor.Tensor {
		y := x.MulScalar(1)
		y.Detach().Select(0, 1).MulScalarInPlace(10)
		return y
	}
	require.Equal(t, []float64{1, 20, 3}, tensor.Data[float64](run(tensor.New(vec64(1, 2, 3)))))
	require.Equal(t, alias.NoInverse, refusedGrad(t, run)[0].Code)
	seen := traced(t, func(x *tensor.Tensor) *tensor.Tensor {
		y := x.MulScalar(1)
		d := y.Detach()
		y.MulScalarInPlace(2)
		return d
	}, 1, 2, 3)
	require.Equal(t, [][]float64{{2, 4, 6}}, seen)
}

// twoLayers calls its modules through nn.Run, as a user's model does.
type twoLayers struct {
	A, B *nn.Linear
	Drop *nn.Dropout
	Norm *nn.BatchNorm1d
}

func (m *twoLayers) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = nn.Run(m.A, x).Tanh()
	return m.B.Forward(m.Norm.Forward(x))
}

type stepOf struct{ Net *twoLayers }

// Forward is a training step with clipping in ordinary Go.
func (s *stepOf) Forward(x *tensor.Tensor) *tensor.Tensor {
	loss := nn.Run(s.Net, x).Square().Mean()
	params := []*tensor.Tensor{s.Net.A.Weight, s.Net.A.Bias, s.Net.B.Weight, s.Net.B.Bias, s.Net.Norm.Weight, s.Net.Norm.Bias}
	grads := tensor.Grad(loss, params...)
	norm := grads[0].Square().Sum()
	for _, g := range grads[1:] {
		norm = norm.Add(g.Square().Sum())
	}
	scale := norm.Sqrt().AddScalar(1e-6).Reciprocal().Clamp(0, 1)
	for i, p := range params {
		tensor.On(x, p).SubInPlace(grads[i].Mul(scale).MulScalar(.1))
	}
	return loss
}

func newTwoLayers() *twoLayers {
	return &twoLayers{A: nn.NewLinear(3, 4), B: nn.NewLinear(4, 2), Norm: nn.NewBatchNorm1d(4)}
}

// The step with tensor.Grad does what gm.ValueAndGrad's gradients say, and statistics are
// written once a run.
func TestGrad_clipsAndWritesParameters(t *testing.T) {
	ctx := t.Context()
	net := newTwoLayers()
	nn.Train(net)
	x := tensor.FromSlice([]float32{1, 2, 3, -1, 0, 2, .5, .25, -3, 1, 1, 1}, 4, 3)
	loss, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return net.Forward(x).Square().Mean() }, fx.Input("x", "f32[N,3]"), fx.Root(net))
	require.NoError(t, err)
	by, err := loss.ValueAndGrad(ctx, fx.GradOptions{})
	require.NoError(t, err)
	want, err := by.Run(ctx, x)
	require.NoError(t, err)
	norm := 0.
	for _, g := range want[1:] {
		norm += g.Square().Sum().Item()
	}
	require.Positive(t, norm)

	net = cloneLayers(net)
	step, err := fx.Trace(ctx, &stepOf{net}, fx.Input("x", "f32[N,3]"))
	require.NoError(t, err)
	old := step.Param("net.a.weight").Value
	before := tensor.New(array.Clone(old))
	got, err := step.Run(ctx, x)
	require.NoError(t, err)
	require.InDelta(t, want[0].Item(), got[0].Item(), 1e-6)
	after := tensor.New(step.Param("net.a.weight").Value)
	moved := before.Sub(after).Square().Sum().Sqrt().Item()
	scale := min(1, 1/(sqrt(norm)+1e-6))
	require.InDelta(t, .1*scale*want[1].Square().Sum().Sqrt().Item(), moved, 1e-5)
	counted := step.Param("net.norm.num_batches_tracked").Value
	require.EqualValues(t, 1, array.Int64At(counted, 0))
}

func sqrt(x float64) float64 { return tensor.Scalar(x).Sqrt().Item() }

// cloneLayers copies the parameters of a net into another one.
func cloneLayers(from *twoLayers) *twoLayers {
	to := newTwoLayers()
	nn.Train(to)
	for i, e := range nn.StateDict(from) {
		to := nn.StateDict(to)[i].Tensor
		if e.Tensor.DType() == array.F32 && !e.Buffer {
			to.AssignInPlace(e.Tensor)
		}
	}
	return to
}

// Two steps in one trace: the second differentiates by what the first has written.
func TestGrad_afterParametersAreWritten(t *testing.T) {
	w := tensor.Param(vec64(2, 3, 1))
	gm, err := fx.Trace(t.Context(), func(x *tensor.Tensor) pair {
		var all pair
		for range 2 {
			loss := w.Square().Mul(x).Sum()
			g := tensor.Grad(loss, w)[0]
			tensor.On(x, w).SubInPlace(g.MulScalar(.25))
			all = append(all, g)
		}
		return all
	}, fx.Input("x", "f64[3]"), fx.Root(&struct{ W *tensor.Tensor }{w}))
	require.NoError(t, err)
	out, err := gm.RunArrays(t.Context(), []*array.Array{vec64(1, 1, 2)})
	require.NoError(t, err)
	require.Equal(t, []float64{4, 6, 4}, floats(out[0]))
	require.Equal(t, []float64{2, 3, 0}, floats(out[1]))
	require.Equal(t, []float64{.5, .75, 0}, floats(gm.Param("w").Value))
}

// Tied weights have one gradient, and a tensor that is named twice has it twice.
func TestGrad_ofTiedWeights(t *testing.T) {
	a := nn.NewLinear(3, 3)
	m := &struct{ A, B *nn.Linear }{a, &nn.Linear{Weight: a.Weight, Bias: a.Bias}}
	run := func(f func(x *tensor.Tensor) pair) []*tensor.Tensor {
		gm, err := fx.Trace(t.Context(), f, fx.Input("x", "f32[1,3]"), fx.Root(m))
		require.NoError(t, err)
		out, err := gm.Run(t.Context(), tensor.FromSlice([]float32{1, 2, 3}, 1, 3))
		require.NoError(t, err)
		return out
	}
	out := run(func(x *tensor.Tensor) pair {
		loss := m.B.Forward(m.A.Forward(x)).Sum()
		return tensor.Grad(loss, m.A.Weight, m.B.Weight, m.A.Weight)
	})
	require.True(t, out[0].Equal(out[1]) && out[0].Equal(out[2]))
	free := run(func(x *tensor.Tensor) pair {
		w := m.A.Weight.MulScalar(1)
		h := tensor.Linear(x, w, m.A.Bias)
		u := m.A.Weight.MulScalar(1)
		g := tensor.Grad(tensor.Linear(h, u, m.A.Bias).Sum(), w, u)
		return pair{g[0].Add(g[1])}
	})
	require.InDelta(t, 0, free[0].Sub(out[0]).Abs().Max().Item(), 1e-5)
}

func TestGrad_refusals(t *testing.T) {
	w := tensor.Param(vec64(1, 2, 3))
	n := tensor.FromSlice([]int64{1, 2, 3})
	model := fx.Root(&struct{ W, N *tensor.Tensor }{w, n})
	for name, c := range map[string]struct {
		code diag.Code
		f    func(x *tensor.Tensor) *tensor.Tensor
	}{
		"not depending": {grad.Unreached, func(x *tensor.Tensor) *tensor.Tensor { return tensor.Grad(x.Sum(), w)[0] }},
		"integers":      {grad.NotFloat, func(x *tensor.Tensor) *tensor.Tensor { return tensor.Grad(x.Sum(), x, n)[1] }},
		"no scalar":     {grad.NotScalar, func(x *tensor.Tensor) *tensor.Tensor { return tensor.Grad(x.Square(), x)[0] }},
		"no gradient":   {op.NoGradient, func(x *tensor.Tensor) *tensor.Tensor { return tensor.Grad(x.Bitcast(array.F64).Sum(), x)[0] }},
		"detached":      {grad.Unreached, func(x *tensor.Tensor) *tensor.Tensor { return tensor.Grad(w.Detach().Mul(x).Sum(), w)[0] }},
		"comparison alone": {grad.Unreached, func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.Grad(w.GtScalar(1).Cast(array.F64).Mul(x).Sum(), w)[0]
		}},
		"nothing": {op.OperandCount, func(x *tensor.Tensor) *tensor.Tensor { tensor.Grad(x.Sum()); return x }},
		"nil":     {tensor.NilTensor, func(x *tensor.Tensor) *tensor.Tensor { return tensor.Grad(x.Sum(), nil)[0] }},
		"view made before": {grad.Unreached, func(x *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(2)
			v := y.Select(0, 0)
			loss := y.Sum()
			return tensor.Grad(loss, v)[0]
		}},
		"written since": {grad.Unreached, func(x *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(2)
			loss := y.Sum()
			y.MulScalarInPlace(2)
			return tensor.Grad(loss, y)[0]
		}},
		"view written since": {grad.Unreached, func(x *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(2)
			v := y.Select(0, 0)
			loss := v.Square()
			y.MulScalarInPlace(2)
			return tensor.Grad(loss, v)[0]
		}},
		"constant of no part": {grad.Unreached, func(x *tensor.Tensor) *tensor.Tensor { return tensor.Grad(x.Sum(), tensor.New(vec64(1)))[0] }},
	} {
		t.Run(name, func(t *testing.T) {
			list := refusedGrad(t, c.f, model)
			require.Equal(t, c.code, list[0].Code, "%v", list)
		})
	}
	require.Len(t, refusedGrad(t, func(x *tensor.Tensor) pair { return tensor.Grad(x.Square(), x, w, n) }, model), 2)
}

func TestGrad_allowsUnused(t *testing.T) {
	w := tensor.Param(vec64(1, 2))
	gm, err := fx.Trace(t.Context(), func(x *tensor.Tensor) pair {
		return tensor.GradWith(x.Sum(), pair{w, x}, tensor.GradOptions{AllowUnused: true})
	}, fx.Input("x", "f64[3]"), fx.Root(&struct{ W *tensor.Tensor }{w}))
	require.NoError(t, err)
	out, err := gm.RunArrays(t.Context(), []*array.Array{vec64(1, 1, 2)})
	require.NoError(t, err)
	require.Equal(t, []float64{0, 0}, floats(out[0]))
	require.Equal(t, []float64{1, 1, 1}, floats(out[1]))
}

func TestGrad_withoutARecord(t *testing.T) {
	x, example := tensor.New(vec64(1, 2)), fx.Meta("f64[2]")
	for msg, grad := range map[string]func(){
		"the loss was computed at once":               func() { tensor.Grad(x.Sum(), x) },
		"a Meta tensor is no result of a computation": func() { tensor.Grad(example, example) },
	} {
		require.PanicsWithError(t, "", func() {
			defer func() {
				e := recover().(*diag.Error)
				require.Equal(t, tensor.NotRecorded, e.Code)
				require.Contains(t, e.Msg, msg)
				require.Contains(t, e.Pos.File, "grad_tensor_test.go")
				panic(noError{})
			}()
			grad()
		})
	}
}

type noError struct{}

func (noError) Error() string { return "" }

// A value of a trace that is going on elsewhere belongs to no other one.
func TestGrad_ofTwoTraces(t *testing.T) {
	_, err := fx.Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor {
		_, err := fx.Trace(t.Context(), func(y *tensor.Tensor) *tensor.Tensor {
			return tensor.Grad(y.Sum(), x)[0]
		}, fx.Input("y", "f64[3]"))
		require.ErrorIs(t, err, tensor.MixedEngines)
		inner, err := fx.Trace(t.Context(), func(y *tensor.Tensor) *tensor.Tensor { return tensor.Grad(y.Square().Sum(), y)[0] }, fx.Input("y", "f64[3]"))
		require.NoError(t, err)
		return tensor.Grad(inner.Forward(x).Sum(), x)[0]
	}, fx.Input("x", "f64[3]"))
	require.NoError(t, err)
}

// In a branch, what is computed there is differentiated, by what it uses from around.
func TestGrad_inABranch(t *testing.T) {
	w := tensor.Param(vec64(1, 2, 3))
	l := nn.NewLinear(3, 1)
	model := fx.Root(&struct {
		W *tensor.Tensor
		L *nn.Linear
	}{w, l})
	gm, err := fx.Trace(t.Context(), func(x *tensor.Tensor) pair {
		y := x.MulScalar(2)
		return tensor.Cond(x.Sum().GtScalar(0), func(pair) pair {
			return tensor.Grad(y.Square().Mul(w).Sum(), y, w)
		}, func(pair) pair { return pair{y.Clone(), w.MulScalar(0)} })
	}, fx.Input("x", "f64[3]"), model)
	require.NoError(t, err)
	out := both(t, gm, 1, 2, 3)
	require.Equal(t, [][]float64{{4, 16, 36}, {4, 16, 36}}, out)
	out = both(t, gm, -1, -2, -3)
	require.Equal(t, [][]float64{{-2, -4, -6}, {0, 0, 0}}, out)

	gm, err = fx.Trace(t.Context(), func(x *tensor.Tensor) pair {
		return tensor.Cond(x.Sum().GtScalar(0), func(pair) pair {
			return tensor.Grad(l.Forward(x).Square().Sum(), l.Weight)
		}, func(pair) pair { return pair{l.Weight.MulScalar(0)} })
	}, fx.Input("x", "f32[1,3]"), model)
	require.NoError(t, err)
	x := tensor.FromSlice([]float32{1, 2, 3}, 1, 3)
	got, err := gm.Run(t.Context(), x)
	require.NoError(t, err)
	require.InDelta(t, 0, got[0].Sub(x.Mul(l.Forward(x)).MulScalar(2)).Abs().Max().Item(), 1e-5)
}

// The gradient in a branch would miss what comes from around: it is refused.
func TestGrad_inABranchThatMissesAPart(t *testing.T) {
	w := tensor.Param(vec64(1, 2, 3))
	model := fx.Root(&struct{ W *tensor.Tensor }{w})
	zero := func(pair) pair { return pair{tensor.Zeros(3).Cast(array.F64)} }
	list := refusedGrad(t, func(x *tensor.Tensor) *tensor.Tensor {
		y := x.Square()
		return tensor.Cond(x.Sum().GtScalar(0), func(pair) pair { return tensor.Grad(y.Mul(x).Sum(), x) }, zero)[0]
	})
	require.Equal(t, tracer.Around, list[0].Code, "%v", list)
	list = refusedGrad(t, func(x *tensor.Tensor) *tensor.Tensor {
		y := x.Mul(w)
		return tensor.Cond(x.Sum().GtScalar(0), func(pair) pair { return tensor.Grad(y.Mul(w).Sum(), w) }, zero)[0]
	}, model)
	require.Equal(t, tracer.Around, list[0].Code, "%v", list)
	gm, err := fx.Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor {
		y := x.Square()
		return tensor.Cond(x.Sum().GtScalar(0), func(pair) pair { return tensor.Grad(y.Detach().Mul(x).Sum(), x) }, zero)[0]
	}, fx.Input("x", "f64[3]"))
	require.NoError(t, err)
	require.Equal(t, [][]float64{{1, 4, 9}}, both(t, gm, 1, 2, 3))
}

// Newton's method: a loop that carries what it differentiates by.
func TestGrad_inALoop(t *testing.T) {
	newton := func(detach bool) func(x *tensor.Tensor) *tensor.Tensor {
		return func(x *tensor.Tensor) *tensor.Tensor {
			goal := x.MulScalar(2)
			out := tensor.While(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].LtScalar(6).All() },
				func(in []*tensor.Tensor) []*tensor.Tensor {
					at, step := in[1], in[2]
					if detach {
						step = step.Detach()
					}
					f := at.Square().Sub(goal).Square().Mul(step).Sum()
					g := tensor.Grad(f, at)[0]
					h := tensor.Grad(g.Sum(), at)[0]
					return []*tensor.Tensor{in[0].AddScalar(1), at.Sub(g.Div(h)), step.Clone()}
				}, tensor.In(x.Engine()).Zeros(1).Cast(array.I64), x.Clone(), tensor.OnesLike(x))
			return out[1]
		}
	}
	list := refusedGrad(t, newton(false))
	require.Equal(t, tracer.Around, list[0].Code, "%v", list)
	out := traced(t, newton(true), 1, 2, 3)
	require.InDeltaSlice(t, []float64{1.41421, 2, 2.44949}, out[0], 1e-3)
}

// A loop that writes what the loss reads is refused, also where it does so afterwards.
func TestGrad_inALoopThatWritesLater(t *testing.T) {
	list := refusedGrad(t, func(x *tensor.Tensor) *tensor.Tensor {
		y := x.MulScalar(2)
		out := tensor.While(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Sum().LtScalar(100) },
			func(in []*tensor.Tensor) []*tensor.Tensor {
				g := tensor.Grad(in[0].Mul(y).Sum(), in[0])[0]
				y.AddInPlace(in[0])
				return []*tensor.Tensor{in[0].Add(g)}
			}, x)
		return out[0]
	})
	require.Equal(t, tracer.Around, list[0].Code, "%v", list)
}

// Gradients have the scopes and the lines of the calls that they are of.
func TestGrad_keepsScopes(t *testing.T) {
	net := newTwoLayers()
	nn.Train(net)
	gm, err := fx.Trace(context.Background(), &stepOf{net}, fx.Input("x", "f32[N,3]"))
	require.NoError(t, err)
	found := map[string]bool{}
	for n := range gm.Graph.Nodes() {
		if n.Op() != nil && n.Op().Name == "matmul" {
			found[n.Scope().Path] = true
		}
	}
	require.True(t, found["net.b"], "%v", found)
}
