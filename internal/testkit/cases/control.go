package cases

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/tensor"
)

func control() []Case {
	both := func(f func(x *tensor.Tensor) (a, b *tensor.Tensor)) func(in []*tensor.Tensor) []*tensor.Tensor {
		return func(in []*tensor.Tensor) []*tensor.Tensor {
			a, b := f(in[0])
			return []*tensor.Tensor{a, b}
		}
	}
	cell := &Cell{W: ramp(3, 3), B: ramp(3)}
	return []Case{
		{Name: "cond", Fn: branch, Opts: spec("f32[N]"), Inputs: sets(ramp(4), ramp(9)), Eager: one(branch), Regions: true},
		{Name: "while", Fn: halve, Opts: spec("f32[N]"), Inputs: sets(ramp(4)), Eager: one(halve), Regions: true},
		{Name: "scan", Fn: running, Opts: spec("f32[T,3]"), Inputs: sets(ramp(4, 3)), Regions: true, Eager: both(running)},
		{Name: "swap in a loop", Fn: fibonacci, Opts: spec("f32[N]"), Inputs: sets(ramp(3), ramp(1)), Regions: true, Eager: both(fibonacci)},
		{Name: "loops in loops", Fn: triangle, Opts: spec("f32[A,B,2]"), Inputs: sets(ramp(3, 4, 2), ramp(1, 1, 2), ramp(0, 2, 2), ramp(2, 0, 2)),
			Regions: true, Eager: one(triangle)},
		{Name: "cell with weights in a loop", Fn: cell, Opts: []fx.Option{fx.Input("x", "f32[T,N,3]")}, Inputs: sets(ramp(4, 2, 3), ramp(1, 5, 3)),
			Regions: true, Eager: both(cell.Forward)},
	}
}

func branch(x *tensor.Tensor) *tensor.Tensor {
	scale := x.AddScalar(1.0)
	return tensor.Cond(x.Sum().GtScalar(0.0),
		func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Mul(scale)} },
		func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Neg()} }, x)[0]
}

func halve(x *tensor.Tensor) *tensor.Tensor {
	return tensor.While(
		func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Abs().Sum().GtScalar(0.1) },
		func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].MulScalar(0.5)} }, x)[0]
}

func running(x *tensor.Tensor) (last, all *tensor.Tensor) {
	l, s := tensor.Scan(func(carry, rows []*tensor.Tensor) (next, out []*tensor.Tensor) {
		h := carry[0].MulScalar(0.5).Add(rows[0])
		return []*tensor.Tensor{h}, []*tensor.Tensor{h.Tanh()}
	}, []*tensor.Tensor{tensor.Zeros(3)}, []*tensor.Tensor{x})
	return l[0], s[0]
}

// fibonacci carries one tensor twice, and a value that one round returns unchanged.
func fibonacci(x *tensor.Tensor) (a, b *tensor.Tensor) {
	out := tensor.While(
		func(in []*tensor.Tensor) *tensor.Tensor { return in[2].LtScalar(5) },
		func(in []*tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{in[1], in[0].Add(in[1]), in[2].AddScalar(1)}
		}, x, x, tensor.Scalar(int64(0)))
	return out[0], out[1]
}

// triangle sums rows in a loop over matrices, in which a branch, and a loop in it,
// write to slices of the stacked values.
func triangle(x *tensor.Tensor) *tensor.Tensor {
	_, sums := tensor.Scan(func(outer, matrix []*tensor.Tensor) (next, out []*tensor.Tensor) {
		last, rows := tensor.Scan(func(inner, row []*tensor.Tensor) (next, out []*tensor.Tensor) {
			sum := inner[0].Add(row[0])
			turned := tensor.Cond(sum.Sum().GtScalar(0),
				func(in []*tensor.Tensor) []*tensor.Tensor {
					return tensor.While(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Amax().LtScalar(8) },
						func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].AddScalar(2)} }, in[0])
				},
				func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Flip(0)} }, sum)
			return []*tensor.Tensor{sum}, turned
		}, []*tensor.Tensor{outer[0]}, []*tensor.Tensor{matrix[0]})
		return []*tensor.Tensor{last[0]}, []*tensor.Tensor{rows[0]}
	}, []*tensor.Tensor{tensor.Zeros(2)}, []*tensor.Tensor{x})
	return sums[0]
}

// Cell is a recurrent cell over the second axis of sequences, with a mask and state
// of another type.
type Cell struct{ W, B *tensor.Tensor }

// Forward returns the last state, and how many elements were positive at each step.
func (m *Cell) Forward(x *tensor.Tensor) (last, counts *tensor.Tensor) {
	mask := x.GtScalar(-1)
	l, s := tensor.Scan(func(carry, in []*tensor.Tensor) (next, out []*tensor.Tensor) {
		h := tensor.Linear(in[0].Add(carry[0]), m.W, m.B).Tanh()
		h = tensor.Where(in[1], h, carry[0])
		positive := h.GtScalar(0).Cast(array.I64).Sum(1)
		return []*tensor.Tensor{h, carry[1].Add(positive)}, []*tensor.Tensor{positive}
	}, []*tensor.Tensor{x.Select(0, 0).Transpose(0, 1).Matmul(x.Select(0, 0)).MeanWith(0, tensor.ReduceAttrs{KeepDim: true}).Add(x.Select(0, 0).ZerosLike()),
		x.Select(0, 0).Select(1, 0).ZerosLike().Cast(array.I64)}, []*tensor.Tensor{x, mask})
	return l[0], s[0].Add(l[1])
}

// shared are bodies about values from outside alone: their operands, their conditions,
// and sizes.
func shared() []Case {
	return []Case{
		region("loop about a captured value", "f32[N]", func(x *tensor.Tensor) *tensor.Tensor {
			limit := x.Abs().Sum()
			out := tensor.While(func(in ts) *tensor.Tensor { return in[0].Lt(limit) },
				func(in ts) ts { return ts{in[0].AddScalar(1), in[1].Add(x)} }, tensor.Scalar(float32(0)), x)
			return out[1].Add(out[0])
		}, ramp(3), ramp(5)),
		region("counter that no traced value begins", "f32[N]", func(x *tensor.Tensor) *tensor.Tensor {
			out := tensor.While(func(in ts) *tensor.Tensor { return in[0].Lt(x.Abs().Sum()) },
				func(in ts) ts { return ts{in[0].AddScalar(1)} }, tensor.Scalar(float32(0)))
			return x.Add(out[0])
		}, ramp(3), ramp(5)),
		region("sizes from far out", "f32[N]", func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.Cond(x.Sum().GtScalar(0),
				func(ts) ts { return ts{tensor.Ones(x.Size(0)).Cumsum(0)} },
				func(ts) ts {
					_, rows := tensor.Scan(func(c, s ts) (ts, ts) { return c, ts{s[0].Add(tensor.Ones(x.Size(0).Mul(2)).Sum())} },
						nil, ts{tensor.Zeros(x.Size(0))})
					return ts{rows[0]}
				})[0]
		}, ramp(3), ramp(5).Neg()),
	}
}
