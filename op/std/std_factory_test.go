package std

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

func TestFilledFactories(t *testing.T) {
	require.Equal(t, []float32{1.5, 1.5}, array.Data[float32](eval(t, Full, FullAttrs{Size: shape.ConstDims(2, 1), Value: op.Float(1.5)})))
	require.Equal(t, []int64{7}, array.Data[int64](eval(t, Full, FullAttrs{Value: op.Int(7)})))
	require.Equal(t, []bool{true}, array.Data[bool](eval(t, Full, FullAttrs{Size: shape.ConstDims(1), Value: op.BoolScalar(true)})))
	require.Equal(t, []int32{-2, -2}, array.Data[int32](eval(t, Full, FullAttrs{shape.ConstDims(2), op.Float(-2.75), array.I32})))
	for want, o := range []*op.Op{Zeros, Ones} {
		for _, s := range o.Samples() {
			out, a := eval(t, o, s.Attrs), s.Attrs.(SizeAttrs)
			size, _ := a.Size.Known()
			require.Equal(t, len(size), out.Rank())
			require.Equal(t, orElse(a.DType, array.F32), out.DType())
			for i := range out.Len() {
				require.Equal(t, float64(want), array.Float64At(out, i))
			}
		}
	}
	x := array.New(array.F16, 2, 3)
	require.Equal(t, array.F16, eval(t, OnesLike, LikeAttrs{}, x).DType())
	require.Equal(t, []int8{-1, -1, -1, -1, -1, -1}, array.Data[int8](eval(t, FullLike, FullLikeAttrs{op.Int(-1), array.I8}, x)))
	require.Equal(t, make([]float64, 6), array.Data[float64](eval(t, ZerosLike, LikeAttrs{array.F64}, x)))
}

func TestArange(t *testing.T) {
	for _, s := range Arange.Samples() {
		a := s.Attrs.(ArangeAttrs)
		end, _ := a.End.Int()
		out, i := eval(t, Arange, a), 0
		for v := a.Start; (a.Step >= 0 && v < end) || (a.Step < 0 && v > end); v += a.step() {
			want := array.Float64At(array.Cast(array.Scalar(int64(v)), out.DType()), 0)
			require.Equal(t, want, array.Float64At(out, i), "%v", a)
			i++
		}
		require.Equal(t, i, out.Len(), "%v", a)
	}
	n, err := Arange.Type(nil, ArangeAttrs{End: shape.Sym("N"), Start: 1, Step: 2}, nil)
	require.NoError(t, err)
	require.Equal(t, "i64[N//2]", n.String())
}

func TestLinspace(t *testing.T) {
	require.Equal(t, []float32{0, 0.25, 0.5, 0.75, 1}, array.Data[float32](eval(t, Linspace, LinspaceAttrs{0, 1, 5, 0})))
	require.Equal(t, []int64{0, 1, 3, 5, 6, 8, 10}, array.Data[int64](eval(t, Linspace, LinspaceAttrs{0, 10, 7, array.I64})))
	for _, s := range Linspace.Samples() {
		a, out := s.Attrs.(LinspaceAttrs), eval(t, Linspace, s.Attrs)
		require.Equal(t, a.Steps, out.Len())
		for i := range out.Len() {
			want := a.Start
			if a.Steps > 1 {
				want += (a.End - a.Start) * float64(i) / float64(a.Steps-1)
			}
			if out.DType().IsFloat() {
				requireNear(t, want, out, i, "linspace")
			}
		}
		if a.Steps > 1 {
			end := a.End
			if !out.DType().IsFloat() {
				end = math.Trunc(end)
			}
			require.Equal(t, end, array.Float64At(out, a.Steps-1), "the end is exact")
		}
	}
}

func TestEyeAndTriangles(t *testing.T) {
	for _, s := range Eye.Samples() {
		out := eval(t, Eye, s.Attrs)
		for i := range out.Len() {
			require.Equal(t, float64(b2i(i/out.Dim(1) == i%out.Dim(1))), array.Float64At(out, i))
		}
	}
	require.Equal(t, []int{2, 4}, eval(t, Eye, EyeAttrs{N: shape.Const(2), M: shape.Const(4)}).Shape())
	for _, o := range []*op.Op{Tril, Triu} {
		for _, s := range o.Samples() {
			out, x, d := eval(t, o, s.Attrs, s.In...), array.Contiguous(s.In[0]), s.Attrs.(TriAttrs).Diagonal
			for i := range out.Len() {
				col, row, want := i%x.Dim(-1), i/x.Dim(-1)%x.Dim(-2), 0.0
				if (o == Tril && col-row <= d) || (o == Triu && col-row >= d) {
					want = array.Float64At(x, i)
				}
				requireNear(t, want, out, i, o.Name+" "+s.Name)
			}
		}
	}
}

func TestSymbolicSizes(t *testing.T) {
	n := shape.Of(shape.Sym("N"), shape.Const(3))
	for _, c := range []struct {
		o    *op.Op
		a    any
		want string
	}{
		{Zeros, SizeAttrs{Size: n}, "f32[N,3]"},
		{Full, FullAttrs{Size: n, Value: op.Int(2)}, "i64[N,3]"},
		{Eye, EyeAttrs{N: shape.Sym("N")}, "f32[N,N]"},
		{Rand, SizeAttrs{Size: n, DType: array.F16}, "f16[N,3]"},
		{Randint, RandintAttrs{High: 5, Size: n}, "i64[N,3]"},
		{RandomSplit, RandomSplitAttrs{shape.Sym("N")}, "i64[N]"},
	} {
		got, err := c.o.Type(nil, c.a, []shape.Type{shape.TensorType(array.I64, shape.ConstDims())}[:len(c.o.In)])
		require.NoError(t, err, c.o.Name)
		require.Equal(t, c.want, got.String())
	}
}
