package fx_test

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

type list = []*tensor.Tensor

// chosen is v or twice v: a trace does not know whether it is v's memory.
func chosen(x, v *tensor.Tensor) *tensor.Tensor {
	return tensor.Cond(x.Sum().GtScalar(0), func(c list) list { return list{c[0]} }, func(c list) list { return list{c[0].MulScalar(2)} }, v)[0]
}

// looped runs body as often as n says, on in.
func looped(x *tensor.Tensor, n float64, body func(c list) list, in ...*tensor.Tensor) list {
	return tensor.While(func(c list) *tensor.Tensor { return c[0].LtScalar(n) },
		func(c list) list { return append(list{c[0].AddScalar(1)}, body(c[1:])...) },
		append(list{tensor.On(x, tensor.Scalar(float32(0)))}, in...)...)[1:]
}

// twoOver returns two tensors over one Go slice.
func twoOver() (s []float32, v, w *tensor.Tensor) {
	s = []float32{1, 2, 3}
	return s, tensor.FromSlice(s), tensor.FromSlice(s)
}

type sharing struct {
	name string
	code diag.Code
	f    func(x *tensor.Tensor) *tensor.Tensor
}

func requireRefused(t *testing.T, cases []sharing) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := fx.Trace(t.Context(), c.f)
			require.ErrorIs(t, err, c.code)
			require.ErrorContains(t, err, "shared_test.go:")
		})
	}
}

// The result of a branch or a loop that may be memory of an eager tensor, which eager code or
// Go code writes.
func TestTrace_refusesResultsInChangedMemory(t *testing.T) {
	requireRefused(t, []sharing{
		{"another tensor over it is written", alias.Stale, func(x *tensor.Tensor) *tensor.Tensor {
			_, v, w := twoOver()
			r := chosen(x, v)
			w.AddScalarInPlace(1)
			return r
		}},
		{"a view goes in", alias.Stale, func(x *tensor.Tensor) *tensor.Tensor {
			_, v, w := twoOver()
			r := chosen(x, v.Narrow(0, 1, 2))
			w.AddScalarInPlace(1)
			return r
		}},
		{"the slice is written", alias.Stale, func(x *tensor.Tensor) *tensor.Tensor {
			s, v, _ := twoOver()
			r := chosen(x, v).Narrow(0, 0, 2)
			s[0] = 7
			return r
		}},
		{"Data is written", alias.Stale, func(x *tensor.Tensor) *tensor.Tensor {
			v := tensor.Zeros(3)
			d := tensor.Data[float32](v)
			r := chosen(x, v)
			d[1] = 4
			return r
		}},
		{"the operand is captured again first", alias.Stale, func(x *tensor.Tensor) *tensor.Tensor {
			s, v, _ := twoOver()
			r := chosen(x, v)
			s[0] = 7
			y := v.Add(x)
			return r.Add(y)
		}},
		{"a region captures it again", alias.Stale, func(x *tensor.Tensor) *tensor.Tensor {
			s, v, _ := twoOver()
			r := chosen(x, v)
			s[0] = 7
			chosen(x, x)
			return r
		}},
		{"a branch of a branch", alias.Stale, func(x *tensor.Tensor) *tensor.Tensor {
			s, v, _ := twoOver()
			r := chosen(x, chosen(x, v))
			s[0] = 5
			return r
		}},
		{"used in a region", alias.Stale, func(x *tensor.Tensor) *tensor.Tensor {
			s, v, _ := twoOver()
			r := chosen(x, v)
			s[0] = 5
			return tensor.Cond(x.Sum().GtScalar(0), func(list) list { return list{r.Add(x)} }, func(list) list { return list{x} })[0]
		}},
		{"a loop that may not run", alias.Stale, func(x *tensor.Tensor) *tensor.Tensor {
			_, v, w := twoOver()
			r := looped(x, -1, func(c list) list { return list{c[0].MulScalar(2)} }, v)
			w.AddScalarInPlace(1)
			return r[0]
		}},
	})
}

// A write to the result of a branch that may be memory of eager tensors.
func TestTrace_refusesEagerTensorsThatAResultMayBe(t *testing.T) {
	with := func(use func(x, v, w *tensor.Tensor) *tensor.Tensor) func(x *tensor.Tensor) *tensor.Tensor {
		return func(x *tensor.Tensor) *tensor.Tensor {
			_, v, w := twoOver()
			chosen(x, v).AddInPlace(x)
			return use(x, v, w)
		}
	}
	requireRefused(t, []sharing{
		{"the operand", alias.Stale, with(func(_, v, _ *tensor.Tensor) *tensor.Tensor { return v })},
		{"eager calls on the operand", alias.Stale, with(func(x, v, _ *tensor.Tensor) *tensor.Tensor { return x.Add(v.AddScalar(1)) })},
		{"its elements", alias.Stale, with(func(x, v, _ *tensor.Tensor) *tensor.Tensor { return x.AddScalar(v.Sum().Item()) })},
		{"its memory", tracer.DataRead, with(func(x, v, _ *tensor.Tensor) *tensor.Tensor {
			return x.AddScalar(float64(tensor.Data[float32](v)[0]))
		})},
		{"another tensor over it", alias.Stale, with(func(x, _, w *tensor.Tensor) *tensor.Tensor { return x.Add(w) })},
		{"another tensor is a result", alias.Stale, with(func(_, _, w *tensor.Tensor) *tensor.Tensor { return w })},
		{"eager calls on another tensor", alias.Stale, with(func(x, _, w *tensor.Tensor) *tensor.Tensor { return x.AddScalar(w.Sum().Item()) })},
	})
}

