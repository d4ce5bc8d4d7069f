package lazy_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

func open(t *testing.T, o lazy.Options) *lazy.Session {
	s := lazy.New(o)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// matrix is a tensor of two rows.
func matrix(v ...float32) *tensor.Tensor { return vec(v...).Clone().Reshape(2, -1) }

func flat(x *tensor.Tensor) string { return show(x.Reshape(-1)) }

// The rows name the tables of seeds: TY of Torchy, L of LazyTensor.

func TestRows_TY1_delaysUntilObserved(t *testing.T) {
	s := open(t, lazy.Options{})
	x, y := s.In(matrix(1, 2, 3, 4)), s.In(matrix(5, 6, 7, 8))
	w := x.Mul(y)
	w = w.Add(y)
	x.AddInPlace(w)
	require.Zero(t, s.Stats().Runs)
	require.Equal(t, fmt.Sprint(matrix(11, 20, 31, 44)), fmt.Sprint(x))
	require.Equal(t, map[lazy.Reason]int{lazy.Print: 1}, s.Stats().Flushes)
	require.Equal(t, 3, s.Stats().Runs)
}

func TestRows_TY2_reasons(t *testing.T) {
	s := open(t, lazy.Options{MaxTrace: 4})
	one := func() *tensor.Tensor { return s.In(vec(1)).AddScalar(1) }
	one().Item()
	show(one())
	_ = one().String()
	one().Equal(one())
	one().Nonzero()
	require.NoError(t, func() error { one(); return s.Barrier() }())
	for range 5 {
		one()
	}
	buf := []float32{1}
	tensor.FromSlice(buf).AddInPlace(one())
	require.Equal(t, float32(3), tensor.Data[float32](tensor.FromSlice(buf).Add(s.In(vec(0))))[0]-0)
	st := s.Stats()
	for _, why := range []lazy.Reason{lazy.Item, lazy.Data, lazy.Print, lazy.Compare, lazy.Shape, lazy.Barrier, lazy.Length, lazy.Write} {
		require.Positive(t, st.Flushes[why], why)
	}
}

func TestRows_TY3_shapesAreKnown(t *testing.T) {
	s := open(t, lazy.Options{})
	x := s.In(matrix(1, 2, 3, 4))
	x.AddInPlace(x)
	require.Equal(t, []int{2, 2}, x.Shape())
	require.Equal(t, 2, x.Dim(1))
	x.AddInPlace(x)
	require.Equal(t, "[4 8 12 16]", flat(x))
	require.Equal(t, map[lazy.Reason]int{lazy.Data: 1}, s.Stats().Flushes)
}

func TestRows_TY5_boundedTrace(t *testing.T) {
	s := open(t, lazy.Options{MaxTrace: 64})
	x := s.In(vec(0))
	for range 65 {
		x = x.AddScalar(1)
	}
	require.Equal(t, 65.0, x.Item())
	require.Equal(t, map[lazy.Reason]int{lazy.Length: 1, lazy.Item: 1}, s.Stats().Flushes)
	require.Equal(t, 64, s.Stats().Longest)
}

func TestRows_TY8_twoNames(t *testing.T) {
	s := open(t, lazy.Options{})
	x, y := s.In(matrix(1, 2, 3, 4)), s.In(matrix(7, 6, 8, 9))
	z := x
	x.AddInPlace(y)
	w := z.Add(x)
	require.Equal(t, "[8 8 11 13] [8 8 11 13] [16 16 22 26]", flat(x)+" "+flat(z)+" "+flat(w))
	require.Zero(t, s.Stats().Flushes[lazy.Write])
}

func TestRows_TY9_deadCallsDoNotRun(t *testing.T) {
	s := open(t, lazy.Options{})
	x, y := s.In(vec(1, 2)), s.In(vec(3, 4))
	z := x.Mul(y)
	_ = z.Exp() // nobody asks
	require.Equal(t, "[6 16]", show(z.MulScalar(2)))
	require.Equal(t, 2, s.Stats().Runs)
}

func TestRows_TY10_oneCompile(t *testing.T) {
	s := open(t, lazy.Options{})
	for i := range 10 {
		x := s.In(vec(float32(i), 1))
		require.Equal(t, float64(2*i+3), x.MulScalar(2).Sum().AddScalar(1).Item())
		s.Wait()
	}
	st := s.Stats()
	require.Equal(t, []int{1, 1, 3, 7}, []int{st.Graphs, st.Compiles, st.Interpreted, st.Hits})
}

func TestRows_L3_barrier(t *testing.T) {
	s := open(t, lazy.Options{})
	a, b, c := s.In(vec(1)).Neg(), s.In(vec(2)).Exp(), s.In(vec(3)).AddScalar(1)
	require.NoError(t, s.Barrier())
	require.NoError(t, s.NoFlush(func() { a.Item(); b.Item(); c.Item() }))
	require.Equal(t, map[lazy.Reason]int{lazy.Barrier: 1}, s.Stats().Flushes)
	require.Equal(t, 3, s.Stats().Runs)
}

func TestRows_L5_keys(t *testing.T) {
	s := open(t, lazy.Options{})
	run := func(x *tensor.Tensor) { x.MulScalar(3).Exp().Sum().Item() }
	graphs := func() int { return s.Stats().Graphs }
	run(s.In(vec(1, 2)))
	run(s.In(vec(3, 4)))
	require.Equal(t, 1, graphs(), "other numbers")
	run(s.In(vec(1, 2, 3)))
	require.Equal(t, 2, graphs(), "other sizes")
	run(s.In(vec(1, 2).Cast(array.F64)))
	require.Equal(t, 3, graphs(), "another element type")
	y := s.In(vec(1, 2)).MulScalar(3).Exp()
	y.Sum()
	require.NoError(t, s.Barrier())
	require.Equal(t, 3, graphs(), "the same values")
	require.Equal(t, fmt.Sprint(vec(1, 2).MulScalar(3).Exp()), fmt.Sprint(y))
}

func TestRows_L6_wiring(t *testing.T) {
	s := open(t, lazy.Options{})
	in := func() (a, b, c *tensor.Tensor) {
		return s.In(vec(1)).AddScalar(1), s.In(vec(2)).AddScalar(1), s.In(vec(3)).AddScalar(1)
	}
	a, b, c := in()
	require.Equal(t, 10.0, a.Mul(b).Add(c).Item())
	a, b, c = in()
	require.Equal(t, 11.0, a.Mul(c).Add(b).Item())
	a, b, _ = in()
	require.Equal(t, 8.0, a.Mul(a).Add(b).Add(a.SubScalar(1)).Item())
	require.Equal(t, 2, s.Stats().Graphs, "the operands of the second call are numbered as they are met")
}

func TestRows_L9_thousandWrites(t *testing.T) {
	s := open(t, lazy.Options{})
	a := s.In(vec(0))
	for range 1000 {
		a.AddScalarInPlace(1)
	}
	require.Equal(t, 1000.0, a.Item())
	require.Equal(t, map[lazy.Reason]int{lazy.Item: 1}, s.Stats().Flushes)
	i := s.In(tensor.FromSlice([]int32{2}))
	e := panicOf(t, func() { i.AddInPlace(s.In(vec(1.5))) })
	require.Equal(t, panicOf(t, func() { tensor.FromSlice([]int32{2}).AddInPlace(vec(1.5)) }).Code, e.Code, "as eagerly")
	i.AddScalarInPlace(1)
	require.Equal(t, 3.0, i.Item())
}

func TestRows_L10_views(t *testing.T) {
	s := open(t, lazy.Options{})
	eager := tensor.Arange(24).Cast(array.F32).Reshape(2, 3, 4).Clone()
	x := s.In(eager)
	for _, b := range []*tensor.Tensor{eager, x} {
		b.Permute(1, 2, 0).AddScalarInPlace(42)
		b.Select(0, 1).Slice(1, 1, 3).MulScalarInPlace(-1)
	}
	require.True(t, eager.Equal(x))
	require.Equal(t, map[lazy.Reason]int{lazy.Compare: 1}, s.Stats().Flushes)
}

func TestRows_L13_branches(t *testing.T) {
	s := open(t, lazy.Options{})
	calls := 0
	for i := range 10 {
		x := s.In(vec(float32(i%2), -0.5))
		if calls += 2; x.Sum().Item() > 0 {
			x = x.MulScalar(2)
		} else {
			x = x.Neg()
		}
		x.Sum().Item()
		calls++
		s.Wait()
	}
	st := s.Stats()
	require.Equal(t, 3, st.Graphs)
	require.Equal(t, calls, st.Runs, "each call once")
}

func TestRows_L19_flatMemory(t *testing.T) {
	s := open(t, lazy.Options{MaxTrace: 64})
	x := s.In(vec(0))
	for range 6400 {
		x = x.AddScalar(1)
	}
	require.Equal(t, 6400.0, x.Item())
	require.Equal(t, 100, s.Stats().Flushes[lazy.Length])
	require.Equal(t, 1, s.Stats().Compiles)
}

func TestRows_L23_conesApart(t *testing.T) {
	s := open(t, lazy.Options{})
	a, b := s.In(vec(1)).AddScalar(1).MulScalar(3), s.In(vec(2)).Neg().Exp().Log()
	require.Equal(t, 6.0, a.Item())
	require.Equal(t, 2, s.Stats().Runs)
	require.InDelta(t, -2, b.Item(), 1e-6)
	require.Equal(t, 5, s.Stats().Runs)
}
