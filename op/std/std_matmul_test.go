package std

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// matMulReference multiplies by the definition, vectors as rows and columns.
func matMulReference(x, y *wide) *wide {
	xr, yr := len(x.dims) == 1, len(y.dims) == 1
	if xr {
		x = &wide{[]int{1, x.dims[0]}, x.v}
	}
	if yr {
		y = &wide{[]int{y.dims[0], 1}, y.v}
	}
	rank := max(len(x.dims), len(y.dims))
	lift := func(w *wide) *wide {
		dims := make([]int, rank-len(w.dims), rank)
		for i := range dims {
			dims[i] = 1
		}
		return &wide{append(dims, w.dims...), w.v}
	}
	x, y = lift(x), lift(y)
	dims := make([]int, rank)
	for i := range rank - 2 {
		dims[i] = x.dims[i]
		if dims[i] == 1 {
			dims[i] = y.dims[i]
		}
	}
	dims[rank-2], dims[rank-1] = x.dims[rank-2], y.dims[rank-1]
	out := newWide(dims...)
	for i := range out.v {
		a, b := out.index(i), out.index(i)
		for k := range x.dims[rank-1] {
			a[rank-1], b[rank-2] = k, k
			out.v[i] += x.at(a...) * y.at(b...)
		}
	}
	if yr {
		out.dims = out.dims[:rank-1]
	}
	if xr {
		n := len(out.dims)
		if yr {
			out.dims = out.dims[:n-1]
		} else {
			out.dims = append(append([]int(nil), out.dims[:n-2]...), out.dims[n-1])
		}
	}
	return out
}

func TestMatMul(t *testing.T) {
	product := func(_ any, in []*wide) []*wide { return []*wide{matMulReference(in[0], in[1])} }
	checkAgainst(t, Matmul, product)
	checkAgainst(t, Bmm, product)
	checkAgainst(t, Addmm, func(attrs any, in []*wide) []*wide {
		a, out := attrs.(AddmmAttrs), matMulReference(in[1], in[2])
		alpha, beta := 1.0, 1.0
		if a.Alpha.Present() {
			alpha = a.Alpha.Float64()
		}
		if a.Beta.Present() {
			beta = a.Beta.Float64()
		}
		x := in[0]
		if len(x.dims) == 1 {
			x = &wide{[]int{1, x.dims[0]}, x.v}
		}
		for i := range out.v {
			out.v[i] *= alpha
			if beta != 0 {
				out.v[i] += beta * x.at(out.index(i)...)
			}
		}
		return []*wide{out}
	})
	checkAgainst(t, Outer, func(_ any, in []*wide) []*wide {
		out := newWide(in[0].dims[0], in[1].dims[0])
		for i := range out.v {
			x := out.index(i)
			out.v[i] = in[0].v[x[0]] * in[1].v[x[1]]
		}
		return []*wide{out}
	})
}

func TestLinear(t *testing.T) {
	checkAgainst(t, Linear, func(_ any, in []*wide) []*wide {
		x, w, bias := in[0], in[1], in[2]
		dims := append(append([]int(nil), x.dims[:len(x.dims)-1]...), w.dims[0])
		out := newWide(dims...)
		n, k := w.dims[0], w.dims[1]
		for i := range out.v {
			for p := range k {
				out.v[i] += x.v[i/n*k+p] * w.v[i%n*k+p]
			}
			if bias != nil {
				out.v[i] += bias.v[i%n]
			}
		}
		return []*wide{out}
	})
}

func TestContractionMessages(t *testing.T) {
	f32 := func(dims ...shape.Dim) shape.Type { return shape.TensorType(array.F32, shape.Of(dims...)) }
	n, c := shape.Sym("N"), shape.Const
	_, err := Linear.Type(nil, op.None{}, []shape.Type{f32(n, c(32)), f32(c(10), c(64))})
	require.ErrorContains(t, err, "x has 32 features, weight expects 64")
	_, err = Linear.Type(nil, op.None{}, []shape.Type{f32(n, c(32)), f32(c(32), c(64))})
	require.ErrorContains(t, err, "transpose it")
	_, err = Matmul.Type(nil, op.None{}, []shape.Type{f32(n, c(3), c(4)), f32(c(3), c(4))})
	require.ErrorContains(t, err, "x [N,3,4] has 4 columns, y [3,4] has 3 rows")

	y, err := Matmul.Type(nil, op.None{}, []shape.Type{f32(n, c(12), shape.Sym("T"), c(64)), f32(n, c(12), c(64), shape.Sym("T"))})
	require.NoError(t, err)
	require.Equal(t, "f32[N,12,T,T]", y.String())
	require.Equal(t, "1536*N*T*T", Matmul.Flops(op.None{}, []shape.Type{f32(n, c(12), shape.Sym("T"), c(64)), y}, y).String())
}

// A result of known values, so that reference and operator cannot err alike.
func TestAddmmValues(t *testing.T) {
	out, err := Addmm.Eval(&kernel.Workspace{}, AddmmAttrs{Beta: op.Int(2), Alpha: op.Int(10)}, []*array.Array{
		array.FromSlice([]float32{1, 2}), array.FromSlice([]float32{1, 2, 3, 4}, 2, 2), array.FromSlice([]float32{1, 0, 0, 1}, 2, 2)})
	require.NoError(t, err)
	require.Equal(t, []float32{12, 24, 32, 44}, array.Data[float32](out[0]))
}
