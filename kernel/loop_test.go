package kernel_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
)

func floats(a *array.Array) []float32 { return array.Data[float32](a) }

// double counts rounds in n and doubles x as long as n is below limit.
func double(work *kernel.Workspace, l *kernel.WhileLoop, out, in, spare []*array.Array, limit float32) (rounds int) {
	for l.Begin(out, in, spare...); ; l.Next() {
		array.Data[bool](l.Test[0])[0] = floats(l.In[1])[0] < limit
		if !l.More() {
			break
		}
		rounds++
		for i := range floats(l.Out[0]) {
			floats(l.Out[0])[i] = float32(2 * array.Float64At(l.In[0], i))
		}
		floats(l.Out[1])[0] = floats(l.In[1])[0] + floats(l.In[2])[0]
	}
	l.End(work)
	return rounds
}

func TestWhileLoopCarriesWithoutCopies(t *testing.T) {
	var l kernel.WhileLoop
	work := &kernel.Workspace{}
	out := []*array.Array{array.New(array.F32, 2), array.New(array.F32)}
	spare := []*array.Array{array.New(array.F32, 2), array.New(array.F32), array.New(array.Bool)}
	x := array.FromSlice([]float32{1, 9, 3, 9}, 2, 2)
	in := []*array.Array{array.Select(x, 1, 0), array.Scalar(float32(0)), array.Scalar(float32(1))}
	for n, want := range [][]float32{{1, 3}, {2, 6}, {4, 12}, {8, 24}} {
		require.Equal(t, n, double(work, &l, out, in, spare, float32(n)))
		require.Equal(t, want, floats(out[0]))
		require.Equal(t, float32(n), floats(out[1])[0])
		require.Equal(t, []float32{1, 9, 3, 9}, floats(x), "operands are not written")
		for _, list := range [][]*array.Array{l.In, l.Out, l.Test} {
			for _, a := range list {
				require.Nil(t, a, "an idle loop holds no arrays")
			}
		}
	}
	require.Zero(t, testing.AllocsPerRun(5, func() { double(work, &l, out, in, spare, 4) }))
}

// prefix sums rows of x, scaled by k: the last sum and all of them.
func prefix(work *kernel.Workspace, l *kernel.ScanLoop, out, in, spare []*array.Array) {
	for l.Begin(1, 2, out, in, spare...); l.More(); l.Next() {
		for i := range floats(l.Out[0]) {
			v := array.Float64At(l.In[0], i) + array.Float64At(l.In[1], i)*array.Float64At(l.In[3], 0) - array.Float64At(l.In[2], i)
			array.SetFloat64At(l.Out[0], i, v)
			array.SetFloat64At(l.Out[1], i, v)
		}
	}
	l.End(work)
}

func TestScanLoopSlicesAndStacks(t *testing.T) {
	var l kernel.ScanLoop
	work := &kernel.Workspace{}
	y := array.FromSlice([]float32{0, 1, 2, 3, 4, 5}, 2, 3)
	for n := range 4 {
		x := array.Slice(array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2), 0, 0, n, 1)
		out := []*array.Array{array.New(array.F32, 2), array.New(array.F32, n, 2)}
		in := []*array.Array{array.FromSlice([]float32{10, 20}), x, array.Slice(array.Permute(y, 1, 0), 0, 0, n, 1), array.Scalar(float32(2))}
		spare := []*array.Array{array.New(array.F32, 2)}
		prefix(work, &l, out, in, spare)
		last, all := []float32{10, 20}, []float32{}
		for r := range n {
			for i := range 2 {
				last[i] += 2*float32(2*r+i+1) - float32(3*i+r)
			}
			all = append(all, last...)
		}
		require.Equal(t, last, floats(out[0]), n)
		require.Equal(t, all, append([]float32{}, floats(out[1])...), n)
		require.Zero(t, testing.AllocsPerRun(5, func() { prefix(work, &l, out, in, spare) }), n)
		in[2] = array.New(array.F32, n+1, 2)
		var s kernel.Frame
		require.ErrorIs(t, call(&s, func() { prefix(work, &l, out, in, spare) }), kernel.CodeLengths)
	}
}

// TestBodiesShareTheCallOfTheirFrame follows a body of a body: the context, the
// scratch memory, the memory that is counted, and where an error comes from.
func TestBodiesShareTheCallOfTheirFrame(t *testing.T) {
	type outer struct{ kernel.Frame }
	var s, b, c outer
	lay := func(f *outer, size, scratch int) { f.Arena(size); f.Need(scratch); f.Allocate() }
	stopped, stop := context.WithCancel(context.Background())
	s.Begin(stopped, 1)
	s.Arena(64)
	s.Need(128)
	s.Ahead(&b.Frame, func() {
		b.Enter(&s.Frame)
		b.Arena(640)
		b.Ahead(&c.Frame, func() { c.Enter(&b.Frame); lay(&c, 6400, 1280); c.Leave() })
		b.Allocate()
		b.Leave()
	})
	s.Allocate()
	require.True(t, b.Ready() && c.Ready())
	require.EqualValues(t, 64+640+6400+1280, s.Bytes())
	require.EqualValues(t, s.Bytes(), s.Held())

	work := s.At("loop")
	b.Enter(&s.Frame)
	require.Same(t, work, b.At("inner"))
	c.Enter(&b.Frame)
	require.Same(t, work, c.At("innermost"))
	var e *diag.Error
	require.ErrorAs(t, s.Failure(diag.New("FX2080", "no")), &e)
	require.Equal(t, "innermost", e.Node)
	c.Leave()
	require.ErrorAs(t, s.Failure(diag.New("FX2080", "no")), &e)
	require.Equal(t, "inner", e.Node)
	b.Leave()
	require.ErrorAs(t, s.Failure(diag.New("FX2080", "no")), &e)
	require.Equal(t, "loop", e.Node)
	stop()
	require.ErrorIs(t, call(&s.Frame, func() { b.Enter(&s.Frame) }), context.Canceled)

	var bad, d outer
	bad.Begin(context.Background(), 1)
	bad.Arena(64)
	bad.Ahead(&d.Frame, func() { d.Enter(&bad.Frame); lay(&d, 640, 64); d.Place(new(array.Array), 0, array.F32, -1) })
	require.False(t, d.Ready(), "the body cannot be laid out, and is not entered perhaps")
	require.EqualValues(t, 64, bad.Bytes())
	require.ErrorAs(t, bad.Failure(diag.New("FX2080", "no")), &e)
	require.Empty(t, e.Node)
}

func TestStateIsTheCallersOwn(t *testing.T) {
	var c kernel.Checker
	a, b := array.New(array.F32, 2, 3), array.New(array.F32, 3)
	c.State("a", a, array.F32, 2, 3)
	c.Own([]string{"a", "b"}, []*array.Array{a, b}, []*array.Array{array.New(array.F32, 3), nil})
	require.NoError(t, c.Err())
	c.State("b", nil, array.F32, 3)
	c.Own([]string{"a", "row"}, []*array.Array{a, array.Select(a, 0, 1)}, nil)
	c.Own([]string{"b"}, []*array.Array{b}, []*array.Array{a, b})
	require.EqualError(t, c.Err().(diag.List)[0], "state \"b\" is nil, expected f32[3] [FX1022]\n    hint: give arguments of the sizes that the comment of Forward lists")
	require.Len(t, c.Err(), 3)
	require.ErrorContains(t, c.Err(), `state "row" is in the memory of an argument or of other state`)
	var s kernel.Frame
	require.ErrorIs(t, call(&s, c.Hold), kernel.CodeArgument)
	(&kernel.Checker{}).Hold()
}
