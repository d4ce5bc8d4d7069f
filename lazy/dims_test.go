package lazy_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// ramp is a tensor of small numbers.
func ramp(sizes ...int) *tensor.Tensor {
	n := 1
	for _, k := range sizes {
		n *= k
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i%13)/8 - 0.7
	}
	dims := make([]any, len(sizes))
	for i, k := range sizes {
		dims[i] = k
	}
	return tensor.FromSlice(v).Reshape(dims...)
}

// encoder is an attention layer of a text, written with sizes that are numbers of Go.
type encoder struct {
	Q, K, V, Out *nn.Linear
	Norm         *nn.LayerNorm
}

func newEncoder() *encoder {
	return &encoder{nn.NewLinear(16, 16), nn.NewLinear(16, 16), nn.NewLinear(16, 16), nn.NewLinear(16, 16), nn.NewLayerNorm([]int{16})}
}

func (e *encoder) Forward(x *tensor.Tensor) *tensor.Tensor {
	b, n := x.Dim(0), x.Dim(1)
	heads := func(y *tensor.Tensor) *tensor.Tensor { return y.Reshape(b, n, 4, 4).Permute(0, 2, 1, 3) }
	q, k, v := heads(e.Q.Forward(x)), heads(e.K.Forward(x)), heads(e.V.Forward(x))
	p := q.Matmul(k.Transpose(-2, -1)).MulScalar(0.5).Softmax(-1)
	y := p.Matmul(v).Permute(0, 2, 1, 3).Reshape(b, n, 16)
	return e.Norm.Forward(x.Add(e.Out.Forward(y)))
}

// W3: texts of five lengths, as BERT's, are three graphs, of which two are compiled when
// they come again.
func TestRows_W3_lengths(t *testing.T) {
	e := newEncoder()
	run := func(o lazy.Options, lengths ...int) *lazy.Session {
		s := open(t, o)
		for _, n := range lengths {
			x := ramp(2, n, 16)
			require.True(t, array.Equal(e.Forward(x).Array(), e.Forward(s.In(x)).Array()), n)
			s.Wait()
		}
		return s
	}
	s := run(lazy.Options{}, 5, 6, 7, 8, 9, 5, 6, 7, 8, 9, 5, 6, 7, 8, 9)
	st := s.Stats()
	require.Equal(t, []int{3, 1}, []int{st.Graphs, st.Compiles}, "the lengths 5 and 6 go over to the symbol, too")
	y := symbols(s)
	require.Len(t, y, 1)
	require.Equal(t, []int{5, 6, 7}, y[0].Sizes)
	require.Equal(t, 1, y[0].Axis)
	require.Contains(t, y[0].String(), "axis 1 of leaf 0 had the sizes 5, 6, 7 at ")
	require.Contains(t, y[0].Line, ".go:")
	require.Equal(t, 5, run(lazy.Options{Dims: lazy.Fixed}, 5, 6, 7, 8, 9).Stats().Graphs)
	require.Equal(t, 5, run(lazy.Options{Rounding: true}, 5, 6, 7, 8, 9).Stats().Graphs)
	require.Equal(t, []int{5, 1}, func() []int {
		st := run(lazy.Options{}, 5, 6, 7, 1, 8, 1, 9, 0).Stats()
		return []int{st.Graphs, st.Compiles}
	}(), "0 and 1 are no values of a symbol")
}

// PF-1: sizes without end are few graphs.
func TestRows_PF1_manySizes(t *testing.T) {
	s := open(t, lazy.Options{})
	for n := range 300 {
		x := ramp(n+1, 3)
		require.Equal(t, x.MulScalar(2).Softmax(0).Sum().Item(), s.In(x).MulScalar(2).Softmax(0).Sum().Item())
	}
	require.Equal(t, 4, s.Stats().Graphs)
	for b := range 6 { // two sizes at once
		x := ramp(b+2, 2*b+3, 4)
		require.Equal(t, flat(x.Reshape(-1, 4).Exp()), flat(s.In(x).Reshape((b+2)*(2*b+3), 4).Exp()))
	}
	require.Equal(t, 4+5, s.Stats().Graphs, "the fifth has two symbols")
}

// A program that branches on a size is another graph where it takes another branch.
func TestDims_branches(t *testing.T) {
	s := open(t, lazy.Options{})
	f := func(x *tensor.Tensor) *tensor.Tensor {
		n := x.Dim(0)
		if n > 6 {
			return x.Slice(0, n-2, tensor.End).Exp()
		}
		return x.Expand(3, n).Sum(0).DivScalar(float64(n))
	}
	for _, n := range []int{3, 4, 5, 6, 7, 8, 9, 10, 2, 5, 11} {
		require.Equal(t, fmt.Sprint(f(ramp(n))), fmt.Sprint(f(s.In(ramp(n)))), n)
		s.Wait()
	}
	require.Equal(t, 6, s.Stats().Graphs)
}

// Two axes that were equal by chance are not the same symbol for good.
func TestDims_coincidence(t *testing.T) {
	s := open(t, lazy.Options{})
	f := func(x *tensor.Tensor) *tensor.Tensor { return x.Sum(0).Exp() }
	for _, n := range [][2]int{{2, 2}, {3, 3}, {4, 4}, {5, 5}, {5, 6}, {5, 7}, {5, 8}, {5, 9}, {6, 6}} {
		require.Equal(t, fmt.Sprint(f(ramp(n[0], n[1]))), fmt.Sprint(f(s.In(ramp(n[0], n[1])))), n)
		s.Wait()
	}
	require.Equal(t, 6, s.Stats().Graphs, "2, 3, the symbol of both, 5x6, 5x7, and 5xs")
	require.Len(t, symbols(s), 2)
}

// symbols are the sizes that the graphs of a session leave open.
func symbols(s *lazy.Session) (all []lazy.Symbol) {
	for _, g := range s.Explain().Graphs {
		all = append(all, g.Symbols...)
	}
	return all
}
