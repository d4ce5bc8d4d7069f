package lazy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

type ts = []*tensor.Tensor

// flow is a program with control flow; recorded tells that a session makes one graph of it.
type flow struct {
	name     string
	recorded bool
	run      func(w, x *tensor.Tensor) ts
}

func twice(in ts) ts    { return ts{in[0].MulScalar(2)} }
func opposite(in ts) ts { return ts{in[0].Neg()} }
func less(in ts) *tensor.Tensor {
	return in[0].Sum().LtScalar(40)
}

var layer = nn.NewLinear(2, 2)

var flows = []flow{
	{"cond", true, func(w, x *tensor.Tensor) ts {
		y := x.Add(w)
		return ts{tensor.Cond(y.Sum().GtScalar(0), twice, func(in ts) ts { return ts{in[0].Mul(w)} }, y)[0].Exp()}
	}},
	{"a captured value", true, func(w, x *tensor.Tensor) ts {
		y, z := x.Add(w), x.Sub(w)
		out := tensor.Cond(y.Sum().GtScalar(0), func(ts) ts { return ts{y.Mul(z), z} }, func(ts) ts { return ts{z.Mul(w), y} })
		return ts{out[0].Add(out[1])}
	}},
	{"while", true, func(w, x *tensor.Tensor) ts {
		return ts{tensor.While(less, func(in ts) ts { return ts{in[0].Abs().AddScalar(1).Add(w.Abs())} }, x.MulScalar(0.5))[0].Neg()}
	}},
	{"while without rounds", true, func(w, x *tensor.Tensor) ts {
		return ts{tensor.While(less, twice, x.Abs().AddScalar(100))[0].Neg()}
	}},
	{"scan", true, func(w, x *tensor.Tensor) ts {
		last, all := tensor.Scan(func(c, s ts) (ts, ts) {
			n := c[0].Tanh().Add(s[0].Mul(w))
			return ts{n}, ts{n.Sum(), s[0].Neg()}
		}, ts{w.MulScalar(3)}, ts{tensor.Stack(ts{x, x.Neg(), x.Exp()}, 0)})
		return ts{last[0].AddScalar(1), all[0], all[1]}
	}},
	{"scan without slices", true, func(w, x *tensor.Tensor) ts {
		_, all := tensor.Scan(func(c, s ts) (ts, ts) { return c, ts{s[0].Add(c[0])} }, ts{w}, ts{x.Unsqueeze(0).Slice(0, 0, 0)})
		return ts{all[0]}
	}},
	{"nested", true, func(w, x *tensor.Tensor) ts {
		out := tensor.While(less, func(in ts) ts {
			_, all := tensor.Scan(func(c, s ts) (ts, ts) {
				n := tensor.Cond(s[0].GtScalar(0), func(in ts) ts { return ts{in[0].Add(w.Sum())} }, opposite, s[0])[0]
				return ts{c[0].Add(n)}, ts{n.Add(x.Max())}
			}, ts{w.Sum()}, ts{in[0]})
			return ts{all[0].Abs().AddScalar(1)}
		}, x.MulScalar(1))
		return ts{out[0].Exp()}
	}},
	{"a view and a layer", true, func(w, x *tensor.Tensor) ts {
		y := x.Reshape(2, 2)
		return ts{tensor.Cond(x.Sum().GtScalar(0), func(in ts) ts { return ts{layer.Forward(in[0].T()).Add(y.Select(0, 1))} },
			func(in ts) ts { return ts{y.T().Add(w.Slice(0, 0, 2))} }, y)[0].Exp()}
	}},
	{"in place, of its own", true, func(w, x *tensor.Tensor) ts {
		return ts{tensor.Cond(x.Sum().GtScalar(0), func(in ts) ts {
			y := in[0].MulScalar(2)
			y.Slice(0, 0, 2).AddInPlace(w.Slice(0, 1, 3))
			return ts{y}
		}, opposite, x)[0].Exp()}
	}},
	{"in place, of a loop", true, func(w, x *tensor.Tensor) ts {
		y := x.MulScalar(0.5)
		last := tensor.While(less, func(in ts) ts { in[0].AddInPlace(w.Abs().AddScalar(1)); return in }, y)
		return ts{last[0], y}
	}},
	{"looks at data", false, func(w, x *tensor.Tensor) ts {
		return ts{tensor.Cond(x.Sum().GtScalar(0), func(in ts) ts { return ts{in[0].MulScalar(in[0].Sum().Item())} },
			func(in ts) ts { return ts{in[0].MulScalar(in[0].Max().Item())} }, x)[0].Exp()}
	}},
	{"looks at data in a loop", false, func(w, x *tensor.Tensor) ts {
		return ts{tensor.While(less, func(in ts) ts {
			if in[0].Max().Item() > 3 {
				return ts{in[0].Add(w.Abs()).AddScalar(1)}
			}
			return ts{in[0].Abs().AddScalar(1)}
		}, x)[0].Exp()}
	}},
	{"writes outside", false, func(w, x *tensor.Tensor) ts {
		y := x.Exp()
		out := tensor.While(less, func(in ts) ts { y.AddInPlace(in[0]); return ts{in[0].Abs().AddScalar(1)} }, x)
		return ts{out[0].Neg(), y}
	}},
	{"writes to an eager tensor", false, func(w, x *tensor.Tensor) ts {
		n := tensor.Zeros(1)
		out := tensor.While(less, func(in ts) ts { n.AddScalarInPlace(1); return ts{in[0].Abs().AddScalar(1)} }, x)
		return ts{out[0].Neg(), n}
	}},
	{"branches of two sizes", false, func(w, x *tensor.Tensor) ts {
		return ts{tensor.Cond(x.Sum().GtScalar(0), twice, func(in ts) ts { return ts{in[0].Slice(0, 0, 2)} }, x)[0].Exp()}
	}},
	{"a branch that is wrong", false, func(w, x *tensor.Tensor) ts {
		return ts{tensor.Cond(x.Sum().GtScalar(-1e9), twice, func(in ts) ts { return ts{in[0].Matmul(tensor.Zeros(7, 7))} }, x)[0].Exp()}
	}},
	{"a branch that panics", false, func(w, x *tensor.Tensor) ts {
		return ts{tensor.Cond(x.Sum().GtScalar(-1e9), twice, func(in ts) ts { panic("no") }, x)[0].Exp()}
	}},
}

