package grad_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/tensor"
)

// twice runs a graph in the interpreter and in a plan, which must agree.
func twice(t *testing.T, m *graph.Module, in ...*array.Array) (out [][]float64) {
	t.Helper()
	list, err := fx.NewGraphModule(graph.Clone(m)).RunArrays(ctx, in)
	require.NoError(t, err, "%s", m)
	planned, err := inPlan(m, in)
	require.NoError(t, err, "%s", m)
	for i, a := range list {
		near(t, a, planned[i], 1e-12)
		out = append(out, array.Data[float64](array.Contiguous(a)))
	}
	return out
}

const squaring = `graph net(%x: f64[], %trips: i64[]) {
  %zero = call_function[full]() {value=0, dtype=i64} : i64[]
  %w = call_function[while](%zero, %x, %trips) {carry=2, max_trips=8} : (i64[], f64[]) {
    region cond(%i: i64[], %y: f64[], %n: i64[]) {
      %more = call_function[lt](%i, %n) : bool[]
      return %more
    }
    region body(%i: i64[], %y: f64[], %n: i64[]) {
      %next = call_function[add](%i) {other=1} : i64[]
      %z = call_function[mul](%y, %y) : f64[]
      return (%next, %z)
    }
  }
  %y = call_function[getitem](%w) {index=1} : f64[]
  return %y
}
`

func TestWhile(t *testing.T) {
	m := graphOf(t, squaring)
	g, err := grad.ValueAndGrad(ctx, m, grad.Options{Wrt: []string{"x"}})
	require.NoError(t, err)
	for n, want := range []float64{1, 2 * 1.1, 4 * math.Pow(1.1, 3), 8 * math.Pow(1.1, 7)} {
		out := twice(t, g, array.Scalar(1.1), array.Scalar(int64(n)))
		require.InDelta(t, math.Pow(1.1, math.Pow(2, float64(n))), out[0][0], 1e-12)
		require.InDelta(t, want, out[1][0], 1e-12, "%d trips", n)
	}
	second, err := grad.Gradient(ctx, g, grad.Options{Wrt: []string{"x"}, Loss: 1})
	require.NoError(t, err)
	for n, want := range []float64{0, 2, 12 * 1.1 * 1.1, 56 * math.Pow(1.1, 6)} {
		require.InDelta(t, want, twice(t, second, array.Scalar(1.1), array.Scalar(int64(n)))[0][0], 1e-11, "%d trips", n)
	}
}

// A while that says how many trips it makes is recorded, printed and read again with that.
func TestWhileAtMost(t *testing.T) {
	loop := func(x *tensor.Tensor) *tensor.Tensor {
		out := tensor.WhileAtMost(3, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].LtScalar(100) },
			func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Mul(in[0])} }, x)
		return out[0]
	}
	gm, err := fx.Trace(ctx, loop, fx.Input("x", "f64[]"))
	require.NoError(t, err)
	require.Contains(t, gm.Module.String(), "max_trips=3")
	g, err := gm.Gradient(ctx, fx.GradOptions{Wrt: []string{"x"}})
	require.NoError(t, err)
	for x, want := range map[float64]float64{200: 1, 11: 22, 4: 4 * 64, 2: 8 * 128} {
		require.InDelta(t, want, twice(t, g.Module, array.Scalar(x))[0][0], 1e-9)
	}
	require.Equal(t, 256.0, loop(tensor.New(array.Scalar(2.0))).Item())

	_, err = g.RunArrays(ctx, []*array.Array{array.Scalar(1.5)}) // 129 after 3 trips of 5 that it takes
	require.ErrorIs(t, err, tensor.TooManyTrips)
	require.ErrorContains(t, err, "control_test.go:")
	_, err = inPlan(g.Module, []*array.Array{array.Scalar(1.5)})
	require.ErrorIs(t, err, tensor.TooManyTrips)
	require.ErrorContains(t, err, "control_test.go:")
	func() {
		defer func() { require.ErrorIs(t, recover().(error), tensor.TooManyTrips) }()
		loop(tensor.New(array.Scalar(1.5)))
	}()
}

// program is a function of tensors whose gradient is held to differences.
type program struct {
	name  string
	f     func(in []*tensor.Tensor) *tensor.Tensor
	types []string
	in    []*array.Array
}

