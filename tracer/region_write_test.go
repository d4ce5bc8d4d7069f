package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
	"github.com/gofx-dev/gofx/tracer/alias"
	"github.com/gofx-dev/gofx/tracer/record"
)

// Another trace that is inside of a region at the time must not hide what this one's
// region did.
func TestWritesInRegions_otherTraces(t *testing.T) {
	program := func(x *tensor.Tensor) *tensor.Tensor {
		seen := tensor.Zeros(2)
		_, out := tensor.Scan(func(carry, in []*tensor.Tensor) (next, out []*tensor.Tensor) {
			seen.AddScalarInPlace(1)
			return carry, in
		}, []*tensor.Tensor{x}, []*tensor.Tensor{tensor.Stack([]*tensor.Tensor{x, x}, 0)})
		for range 100 {
			seen.MulScalarInPlace(2)
		}
		return out[0].Add(seen)
	}
	for range 2 {
		_, err := fx.Trace(ctx, program, fx.Input("x", "f32[2]"))
		require.ErrorIs(t, err, tracer.UnseenWrite)
		defer tensor.InRegion()() // as a region of another trace
	}
}

// Code of a loop's body runs once in a trace and any number of times in the graph: what eager
// calls in it write reaches other tensors over the same memory, and what is computed from it.
func TestWritesInRegions_reachOtherTensors(t *testing.T) {
	data := []float32{1, 2}
	loop := func(x *tensor.Tensor, body func(c *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
		last, _ := tensor.Scan(func(c, in []*tensor.Tensor) (next, out []*tensor.Tensor) {
			return []*tensor.Tensor{body(c[0])}, nil
		}, []*tensor.Tensor{x}, []*tensor.Tensor{tensor.Ones(3)})
		return last[0]
	}
	for name, c := range map[string]struct {
		code diag.Code
		f    func(x, a, b *tensor.Tensor) *tensor.Tensor
	}{
		"a value that is carried": {alias.Stale, func(x, a, b *tensor.Tensor) *tensor.Tensor {
			last, _ := tensor.Scan(func(c, in []*tensor.Tensor) (next, out []*tensor.Tensor) {
				b.MulScalarInPlace(-3)
				return c, nil
			}, []*tensor.Tensor{a}, []*tensor.Tensor{x})
			return last[0]
		}},
		"another tensor in the body": {tracer.UnseenWrite, func(x, a, b *tensor.Tensor) *tensor.Tensor {
			return loop(x, func(c *tensor.Tensor) *tensor.Tensor { b.MulScalarInPlace(-3); return c.Add(a.Sum()) })
		}},
		"another tensor after it": {tracer.UnseenWrite, func(x, a, b *tensor.Tensor) *tensor.Tensor {
			return loop(x, func(c *tensor.Tensor) *tensor.Tensor { b.MulScalarInPlace(-3); return c.AddScalar(1) }).Add(a)
		}},
		"a value in the body": {tracer.UnseenWrite, func(x, a, b *tensor.Tensor) *tensor.Tensor {
			return loop(x, func(c *tensor.Tensor) *tensor.Tensor {
				a.AddScalarInPlace(1)
				return c.Add(a.Clone().MulScalar(2).Sum())
			})
		}},
		"a value after it": {tracer.UnseenWrite, func(x, a, b *tensor.Tensor) *tensor.Tensor {
			y := loop(x, func(c *tensor.Tensor) *tensor.Tensor { a.AddScalarInPlace(1); return c.AddScalar(1) })
			return y.Add(a.Exp())
		}},
		"a value that is written elsewhere": {tracer.UnseenWrite, func(x, a, b *tensor.Tensor) *tensor.Tensor {
			z := tensor.Zeros(2)
			y := loop(x, func(c *tensor.Tensor) *tensor.Tensor { a.AddScalarInPlace(1); return c.AddScalar(1) })
			z.AssignInPlace(a.Neg())
			return y.Add(z)
		}},
		"Go code in the body": {alias.Stale, func(x, a, b *tensor.Tensor) *tensor.Tensor {
			y := x.Mul(a)
			return loop(y, func(c *tensor.Tensor) *tensor.Tensor { data[0]++; return c.AddScalar(1) }).Add(a)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor {
				return c.f(x, tensor.FromSlice(data), tensor.FromSlice(data, 1, 2))
			}, fx.Input("x", "f32[2]"))
			require.ErrorIs(t, err, c.code)
			require.ErrorContains(t, err, "region_write_test.go")
		})
	}

	// Memory of the body's own is the same in each round.
	gm, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor {
		return loop(x, func(c *tensor.Tensor) *tensor.Tensor {
			z := tensor.Zeros(2)
			z.AddScalarInPlace(3)
			return c.Add(z.MulScalar(2))
		})
	}, fx.Input("x", "f32[2]"))
	require.NoError(t, err)
	out, err := gm.Run(ctx, tensor.Zeros(2))
	require.NoError(t, err)
	require.Equal(t, []float32{18, 18}, tensor.Data[float32](out[0]))
}

// A function that calls itself in a branch ends where it is run, and has no end where both branches are recorded.
func TestRegions_recursion(t *testing.T) {
	var halves func(x *tensor.Tensor) *tensor.Tensor
	halves = func(x *tensor.Tensor) *tensor.Tensor {
		return tensor.Cond(x.Sum().GtScalar(1), func(in []*tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{halves(in[0].MulScalar(0.5)).Add(halves(in[0].MulScalar(0.25)))}
		}, func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].AddScalar(1)} }, x)[0]
	}
	require.Equal(t, []float32{2.75, 2.75}, tensor.Data[float32](halves(tensor.Ones(2))))
	_, err := fx.Trace(ctx, halves, fx.Input("x", "f32[2]"))
	require.ErrorIs(t, err, record.RegionMismatch)
	require.ErrorContains(t, err, "a function that calls itself in a branch has no end")
}

// Control flow has lists of its own, as a node has: what code does with those that it gives and gets does not meet the other.
func TestRegions_lists(t *testing.T) {
	given := func(list []*tensor.Tensor) []*tensor.Tensor { return list }
	program := func(x *tensor.Tensor) *tensor.Tensor {
		list := []*tensor.Tensor{x, x.Neg()}
		tensor.Cond(x.Sum().GtScalar(0), given, given, list...)[0] = x.Exp()
		tensor.While(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Sum().LtScalar(0) }, given, list...)[1] = x.Exp()
		last, _ := tensor.Scan(func(c, s []*tensor.Tensor) (next, out []*tensor.Tensor) { return c, s }, list, []*tensor.Tensor{x})
		last[0] = x.Exp()
		return list[0].Sub(list[1])
	}
	m, err := fx.Trace(ctx, program, fx.Input("x", "f32[2]"))
	require.NoError(t, err)
	out, err := m.Run(ctx, tensor.Ones(2))
	require.NoError(t, err)
	require.Equal(t, []float32{2, 2}, tensor.Data[float32](out[0]))
	require.Equal(t, []float32{2, 2}, tensor.Data[float32](program(tensor.Ones(2))))
}