// A session records control flow as one call, or runs the functions as Go code; both give what eager code gives.
func TestRegions(t *testing.T) {
	for _, f := range flows {
		t.Run(f.name, func(t *testing.T) {
			for _, sign := range []float64{1, -1, 0} {
				w := tensor.FromSlice([]float32{1, -2, 0.5, 3})
				x := tensor.FromSlice([]float32{1, 2, -3, 4}).MulScalar(sign)
				want := f.run(w.Clone(), x.Clone())
				s := open(t, lazy.Options{Regions: true, Synchronous: true})
				for range 4 { // by kernels, then compiled
					before := flushes(s)
					got := f.run(s.In(w), s.In(x))
					require.Equal(t, f.recorded, flushes(s) == before, "values were computed on the way")
					for i := range want {
						require.True(t, array.Equal(want[i].Array(), got[i].Clone().Array()), "%v: result %d is %v, expected %v", sign, i, got[i], want[i])
					}
				}
				if f.recorded {
					require.Zero(t, s.Stats().Refused)
					require.NotZero(t, s.Stats().Hits, "no compiled graph has run")
				}
			}
		})
	}
}

func flushes(s *lazy.Session) (n int) {
	for _, times := range s.Stats().Flushes {
		n += times
	}
	return n
}

// Calls that differ in their functions alone are different graphs.
func TestRegions_keys(t *testing.T) {
	s := open(t, lazy.Options{Regions: true, Synchronous: true})
	bodies := []func(in ts) ts{twice, opposite, func(in ts) ts { return ts{in[0].MulScalar(3)} }, func(in ts) ts { return in[:1] },
		func(in ts) ts { return ts{in[1]} }, func(in ts) ts { return ts{in[0].Slice(0, 0, 2).Add(in[1].Slice(0, 1, 3)).Sum().Add(in[0])} },
		func(in ts) ts { return ts{in[0].Slice(0, 1, 3).Add(in[1].Slice(0, 1, 3)).Sum().Add(in[0])} },
		func(in ts) ts { return ts{in[0].Chunk(2, 0)[0].Sum().Add(in[0])} }, func(in ts) ts { return ts{in[0].Chunk(2, 0)[1].Sum().Add(in[0])} }}
	for range 4 {
		for i, body := range bodies {
			for k, other := range bodies {
				run := func(x, y *tensor.Tensor) *tensor.Tensor {
					return tensor.Cond(x.Sum().GtScalar(0), body, other, x, y)[0].Exp()
				}
				x, y := vec(1, 2, -0.5, 1), vec(2, -3, 1, 5)
				require.True(t, array.Equal(run(x, y).Array(), run(s.In(x), s.In(y)).Array()), "%d and %d", i, k)
				require.True(t, array.Equal(run(x.Neg(), y).Array(), run(s.In(x.Neg()), s.In(y)).Array()), "%d and %d", i, k)
			}
		}
	}
	require.Equal(t, len(bodies)*len(bodies)-1, s.Stats().Graphs) // where both branches return the same operand there is no call, for one as for the other
}

// A session that runs a call with functions by itself gives nobody the memory of what it is given.
func TestRegions_give_no_memory_away(t *testing.T) {
	x := tensor.FromSlice([]float32{1, -2, 3}, 3)
	st := x.Array().Storage()
	before := st.Exposed()
	s := lazy.New(lazy.Options{Regions: true})
	defer s.Close()
	_, err := s.Capture(lazy.Code{Data: ts{x}, Run: func() {
		y := tensor.While(less, func(in ts) ts { return ts{in[0].AddScalar(30), in[1]} }, x.MulScalar(2), x.Reshape(3, 1))
		require.Equal(t, []float32{32, 26, 36}, tensor.Data[float32](y[0]), "which has the call computed")
	}, Found: func() (ts, bool) { return nil, true }})
	require.NoError(t, err)
	require.Equal(t, before, st.Exposed())
}