func one(x *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{x} }

// programs are what gradients of control flow might get wrong.
var programs = []program{
	{"a branch that depends on one operand each", func(in []*tensor.Tensor) *tensor.Tensor {
		out := tensor.Cond(in[0].Sum().GtScalar(0), func(x []*tensor.Tensor) []*tensor.Tensor { return one(x[0].Exp().Sum()) },
			func(x []*tensor.Tensor) []*tensor.Tensor { return one(x[1].Sin().Sum()) }, in[0], in[1])
		return out[0]
	}, []string{"f64[3]", "f64[2]"}, []*array.Array{vec(1, -2, 0.5), vec(3, 4)}},
	{"an operand given twice, returned as it is, and read from outside", func(in []*tensor.Tensor) *tensor.Tensor {
		x := in[0]
		out := tensor.Cond(x.Sum().GtScalar(0), func(v []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{v[0].Mul(v[1]), v[0]} },
			func(v []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{v[1], x.Mul(x).Mul(v[0])} }, x, x)
		return out[0].Sin().Sum().Add(out[1].Cos().Sum())
	}, []string{"f64[3]"}, []*array.Array{vec(1, 2, 0.5)}},
	{"a result that is not used", func(in []*tensor.Tensor) *tensor.Tensor {
		last, all := tensor.Scan(func(c, s []*tensor.Tensor) (next, out []*tensor.Tensor) {
			y := c[0].Mul(s[0]).Sin()
			return []*tensor.Tensor{y, c[1].Add(s[0])}, []*tensor.Tensor{y.Exp(), c[1].Mul(c[0])}
		}, []*tensor.Tensor{in[1], in[1]}, one(in[0]))
		_ = last[1]
		return last[0].Sum().Add(all[1].Sum())
	}, []string{"f64[T]", "f64[]"}, []*array.Array{vec(1, 2, 0.5, -1), array.Scalar(0.7)}},
	{"broadcasting inside, and a constant that is stretched", func(in []*tensor.Tensor) *tensor.Tensor {
		last, _ := tensor.Scan(func(c, s []*tensor.Tensor) (next, out []*tensor.Tensor) {
			return one(c[0].Mul(in[1]).Add(s[0].Unsqueeze(-1)).Sin()), nil
		}, one(in[2]), one(in[0]))
		return last[0].Mul(last[0]).Sum()
	}, []string{"f64[T,2]", "f64[3]", "f64[2,3]"}, []*array.Array{mat(2, 1, 2, 3, 4), vec(0.1, 0.2, 0.3), mat(2, 1, 2, 3, 4, 5, 6)}},
	{"the index of the trip", func(in []*tensor.Tensor) *tensor.Tensor {
		i := tensor.New(array.Scalar(int64(0)))
		out := tensor.WhileAtMost(9, func(c []*tensor.Tensor) *tensor.Tensor { return c[0].LtScalar(4) },
			func(c []*tensor.Tensor) []*tensor.Tensor {
				row := in[0].IndexSelect(c[0].Reshape(1), 0).Reshape(2)
				return []*tensor.Tensor{c[0].AddScalar(1), c[1].Mul(row).Add(c[0].Cast(array.F64)).Sin()}
			}, i, in[1])
		return out[1].Sum()
	}, []string{"f64[4,2]", "f64[2]"}, []*array.Array{mat(4, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8), vec(0.5, 0.25)}},
	{"a branch in a loop", func(in []*tensor.Tensor) *tensor.Tensor {
		out := tensor.WhileAtMost(6, func(c []*tensor.Tensor) *tensor.Tensor { return c[0].Sum().LtScalar(20) },
			func(c []*tensor.Tensor) []*tensor.Tensor {
				y := tensor.Cond(c[0].Sum().LtScalar(5), func(x []*tensor.Tensor) []*tensor.Tensor { return one(x[0].Mul(x[1]).AddScalar(1)) },
					func(x []*tensor.Tensor) []*tensor.Tensor { return one(x[0].Mul(x[0])) }, c[0], in[1])
				return y
			}, in[0])
		return out[0].Sin().Sum()
	}, []string{"f64[2]", "f64[2]"}, []*array.Array{vec(1, 1.5), vec(1.25, 1.5)}},
	{"a scan in a branch in a scan", func(in []*tensor.Tensor) *tensor.Tensor {
		last, all := tensor.Scan(func(c, s []*tensor.Tensor) (next, out []*tensor.Tensor) {
			y := tensor.Cond(s[0].Sum().GtScalar(2), func(x []*tensor.Tensor) []*tensor.Tensor {
				in, _ := tensor.Scan(func(c, r []*tensor.Tensor) (next, out []*tensor.Tensor) {
					return one(c[0].Mul(r[0]).Add(in[1]).Tanh()), nil
				}, one(x[0]), one(x[1]))
				return in
			}, func(x []*tensor.Tensor) []*tensor.Tensor { return one(x[0].MulScalar(0.5)) }, c[0], s[0])
			return y, one(y[0].Exp())
		}, one(in[1]), one(in[0]))
		return last[0].Add(all[0].Sum())
	}, []string{"f64[T,3]", "f64[]"}, []*array.Array{mat(3, 1, 2, 3, 0.1, 0.2, 0.3, 1, 1.5, 0.7), array.Scalar(0.4)}},
	{"a product of matrices that is kept", func(in []*tensor.Tensor) *tensor.Tensor {
		last, _ := tensor.Scan(func(c, s []*tensor.Tensor) (next, out []*tensor.Tensor) {
			return one(c[0].Matmul(in[1]).Add(s[0]).Tanh()), nil
		}, one(in[2]), one(in[0]))
		return last[0].Sum()
	}, []string{"f64[T,2]", "f64[2,2]", "f64[2]"}, []*array.Array{mat(3, 1, 2, 3, 4, 5, 6), mat(2, 0.1, 0.2, 0.3, 0.4), vec(0.5, 0.6)}},
	{"a loop that carries nothing on", func(in []*tensor.Tensor) *tensor.Tensor {
		last, _ := tensor.Scan(func(c, s []*tensor.Tensor) (next, out []*tensor.Tensor) {
			return one(s[0].Sin()), nil
		}, one(in[1]), one(in[0]))
		return last[0].Mul(in[1])
	}, []string{"f64[T]", "f64[]"}, []*array.Array{vec(1, 2), array.Scalar(3.0)}},
	{"no trips", func(in []*tensor.Tensor) *tensor.Tensor {
		last, all := tensor.Scan(func(c, s []*tensor.Tensor) (next, out []*tensor.Tensor) {
			return one(c[0].Mul(s[0]).Mul(in[1])), one(c[0])
		}, one(in[1]), one(in[0]))
		return last[0].Mul(in[1]).Add(all[0].Sum())
	}, []string{"f64[T]", "f64[]"}, []*array.Array{array.New(array.F64, 0), array.Scalar(3.0)}},
	{"a write in place in a body", func(in []*tensor.Tensor) *tensor.Tensor {
		y := in[0].MulScalar(2)
		last, _ := tensor.Scan(func(c, s []*tensor.Tensor) (next, out []*tensor.Tensor) {
			y.Select(0, 1).MulInPlace(c[0].Sin().Add(s[0]))
			return one(c[0].Mul(y.Select(0, 0))), nil
		}, one(in[1]), one(in[0]))
		return y.Sum().Add(last[0])
	}, []string{"f64[3]", "f64[]"}, []*array.Array{vec(1, 2, 3), array.Scalar(3.0)}},
}

