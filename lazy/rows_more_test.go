package lazy_test

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// The rows go on with those of PF, the pitfalls of published systems.

func TestRows_TY6_inputs(t *testing.T) {
	s := open(t, lazy.Options{})
	a := s.In(vec(1, 2))
	require.Equal(t, "[2 4]", show(a.Add(a)))
	require.Equal(t, []string{"x0 f32[2]"}, s.Explain().Graphs[0].Reads, "an operand that comes twice is one input")
}

func TestRows_TY7_outputs(t *testing.T) {
	s := open(t, lazy.Options{})
	x := s.In(vec(1, 2))
	for range 32 {
		x = x.AddScalar(1)
	}
	names := []*tensor.Tensor{x, x, x, x, x}
	require.Empty(t, s.Stats().Flushes, "names cost nothing")
	for _, n := range names {
		require.Equal(t, "[33 34]", show(n))
	}
	g := s.Explain().Graphs
	require.Len(t, g, 1)
	require.Equal(t, []int{32, 1, 1}, []int{g[0].Calls, g[0].Outputs, g[0].Runs})
}

func TestRows_TY14_paths(t *testing.T) {
	s := open(t, lazy.Options{})
	step := func(decay, warm bool) {
		g := s.In(vec(1, 2)).MulScalar(0.5)
		if decay {
			g = g.AddScalar(1)
		}
		if warm {
			g = g.Sqrt()
		}
		g.Sum().Item()
	}
	for range 3 {
		for _, path := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
			step(path[0], path[1])
		}
		s.Wait()
	}
	require.Equal(t, 4, s.Stats().Graphs)
}

// A method that returns a tensor asks for no data, except where its result's sizes are elements
// (Nonzero), and where that is its purpose (Wait).
func TestRows_L1_methodsAreRecorded(t *testing.T) {
	s := open(t, lazy.Options{})
	typ := reflect.TypeFor[*tensor.Tensor]()
	var atOnce []string
	n := 0
	for i := range typ.NumMethod() {
		m := typ.Method(i)
		if m.Type.NumOut() != 1 || m.Type.Out(0) != typ || m.Type.NumIn() > 2 || m.Type.NumIn() == 2 && !m.Type.IsVariadic() {
			continue
		}
		before := s.Stats()
		called := func() (ok bool) {
			defer func() { recover() }() // methods of other types and of views
			m.Func.Call([]reflect.Value{reflect.ValueOf(s.In(matrix(1, 2, 3, 4)))})
			return true
		}()
		if !called {
			continue
		}
		n++
		after := s.Stats()
		if fmt.Sprint(after.Flushes, after.AtOnce) != fmt.Sprint(before.Flushes, before.AtOnce) {
			atOnce = append(atOnce, m.Name)
		}
	}
	require.Greater(t, n, 60)
	require.Equal(t, []string{"Nonzero", "Wait"}, atOnce)
}

func TestRows_L2_text(t *testing.T) {
	s := open(t, lazy.Options{})
	in := func() *tensor.Tensor { return s.In(tensor.Ones(2, 4)) }
	require.NotEmpty(t, in().Mul(in()).Add(in()).String())
	text := s.Explain().Graphs[0].Text
	for _, line := range []string{"%x0: f32[2,4]", "%mul = call_function[mul](%x0, %x1) : f32[2,4]", "%add = call_function[add](%mul, %x2) : f32[2,4]"} {
		require.Contains(t, text, line)
	}
	for range 100 {
		require.Equal(t, text, s.Explain().Graphs[0].Text)
	}
}

func TestRows_L9_sameGraph(t *testing.T) {
	s := open(t, lazy.Options{})
	x, y := s.In(vec(1, 2)), s.In(vec(3, 4))
	a := x.Neg()
	a.AddInPlace(y)
	b := x.Neg()
	b = b.Add(y)
	require.Equal(t, show(a), show(b))
	require.Equal(t, 1, s.Stats().Graphs, "a write is the call whose result is written")
}

func TestRows_L12_foreignCalls(t *testing.T) {
	s := open(t, lazy.Options{})
	for i := range 10 {
		x := s.In(vec(1, 2)).AddScalar(1)
		if i%2 == 0 {
			x = doubled(x)
		}
		x.Sum().Item()
	}
	st := s.Stats()
	require.Len(t, st.AtOnce, 1)
	for _, n := range st.AtOnce {
		require.Equal(t, 5, n)
	}
}

func TestRows_L14_sizesOfElements(t *testing.T) {
	s := open(t, lazy.Options{})
	n := s.In(matrix(1, 0, 0, 2, 0, 3)).Nonzero()
	require.Equal(t, 3, n.Dim(0))
	require.Equal(t, map[string]int{"nonzero": 1}, s.Stats().AtOnce)
}

func TestRows_L21_random(t *testing.T) {
	drop := func(in mode, i int) string {
		key := in(tensor.Scalar(int64(i)))
		return show(tensor.Dropout(in(tensor.Ones(8)), key, 0.5, tensor.DropoutAttrs{Training: true}))
	}
	s := open(t, lazy.Options{})
	masks := map[string]bool{}
	for i := range 10 {
		mask := drop(s.In, i)
		s.Wait()
		masks[mask] = true
		require.Equal(t, drop(func(x *tensor.Tensor) *tensor.Tensor { return x }, i), mask, "as eagerly")
	}
	require.Equal(t, 1, s.Stats().Compiles, "ten keys, one graph")
	require.Greater(t, len(masks), 5)
}

func TestRows_L22_clones(t *testing.T) {
	s := open(t, lazy.Options{})
	x := s.In(vec(1, 2)).AddScalar(1)
	c := x.Clone()
	c.MulScalarInPlace(10)
	require.Equal(t, "[2 3][20 30]", show(x)+show(c))
}

