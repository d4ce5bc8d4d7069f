package lazy_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/tensor"
)

func TestRows_L7_specialScalars(t *testing.T) {
	s := open(t, lazy.Options{})
	run := func(c float64) {
		x := s.In(vec(1, 2)).MulScalar(c).Exp()
		require.Equal(t, show(vec(1, 2).MulScalar(c).Exp()), show(x))
		s.Wait()
	}
	for _, c := range []float64{2, 3, 0.5, 7, 2} {
		run(c)
	}
	st := s.Stats()
	require.Equal(t, []int{1, 1, 2}, []int{st.Graphs, st.Compiles, st.Hits})
	run(0)
	run(1)
	require.Equal(t, 3, s.Stats().Graphs)

	x := s.In(vec(1, 2)).Exp()
	y := x.MulScalar(1)
	require.Equal(t, show(x), show(y))
	tensor.Data[float32](y)[0] = 9
	require.NotEqual(t, show(x), show(y), "not the same memory")
	zero := s.In(vec(0)).Neg()
	require.Equal(t, "[-0] [0]", show(zero.MulScalar(1))+" "+show(zero.AddScalar(0)))
}

// The number 0 or 1 is a constant in the first four calls of a graph alone, so that n
// numbers that are now and then 0 or 1 are no 3^n graphs.
func TestRows_PF3_specialsAreBounded(t *testing.T) {
	s := open(t, lazy.Options{})
	for i := range 729 {
		x, y := s.In(vec(1, 2)), vec(1, 2)
		for range 6 {
			c := float64(i % 3)
			i /= 3
			x, y = x.MulScalar(c).Exp(), y.MulScalar(c).Exp()
		}
		require.Equal(t, show(y), show(x))
	}
	require.Equal(t, 3*3*3*3, s.Stats().Graphs)
}

func TestRows_L8_scalarsAreNotMerged(t *testing.T) {
	s := open(t, lazy.Options{Warm: 1})
	train := func(in func(*tensor.Tensor) *tensor.Tensor, wait func()) (out string) {
		w, v := in(vec(1, 2)), in(vec(0, 0))
		for i := range 9 {
			g := w.MulScalar(3)
			v = v.MulScalar(0.5).Add(g)
			w = w.Sub(v.MulScalar(float64(i+1) / 10)) // once the momentum
			out += show(w) + show(v)
			wait()
		}
		return out
	}
	want := train(func(x *tensor.Tensor) *tensor.Tensor { return x }, func() {})
	require.Equal(t, want, train(s.In, s.Wait))
	st := s.Stats()
	require.Equal(t, []int{1, 1}, []int{st.Graphs, st.Compiles}, "that of w, of which v is a part that was asked for after the first run")

	a := s.In(vec(42))
	b, c := a.AddScalar(1), a.AddScalar(2) // a constant that others have is not written to
	b.AddScalarInPlace(5)
	require.Equal(t, "[42] [48] [44] [43]", show(a)+" "+show(b)+" "+show(c)+" "+show(a.AddScalar(1)))
}

func TestRows_L21_keysOfRandomNumbers(t *testing.T) {
	s := open(t, lazy.Options{})
	seen := map[string]bool{}
	for i := range 10 {
		key := tensor.Scalar(int64(i))
		want := show(tensor.Rand(key, 3).MulScalar(2))
		require.Equal(t, want, show(tensor.Rand(s.In(key), 3).MulScalar(2)))
		seen[want] = true
		s.Wait()
	}
	st := s.Stats()
	require.Equal(t, []int{10, 1, 1}, []int{len(seen), st.Graphs, st.Compiles})
}

// Rows, slices and their writes at all positions are one graph each.
func TestRows_PF2_positions(t *testing.T) {
	for name, f := range map[string]func(x *tensor.Tensor, i int) *tensor.Tensor{
		"select": func(x *tensor.Tensor, i int) *tensor.Tensor { return x.Select(0, i-10).Exp() },
		"narrow": func(x *tensor.Tensor, i int) *tensor.Tensor { return x.Narrow(1, i, 3).Exp() },
		"slice": func(x *tensor.Tensor, i int) *tensor.Tensor {
			return x.Slice(1, i, i+3, tensor.SliceAttrs{Step: 2}).Exp()
		},
		"select_scatter": func(x *tensor.Tensor, i int) *tensor.Tensor { x.Select(1, i).MulScalarInPlace(3); return x },
		"slice_scatter": func(x *tensor.Tensor, i int) *tensor.Tensor {
			x.Slice(0, i, i+1).AssignInPlace(x.Slice(0, 0, 1))
			return x
		},
		"roll": func(x *tensor.Tensor, i int) *tensor.Tensor { return x.Roll([]int{i - 4, 30 * i}, 0, 1).Exp() },
		"diagonal": func(x *tensor.Tensor, i int) *tensor.Tensor {
			return x.Reshape(2, 60).Diagonal(tensor.DiagonalAttrs{Offset: 2 * i}).Exp()
		},
		"diagonal_scatter": func(x *tensor.Tensor, i int) *tensor.Tensor {
			x.Reshape(60, 2).Diagonal(tensor.DiagonalAttrs{Offset: -i}).MulScalarInPlace(3)
			return x
		},
		"arange": func(x *tensor.Tensor, i int) *tensor.Tensor {
			return tensor.In(x.Engine()).Arange(13*i+24, tensor.ArangeAttrs{Start: i, Step: i + 2}).Cast(array.F32).Narrow(0, 0, 10).Add(x.Select(1, 0))
		},
		"fold_in": func(x *tensor.Tensor, i int) *tensor.Tensor {
			return tensor.Rand(x.Select(0, 0).Select(0, 5).Cast(array.I64).FoldIn(i+100), 4)
		},
		"randint": func(x *tensor.Tensor, i int) *tensor.Tensor {
			return tensor.Randint(x.Select(0, 0).Select(0, 5).Cast(array.I64), -i-2, 3*i+7, 5)
		},
		"dropout": func(x *tensor.Tensor, i int) *tensor.Tensor {
			return x.Dropout(x.Select(0, 0).Select(0, 5).Cast(array.I64), 0.1+float64(i)/16, tensor.DropoutAttrs{Training: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, lazy.Options{Warm: 1})
			data := tensor.Arange(120).Cast(array.F32).Reshape(10, 12)
			for i := range 9 {
				require.Equal(t, fmt.Sprint(f(data.Clone(), i)), fmt.Sprint(f(s.In(data), i)), i)
				s.Wait()
			}
			st := s.Stats()
			require.Equal(t, []int{1, 1, 7}, []int{st.Graphs, st.Compiles, st.Hits})
		})
	}
	s := open(t, lazy.Options{})
	past := func(x *tensor.Tensor) *diag.Error { return panicOf(t, func() { x.Select(0, 2) }) }
	require.Equal(t, past(vec(1, 2)).Error(), past(s.In(vec(1, 2))).Error(), "when the call is recorded")
}