// TestPrograms holds gradients of control flow to differences, of the first order and of the
// second, in the interpreter and in plans.
func TestPrograms(t *testing.T) {
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			var specs []fx.Option
			var wrt []string
			for i, typ := range p.types {
				wrt = append(wrt, "x"+strconv.Itoa(i))
				specs = append(specs, fx.Input(wrt[i], typ))
			}
			gm, err := fx.Trace(ctx, p.traced(), specs...)
			require.NoError(t, err)
			r := rand.New(rand.NewPCG(5, crc(p.name)))
			here := point{m: gm.Module, in: p.in, wrt: wrt, move: map[string]*array.Array{}, seed: []*array.Array{array.Scalar(1.0)}}
			for i, a := range p.in {
				here.move[wrt[i]] = random(r, a.Shape()...)
			}
			first := here.holds(t, 1e-6)
			o := point{m: first, in: p.in, wrt: wrt, move: here.move, seed: []*array.Array{array.Scalar(0.5)}}
			for _, a := range p.in {
				o.seed = append(o.seed, random(r, a.Shape()...))
			}
			o.holds(t, 1e-5)
		})
	}
}

// traced is the function with as many parameters as it has inputs.
func (p program) traced() any {
	switch len(p.in) {
	case 1:
		return func(x0 *tensor.Tensor) *tensor.Tensor { return p.f([]*tensor.Tensor{x0}) }
	case 2:
		return func(x0, x1 *tensor.Tensor) *tensor.Tensor { return p.f([]*tensor.Tensor{x0, x1}) }
	}
	return func(x0, x1, x2 *tensor.Tensor) *tensor.Tensor { return p.f([]*tensor.Tensor{x0, x1, x2}) }
}