func TestRows_PF5_zeroAndOneOfTypes(t *testing.T) {
	s := open(t, lazy.Options{})
	i := s.In(tensor.FromSlice([]int32{1}))
	f := s.In(vec(1))
	require.Equal(t, 2.0, i.AddScalar(1).Item())
	require.Equal(t, 2.0, f.AddScalar(1).Item())
	require.Equal(t, 2, s.Stats().Graphs)
}

func TestRows_PF6_linesAreNoKey(t *testing.T) {
	s := open(t, lazy.Options{})
	s.In(vec(1)).Exp().Sum().Item()
	s.In(vec(2)).
		Exp().
		Sum().
		Item()
	require.Equal(t, 1, s.Stats().Graphs)
}

func TestRows_PF7_equalConstants(t *testing.T) {
	s := open(t, lazy.Options{})
	for range 2 {
		a := s.In(tensor.Scalar[float32](42))
		a.AddScalarInPlace(1)
		require.NoError(t, s.Barrier())
		require.Equal(t, 43.0, a.Item())
	}
}

func TestRows_PF9_viewsAndBarriers(t *testing.T) {
	s := open(t, lazy.Options{})
	x := s.In(matrix(0, 0, 0, 0)).AddScalar(0)
	v := x.Select(0, 1)
	for range 100 {
		v.AddScalarInPlace(1)
		require.NoError(t, s.Barrier())
		s.Wait()
	}
	require.Equal(t, "[0 0 100 100][100 100]", flat(x)+show(v))
	for _, g := range s.Explain().Graphs {
		require.LessOrEqual(t, g.Calls, 6, g.Text)
	}
}

func TestRows_PF27_sessionsOfGoroutines(t *testing.T) {
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			s := lazy.New(lazy.Options{Threads: 1})
			defer s.Close()
			for i := range 50 {
				x := s.In(vec(float32(g), float32(i)))
				if got, want := x.MulScalar(2).Sum().Item(), float64(2*(g+i)); got != want {
					t.Errorf("session %d: got %g, want %g", g, got, want)
				}
			}
		})
	}
	all.Wait()
}

// Values do not depend on when memory is collected.
func TestRows_PF28_collections(t *testing.T) {
	run := func(collect func()) string {
		s := open(t, lazy.Options{})
		x := s.In(vec(1, 2))
		var b strings.Builder
		for i := range 6 {
			x.Exp() // dropped
			y := x.MulScalar(2)
			x = y.AddScalar(1)
			collect()
			if i%2 == 0 {
				b.WriteString(show(y))
			}
			s.Wait()
		}
		st := s.Stats()
		return b.String() + show(x) + fmt.Sprint(st.Runs, st.Graphs)
	}
	require.Equal(t, run(func() {}), run(runtime.GC))
}

func TestRows_PF30_programsThatRunOnce(t *testing.T) {
	s := open(t, lazy.Options{})
	x := s.In(vec(1, 2))
	for range 20 {
		x = x.MulScalar(0.5).AddScalar(1)
	}
	x.Sum().Item()
	require.Zero(t, s.Stats().Compiles)
}

// Steps of training are one graph from the first on: the old and the new value of a parameter
// are the same leaf.
func TestRows_PF31_training(t *testing.T) {
	s := open(t, lazy.Options{})
	w := tensor.Param(array.FromSlice([]float32{1, 2}))
	for range 6 {
		g := w.Mul(s.In(vec(0.5, 0.5)))
		w.SubInPlace(g)
		require.NoError(t, s.Barrier())
		s.Wait()
	}
	st := s.Stats()
	require.Equal(t, []int{1, 1}, []int{st.Graphs, st.Compiles})
	require.Equal(t, "[0.015625 0.03125]", show(w))
}

// A parameter that is read before an input, and another one that is not written, are weights.
func TestRows_PF31_weightsBeforeInputs(t *testing.T) {
	s := open(t, lazy.Options{})
	w, u := tensor.Param(array.FromSlice([]float32{1, 2})), tensor.Param(array.FromSlice([]float32{2, 2}))
	for range 6 {
		w.SubInPlace(w.Mul(s.In(vec(0.5, 0.5))).Mul(u).MulScalar(0.5))
		require.NoError(t, s.Barrier())
		s.Wait()
	}
	st := s.Stats()
	require.Equal(t, []int{1, 0, 3}, []int{st.Compiles, st.Refused, st.Hits})
	require.Equal(t, "[0.015625 0.03125]", show(w))
}

// Networks of the library have no call that runs by itself.
func TestRows_PF32_networksAreRecorded(t *testing.T) {
	s := open(t, lazy.Options{})
	net := nn.NewSequential(nn.NewConv2d(1, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU(), nn.NewMaxPool2d(2), nn.NewFlatten(), nn.NewLinear(36, 5))
	nn.Train(net)
	net.Forward(s.In(tensor.Ones(2, 1, 8, 8)))
	lstm := nn.NewLSTM(4, 3)
	lstm.Forward(s.In(tensor.Ones(2, 5, 4)), nil, nil)
	q := s.In(tensor.Ones(1, 3, 8))
	nn.NewMultiheadAttention(8, 2).Forward(q, q, q, nil, nil)
	require.Empty(t, s.Stats().AtOnce)
	require.Empty(t, s.Stats().Flushes)
}

// A write through Detach is refused: what gradients would be is unclear.
func TestRows_detachIsNotWritten(t *testing.T) {
	s := open(t, lazy.Options{})
	x := s.In(vec(1)).AddScalar(0)
	e := panicOf(t, func() { x.Detach().AddScalarInPlace(1) })
	require.Equal(t, alias.NoInverse, e.Code)
	require.Equal(t, "[1]", show(x))
}
