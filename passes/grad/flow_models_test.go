package grad_test

import (
	"math"
	"math/rand/v2"
	"strings"
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
)

// refined applies one layer inside of a branch in a loop, and outside.
type refined struct{ Layer *nn.Linear }

func (m *refined) Forward(x *tensor.Tensor) *tensor.Tensor {
	out := tensor.WhileAtMost(4, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].LtScalar(3) },
		func(in []*tensor.Tensor) []*tensor.Tensor {
			y := tensor.Cond(in[0].GtScalar(0), func(v []*tensor.Tensor) []*tensor.Tensor { return one(m.Layer.Forward(v[0]).Tanh()) },
				func(v []*tensor.Tensor) []*tensor.Tensor { return one(v[0].Mul(m.Layer.Bias)) }, in[1])
			return []*tensor.Tensor{in[0].AddScalar(1), y[0]}
		}, tensor.Scalar(int64(0)), m.Layer.Forward(x))
	return out[1].Sin().Mean()
}

// A weight that bodies read has one gradient, however deep they are and wherever else it is read.
func TestParametersInBodies(t *testing.T) {
	gm, err := fx.Trace(ctx, &refined{nn.NewLinear(3, 3)}, fx.Input("x", "f32[N,3]"))
	require.NoError(t, err)
	m, err := inF64(gm.Module)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(3, 9))
	scatter(r, m)
	g, err := grad.ValueAndGrad(ctx, m, grad.Options{})
	require.NoError(t, err)
	compareModel(t, r, m, g, []*array.Array{random(r, 2, 3)})
	optimised := fx.NewGraphModule(graph.Clone(g))
	_, err = optimised.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	compareModel(t, r, m, optimised.Module, []*array.Array{random(r, 2, 3)})
}

// noisy drops out in each trip of a scan, in training.
type noisy struct {
	Drop  *nn.Dropout
	Scale *tensor.Tensor
}

func (m *noisy) Forward(x *tensor.Tensor) *tensor.Tensor {
	last, _ := tensor.Scan(func(c, s []*tensor.Tensor) (next, out []*tensor.Tensor) {
		return one(c[0].Add(m.Drop.Forward(s[0].Mul(m.Scale)))), nil
	}, one(tensor.Zeros(6, 4)), one(x))
	return last[0].Sum()
}

// The gradient sees the same mask as the loss, and keys advance once: the loss is linear in
// the scale, so that it is the gradient times the scale.
func TestDropoutInScan(t *testing.T) {
	net := &noisy{Drop: nn.NewDropout(0.5, nn.DropoutSeed(7)), Scale: tensor.Param(array.Scalar(float32(3)))}
	nn.Train(net)
	gm, err := fx.Trace(ctx, net, fx.Input("x", "f32[T,6,4]"))
	require.NoError(t, err)
	g, err := gm.ValueAndGrad(ctx, fx.GradOptions{})
	require.NoError(t, err)
	forward, both := fx.NewGraphModule(graph.Clone(gm.Module)), fx.NewGraphModule(graph.Clone(g.Module))
	x := array.New(array.F32, 5, 6, 4)
	for i := range array.Data[float32](x) {
		array.Data[float32](x)[i] = float32(i%7) - 2
	}
	var before float64
	for range 3 {
		want, err := forward.RunArrays(ctx, []*array.Array{x})
		require.NoError(t, err)
		got, err := both.RunArrays(ctx, []*array.Array{x})
		require.NoError(t, err)
		loss := array.Float64At(want[0], 0)
		require.Equal(t, loss, array.Float64At(got[0], 0))
		require.InDelta(t, loss, 3*array.Float64At(got[1], 0), 1e-3)
		require.NotEqual(t, before, loss, "the mask changes from run to run")
		before = loss
	}
}

// Texts of importers and of people have sizes of their own in bodies.
func TestSizesOfBodies(t *testing.T) {
	own := graphOf(t, `graph net(%x: f64[T,N], %h: f64[]) {
  symbol T = dim(%x, 0)
  symbol N = dim(%x, 1)
  %s = call_function[scan](%h, %x, %x) {carry=1, seqs=1} {
    region body(%a: f64[], %b: f64[M], %k: f64[T,M]) {
      symbol M = dim(%b, 0)
      %c = call_function[mul](%a, %b)
      %e = call_function[sin](%c)
      %m = call_function[mul](%e, %b)
      %n = call_function[matmul](%k, %m)
      %p = call_function[mean](%n)
      return (%p, %p)
    }
  }
  %last = call_function[getitem](%s)
  return %last
}
`)
	r := rand.New(rand.NewPCG(3, 9))
	p := point{m: own, in: []*array.Array{random(r, 4, 3), array.Scalar(0.3)}, wrt: []string{"x", "h"}, seed: []*array.Array{array.Scalar(1.0)},
		move: map[string]*array.Array{"x": random(r, 4, 3), "h": random(r)}}
	p.holds(t, 1e-6)
}