// holds compares the gradients of the sum of seeds times results with differences. It returns
// the graph that computes the results and, where there is one, the gradients.
func (p point) holds(t *testing.T, rel float64) *graph.Module {
	t.Helper()
	g, err := grad.VJP(ctx, p.m, grad.Options{Wrt: p.wrt, AllowUnused: true})
	require.NoError(t, err)
	text := g.String()
	again, err := graph.Parse([]byte(text), "net.fx")
	require.NoError(t, err, "%s", text)
	require.Equal(t, text, again.String())
	in := append(append([]*array.Array{}, p.in...), p.seed...)
	out, err := fx.NewGraphModule(graph.Clone(g)).RunArrays(ctx, in)
	require.NoError(t, err, "%s", text)
	planned, err := inPlan(g, in)
	require.NoError(t, err, "%s", text)
	for i := range out {
		near(t, out[i], planned[i], 1e-12)
	}
	want := (p.along(1e-5) - p.along(-1e-5)) / 2e-5
	require.InDelta(t, want, p.product(out[len(out)-len(p.wrt):]), rel*(1+math.Abs(want)), "%s", text)
	only, err := grad.ValueAndGrad(ctx, p.m, grad.Options{Wrt: p.wrt, AllowUnused: true})
	require.NoError(t, err)
	return only
}

// BenchmarkWhile runs the value and gradient of 1,000 trips, and the product with the Hessian: the time of a trip
// does not grow with MaxTrips.
func BenchmarkWhile(b *testing.B) {
	for _, most := range []int{1024, 16384, 131072} {
		gm, err := fx.Trace(ctx, func(x, trips *tensor.Tensor) *tensor.Tensor {
			out := tensor.WhileAtMost(most, func(c []*tensor.Tensor) *tensor.Tensor { return c[0].Lt(trips) },
				func(c []*tensor.Tensor) []*tensor.Tensor {
					return []*tensor.Tensor{c[0].AddScalar(1), c[1].Sin().MulScalar(1.5)}
				}, tensor.Scalar(int64(0)), x)
			return out[1].Sum()
		}, fx.Input("x", "f32[8]"), fx.Input("trips", "i64[]"))
		require.NoError(b, err)
		in := []*array.Array{array.New(array.F32, 8), array.Scalar(int64(1000)), array.New(array.F32, 8)}
		g, err := gm.ValueAndGrad(ctx, fx.GradOptions{Wrt: []string{"x"}})
		require.NoError(b, err)
		b.Run("gradient/"+strconv.Itoa(most), func(b *testing.B) { runTrips(b, g, in[:2]) })
		g, err = gm.HVP(ctx, fx.GradOptions{Wrt: []string{"x"}})
		require.NoError(b, err)
		b.Run("hessian/"+strconv.Itoa(most), func(b *testing.B) { runTrips(b, g, in) })
	}
}

// runTrips runs the plan of an optimised graph.
func runTrips(b *testing.B, g *fx.GraphModule, in []*array.Array) {
	_, err := g.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	require.NoError(b, err)
	exe, err := cpu.Compile(g.Module, lowering.Options{})
	require.NoError(b, err)
	out, err := exe.Run(ctx, in)
	require.NoError(b, err)
	for b.Loop() {
		require.NoError(b, exe.RunInto(ctx, out, in))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/trip")
}