// What a loop writes through a value that may be memory which it reads in the next round.
func TestTrace_refusesLoopsThatMayWriteWhatTheyRead(t *testing.T) {
	requireRefused(t, []sharing{
		{"a carried value, then another", record.RegionMismatch, func(x *tensor.Tensor) *tensor.Tensor {
			v, w := x.Tanh(), x.Sin()
			looped(x, 2, func(c list) list { chosen(c[1], c[0]).CosInPlace(); return list{v, c[1]} }, w, x)
			return w
		}},
		{"a carried value of unknown layout", record.RegionMismatch, func(x *tensor.Tensor) *tensor.Tensor {
			v, w := x.Tanh(), x.Sin()
			looped(x, 2, func(c list) list {
				f := c[0].Flatten(-2, -1)
				f.Reshape(f.Size(0), 1).CosInPlace()
				return list{v}
			}, w)
			return w
		}},
		{"a slice of a scan", record.RegionMismatch, func(x *tensor.Tensor) *tensor.Tensor {
			rows := x.Tanh().Unsqueeze(0)
			last, _ := tensor.Scan(func(c, q list) (list, list) {
				y := c[0].Add(q[0])
				chosen(y, q[0]).CosInPlace()
				return list{y}, nil
			}, list{x.Sin()}, list{rows})
			return last[0].Add(rows)
		}},
		{"a value from outside", record.RegionMismatch, func(x *tensor.Tensor) *tensor.Tensor {
			v := x.Tanh()
			u := chosen(x, v)
			return looped(x, 2, func(c list) list { y := c[0].Add(v); u.CosInPlace(); return list{y} }, x.Sin())[0]
		}},
		{"in a loop inside", record.RegionMismatch, func(x *tensor.Tensor) *tensor.Tensor {
			v := x.Tanh()
			u := chosen(x, v)
			return looped(x, 2, func(c list) list {
				y := c[0].Add(v)
				return looped(x, 2, func(d list) list { u.CosInPlace(); return d }, y)
			}, x.Sin())[0]
		}},
		{"eager tensors", record.RegionMismatch, func(x *tensor.Tensor) *tensor.Tensor {
			_, v, w := twoOver()
			return looped(x, 2, func(c list) list { y := c[0].Add(v); w.AddInPlace(c[0]); return list{y} }, x.Sin())[0]
		}},
		{"in the condition", record.RegionMismatch, func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.While(func(c list) *tensor.Tensor {
				y := c[0].Sum().LtScalar(2)
				chosen(y, c[0]).AddScalarInPlace(1)
				return y
			}, func(c list) list { return list{c[0].AddScalar(1)} }, x.Tanh())[0]
		}},
	})
}

// Writes of eager code to memory from before the trace, which a run of the graph does not make.
func TestTrace_refusesEagerWritesToLastingMemory(t *testing.T) {
	global := tensor.FromSlice([]float64{-2, 2, -2, -1.75})
	requireRefused(t, []sharing{
		{"an integer result of them", tracer.UnseenWrite, func(*tensor.Tensor) *tensor.Tensor {
			global.MishInPlace()
			_, order := global.Sort(-1)
			return order
		}},
		{"a branch on them", tracer.UnseenWrite, func(x *tensor.Tensor) *tensor.Tensor {
			if global.Select(0, 1).FloorInPlace(); global.Sum().Item() > 0 {
				return x.Neg()
			}
			return x
		}},
		{"nothing reads them", tracer.UnseenWrite, func(x *tensor.Tensor) *tensor.Tensor {
			global.AddScalarInPlace(5)
			return x.Neg()
		}},
		{"through another tensor over the memory", tracer.UnseenWrite, func(x *tensor.Tensor) *tensor.Tensor {
			global.Narrow(0, 1, 2).AddScalarInPlace(5)
			return x.Neg()
		}},
	})
}

// Memory that is made in the call, and what other goroutines write, is not concerned.
func TestTrace_keepsEagerWritesToMemoryOfTheCall(t *testing.T) {
	global := tensor.Zeros(3)
	gm, err := fx.Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor {
		local := tensor.Ones(3).MulScalarInPlace(2)
		done := make(chan struct{})
		go func() {
			global.AddScalarInPlace(1)
			close(done)
		}()
		<-done
		return x.Add(local)
	})
	require.NoError(t, err)
	out, err := gm.Run(t.Context(), tensor.Zeros(3))
	require.NoError(t, err)
	require.Equal(t, []string{"tensor([2., 2., 2.])"}, texts(out))
}

// twoFields are tensors of a module that lie over one Go slice.
type twoFields struct {
	A, B *tensor.Tensor
	f    func(m *twoFields, x *tensor.Tensor) *tensor.Tensor
}

func (m *twoFields) Forward(x *tensor.Tensor) *tensor.Tensor { return m.f(m, x) }

func TestTrace_refusesWritesToFieldsOverOneSlice(t *testing.T) {
	for name, f := range map[string]func(m *twoFields, x *tensor.Tensor) *tensor.Tensor{
		"the other is read": func(m *twoFields, x *tensor.Tensor) *tensor.Tensor { m.A.AddInPlace(x); return m.B.MulScalar(2) },
		"none is read":      func(m *twoFields, x *tensor.Tensor) *tensor.Tensor { m.A.AddInPlace(x); return x.Neg() },
		"by a call of its own": func(m *twoFields, x *tensor.Tensor) *tensor.Tensor {
			y := m.B.Add(x)
			m.A.AddScalarInPlace(1)
			return y
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := []float32{1, 2, 3, 4}
			_, err := fx.Trace(t.Context(), &twoFields{A: tensor.FromSlice(s[:3]), B: tensor.FromSlice(s[1:]), f: f}, fx.Input("x", "f32[3]"))
			require.ErrorIs(t, err, alias.NoInverse)
		})
	}
}