// The gradient of a sum over a value of which only the branch that is taken knows the size is refused.
func TestCond_branchesOfDifferentSizes(t *testing.T) {
	unlike := graphOf(t, `graph net(%x: f64[4], %p: bool[]) {
  %c = call_function[cond](%p, %x) {
    region yes(%a: f64[4]) {
      %y = call_function[exp](%a)
      return (%y)
    }
    region no(%a: f64[4]) {
      %s = call_function[slice](%a) {dim=0, start=1, stop=3}
      %y = call_function[mul](%s, %s)
      return (%y)
    }
  }
  %y = call_function[getitem](%c)
  %z = call_function[sin](%y)
  %l = call_function[sum](%z)
  return %l
}
`)
	_, err := grad.Gradient(ctx, unlike, grad.Options{Wrt: []string{"x"}})
	require.ErrorIs(t, err, op.NoGradient)
	require.ErrorContains(t, err, "is not known")
	// Seeds have the size that the value has.
	g, err := grad.VJP(ctx, mustParse(t, strings.NewReplacer("  %l = call_function[sum](%z)\n", "", "return %l", "return %z").Replace(unlike.String())), grad.Options{Wrt: []string{"x"}})
	require.NoError(t, err)
	x := vec(0.1, 0.2, 0.3, 0.4)
	out := values(t, g, x, array.Scalar(true), vec(1, 2, 3, 4)) // no plan takes f64[?]
	require.InDelta(t, 2*math.Cos(math.Exp(0.2))*math.Exp(0.2), out[1][1], 1e-12)
	out = values(t, g, x, array.Scalar(false), vec(1, 2))
	require.InDelta(t, 2*math.Cos(0.09)*0.6, out[1][2], 1e-12)
	require.Zero(t, out[1][0])
}

func mustParse(t *testing.T, text string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte(text), "net.fx")
	require.NoError(t, err)
	return m
}

// Bodies may return their one result bare, not as a tuple.
func TestBareResults(t *testing.T) {
	for name, text := range map[string]string{
		"cond": `graph net(%x: f64[3], %p: bool[]) {
  %y = call_function[cond](%p, %x) {
    region yes(%a: f64[3]) {
      %b = call_function[exp](%a)
      return %b
    }
    region no(%a: f64[3]) {
      return %a
    }
  }
  %z = call_function[mul](%y, %x)
  %l = call_function[sum](%z)
  return %l
}
`,
		"while": `graph net(%x: f64[3], %p: bool[]) {
  %y = call_function[while](%x, %p) {carry=1, max_trips=9} {
    region test(%a: f64[3], %q: bool[]) {
      %s = call_function[sum](%a)
      %m = call_function[lt](%s) {other=20.0}
      %n = call_function[logical_and](%m, %q)
      return %n
    }
    region body(%a: f64[3], %q: bool[]) {
      %b = call_function[mul](%a, %a)
      %c = call_function[add](%b) {other=1.0}
      return %c
    }
  }
  %z = call_function[mul](%y, %x)
  %l = call_function[sum](%z)
  return %l
}
`,
		"scan": `graph net(%x: f64[3], %p: bool[]) {
  %y = call_function[scan](%x, %x) {carry=1, seqs=1} {
    region body(%a: f64[3], %s: f64[]) {
      %b = call_function[mul](%a, %s)
      %c = call_function[sin](%b)
      return %c
    }
  }
  %z = call_function[mul](%y, %x)
  %l = call_function[sum](%z)
  return (%l, %y, %z)
}
`,
		"stacked": `graph net(%x: f64[3], %p: bool[]) {
  %y = call_function[scan](%x, %x) {carry=0, seqs=1} {
    region body(%s: f64[], %a: f64[3]) {
      %b = call_function[mul](%a, %s)
      %c = call_function[sin](%b)
      return %c
    }
  }
  %l = call_function[sum](%y)
  return %l
}
`,
	} {
		t.Run(name, func(t *testing.T) {
			m := graphOf(t, text)
			r := rand.New(rand.NewPCG(1, 2))
			for _, yes := range []bool{true, false} {
				p := point{m: m, in: []*array.Array{vec(0.5, 1.5, 0.25), array.Scalar(yes)}, wrt: []string{"x"}, seed: []*array.Array{array.Scalar(1.0)},
					move: map[string]*array.Array{"x": random(r, 3)}}
				if name == "scan" {
					p.seed = append(p.seed, random(r, 3), random(r, 3))
				}
				p.holds(t, 1e-6)
			}
		})
	}
}

// A bound that no memory has rows for is an error of a run, not a crash.
func TestHugeBounds(t *testing.T) {
	for _, most := range []int{1 << 40, math.MaxInt} {
		gm, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.WhileAtMost(most, func(c []*tensor.Tensor) *tensor.Tensor { return c[0].Sum().LtScalar(9) },
				func(c []*tensor.Tensor) []*tensor.Tensor { return one(c[0].Exp()) }, x)[0].Sum()
		}, fx.Input("x", "f64[3]"))
		require.NoError(t, err)
		g, err := gm.Gradient(ctx, fx.GradOptions{Wrt: []string{"x"}})
		var e *diag.Error
		if err != nil {
			require.ErrorAs(t, err, &e)
			continue
		}
		_, err = g.RunArrays(ctx, []*array.Array{vec(1, 2, 3)})
		require.ErrorAs(t, err, &e)
		_, err = inPlan(g.Module, []*array.Array{vec(1, 2, 3)})
		require.ErrorAs(t, err, &e)
	}
}