// counting is the CPU, which notes how many steps the plans have.
type counting struct {
	cpu.Target
	steps *[]int
}

func (c counting) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	ready, err := lowering.Prepare(m, o)
	if err != nil {
		return nil, err
	}
	p, err := cpu.Plan(ready, o)
	if err != nil {
		return nil, err
	}
	*c.steps = append(*c.steps, len(p.Steps))
	return c.Target.Compile(m, o)
}

func TestRows_L7_timesOneIsNoStep(t *testing.T) {
	steps := func(f func(x *tensor.Tensor) *tensor.Tensor) int {
		var list []int
		s := open(t, lazy.Options{Warm: 1, Target: counting{steps: &list}})
		for range 3 {
			show(f(s.In(vec(1, 2))))
			s.Wait()
		}
		require.Len(t, list, 1)
		return list[0]
	}
	without := steps(func(x *tensor.Tensor) *tensor.Tensor { return x.Cumsum(0) })
	require.Equal(t, without, steps(func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(1).Cumsum(0) }))
	require.Equal(t, without+1, steps(func(x *tensor.Tensor) *tensor.Tensor { return x.AddScalar(0).Cumsum(0) }), "-0+0 is 0")
}

// A number that has not changed is a constant of the plan; when it changes, the program is
// compiled once more.
func TestScalars_thatChangeLate(t *testing.T) {
	s := open(t, lazy.Options{})
	for i := range 12 {
		c := 2 + float64(max(i-7, 0))
		require.Equal(t, show(vec(1, 2).MulScalar(c).Exp()), show(s.In(vec(1, 2)).MulScalar(c).Exp()))
		s.Wait()
	}
	st := s.Stats()
	require.Equal(t, []int{1, 2, 4, 8}, []int{st.Graphs, st.Compiles, st.Interpreted, st.Hits})
}

// Numbers that change one after the other do not compile a plan each.
func TestScalars_thatChangeOneByOne(t *testing.T) {
	s := open(t, lazy.Options{Warm: 1})
	for i := range 30 {
		x, y := s.In(vec(1, 2)), vec(1, 2)
		for k := range 10 {
			c := 2 + float64(max(i-3*k, 0))
			x, y = x.MulScalar(c).Log(), y.MulScalar(c).Log()
		}
		require.Equal(t, show(y), show(x))
		s.Wait()
	}
	require.Equal(t, []int{1, 4}, []int{s.Stats().Graphs, s.Stats().Compiles})
}

func TestScalars_policies(t *testing.T) {
	for _, o := range []struct {
		lazy.Options
		graphs, compiles int
	}{
		{lazy.Options{Scalars: lazy.Fixed}, 3, 3},
		{lazy.Options{Scalars: lazy.Always}, 1, 1},
		{lazy.Options{Rounding: true}, 3, 3},
		{lazy.Options{Rounding: true, Scalars: lazy.Always}, 1, 1},
	} {
		s := open(t, o.Options)
		for i := range 9 {
			c := float64(i%3 + 2)
			require.Equal(t, show(vec(1, 2).MulScalar(c)), show(s.In(vec(1, 2)).MulScalar(c)))
			s.Wait()
		}
		st := s.Stats()
		require.Equal(t, []int{o.graphs, o.compiles}, []int{st.Graphs, st.Compiles}, o)
	}
	require.Equal(t, lazy.BadOption, panicOf(t, func() { lazy.New(lazy.Options{Scalars: 7}) }).Code)
	require.Equal(t, lazy.BadOption, panicOf(t, func() { lazy.New(lazy.Options{Dims: lazy.Always}) }).Code)
	require.Equal(t, lazy.BadOption, panicOf(t, func() { lazy.New(lazy.Options{Scalars: -1}) }).Code)
	require.Equal(t, "Policy(7)", lazy.Policy(7).String())
}
