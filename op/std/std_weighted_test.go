package std

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// wide is an array in float64, row-major: what the references compute with.
type wide struct {
	dims []int
	v    []float64
}

func newWide(dims ...int) *wide {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return &wide{dims, make([]float64, n)}
}

func widen(a *array.Array) *wide {
	if a == nil {
		return nil
	}
	w := newWide(a.Shape()...)
	for i := range w.v {
		w.v[i] = array.Float64At(a, i)
	}
	return w
}

func widenAll(in []*array.Array, n int) []*wide {
	out := make([]*wide, max(n, len(in)))
	for i, a := range in {
		out[i] = widen(a)
	}
	return out
}

// index returns the multi-index of element i.
func (w *wide) index(i int) []int {
	x := make([]int, len(w.dims))
	for d := len(x) - 1; d >= 0; d-- {
		x[d] = i % w.dims[d]
		i /= w.dims[d]
	}
	return x
}

// flat is the inverse of index; dimensions of size 1 broadcast.
func (w *wide) flat(x ...int) int {
	i := 0
	for d, v := range x {
		if w.dims[d] == 1 {
			v = 0
		}
		i = i*w.dims[d] + v
	}
	return i
}

func (w *wide) at(x ...int) float64 { return w.v[w.flat(x...)] }

// reference computes the results of a call in float64 from its definition.
type reference func(attrs any, in []*wide) []*wide

// checkAgainst holds an operator to its samples, its bad samples, what its type
// rule says with less knowledge, and a reference.
func checkAgainst(t *testing.T, o *op.Op, ref reference) {
	t.Helper()
	checkCalls(t, o, ref, checkLess, requireWide)
}

// checkCalls is checkAgainst with another test of what the type rule says with less
// knowledge, and of a result.
func checkCalls(t *testing.T, o *op.Op, ref reference, less func(*testing.T, *op.Op, op.Sample, shape.Type), same func(*testing.T, *wide, *array.Array, string)) {
	t.Helper()
	require.GreaterOrEqual(t, len(o.Samples()), 8, o.Name)
	for _, s := range o.Samples() {
		t.Run(o.Name+"/"+s.Name, func(t *testing.T) {
			out, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
			require.NoError(t, err)
			want, err := o.Type(nil, s.Attrs, typesOf(s.In))
			require.NoError(t, err)
			require.Equal(t, want.String(), typeOfAll(o, out).String())
			less(t, o, s, want)
			refs := ref(s.Attrs, widenAll(s.In, len(o.In)))
			require.Len(t, out, len(refs))
			for i, w := range refs {
				same(t, w, out[i], fmt.Sprintf("result %d", i))
			}
		})
	}
	checkBad(t, o)
}

func typeOfAll(o *op.Op, out []*array.Array) shape.Type {
	if o.Results == nil {
		return shape.TypeOf(out[0])
	}
	return shape.TupleType(typesOf(out)...)
}

// checkLess requires that a symbol in place of any dimension, or nothing at all
// known of an operand, leads to no error and to a type that is true.
func checkLess(t *testing.T, o *op.Op, s op.Sample, want shape.Type) {
	types := typesOf(s.In)
	with := func(i int, x shape.Type) shape.Type {
		in := append([]shape.Type(nil), types...)
		in[i] = x
		got, err := o.Type(&op.Infer{}, s.Attrs, in)
		require.NoError(t, err, "operand %d is %s", i, x)
		return got
	}
	for i, x := range types {
		for d := range max(x.Rank(), 0) {
			n, _ := x.Dim(d).Int()
			got := with(i, x.WithDims(x.Dims().With(d, shape.Sym("N"))))
			requireWeaker(t, want, got.Bind(func(string) shape.Dim { return shape.Const(n) }))
			requireWeaker(t, want, with(i, x.WithDims(x.Dims().With(d, shape.Unknown))))
		}
		if x.Kind() == shape.Tensor {
			with(i, shape.Type{}) // it may be absent, which is another call
			requireWeaker(t, want, with(i, shape.Unranked(x.DType())))
			requireWeaker(t, want, with(i, shape.Unranked(array.Invalid)))
		}
	}
}

// requireWeaker requires that got says nothing that want does not.
func requireWeaker(t *testing.T, want, got shape.Type) {
	t.Helper()
	if got.Kind() == shape.Tuple {
		require.Equal(t, want.Len(), got.Len())
		for i := range got.Len() {
			requireWeaker(t, want.Member(i), got.Member(i))
		}
		return
	}
	if got.DType() != array.Invalid {
		require.Equal(t, want.DType(), got.DType())
	}
	if !got.Ranked() {
		return
	}
	require.Equal(t, want.Rank(), got.Rank(), "%s, expected %s", got, want)
	for i := range got.Rank() {
		if !got.Dim(i).IsUnknown() {
			require.Equal(t, want.Dim(i).String(), got.Dim(i).String(), "%s, expected %s", got, want)
		}
	}
}

// requireWide compares a result with its reference within its type's precision.
func requireWide(t *testing.T, want *wide, got *array.Array, msg string) {
	t.Helper()
	require.Equal(t, fmt.Sprint(want.dims), fmt.Sprint(got.Shape()), msg)
	tol := map[array.DType]float64{array.F64: 1e-12, array.F32: 1e-5, array.F16: 2e-3, array.BF16: 1.6e-2}[got.DType()]
	for i, w := range want.v {
		g := array.Float64At(got, i)
		if w == g || (math.IsNaN(w) && math.IsNaN(g)) {
			continue
		}
		require.LessOrEqual(t, math.Abs(g-w), tol*math.Max(1, math.Abs(w)), "%s, element %d is %v, expected %v", msg, i, g, w)
	}
}
