package shape

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

func mustType(t *testing.T, s string) Type {
	ty, err := ParseType(s)
	require.NoError(t, err, s)
	return ty
}

func TestDimsAccess(t *testing.T) {
	d := Of(Sym("N"), Const(3))
	require.True(t, d.At(-1).Is(3))
	require.True(t, d.At(0).Equal(Sym("N")))
	_, ok := d.Known()
	require.False(t, ok)
	n, ok := ConstDims(2, 3).Known()
	require.True(t, ok)
	require.Equal(t, []int{2, 3}, n)
	require.True(t, d.Equal(Of(Sym("N"), Const(3))))
	for _, o := range []Dims{Of(Sym("N")), Of(Sym("M"), Const(3)), Of(Unknown, Const(3))} {
		require.False(t, d.Equal(o))
		require.False(t, d.Same(o))
		require.False(t, o.Same(d))
	}
	require.False(t, Of(Unknown).Equal(Of(Unknown)))
	require.True(t, Of(Unknown).Same(Of(Unknown)))
}

func TestTypeParts(t *testing.T) {
	ty := mustType(t, "f32[N,3]")
	require.Equal(t, Tensor, ty.Kind())
	require.Equal(t, array.F32, ty.DType())
	require.True(t, ty.Ranked())
	require.Equal(t, 2, ty.Rank())
	require.True(t, ty.Dim(-1).Is(3))
	require.True(t, ty.Dim(2).IsUnknown())
	require.True(t, ty.Dim(-3).IsUnknown())
	require.Equal(t, "i64[N,3]", ty.WithDType(array.I64).String())
	require.Equal(t, "f32[7]", ty.WithDims(ConstDims(7)).String())
	require.Equal(t, "f32[N,3]", ty.String())
	open := mustType(t, "f32[*]")
	require.Equal(t, -1, open.Rank())
	require.True(t, open.Dim(0).IsUnknown())
	require.Zero(t, open.Dims().Len())
	pair := mustType(t, "(f32[N], (i64[2], ?))")
	require.Equal(t, Tuple, pair.Kind())
	require.Equal(t, 2, pair.Len())
	require.Equal(t, "(i64[2], ?)", pair.Member(1).String())
	require.Equal(t, "(f32[4], (i64[2], ?))", pair.Bind(func(string) Dim { return Const(4) }).String())
	require.Equal(t, "(f32[N], (i64[2], ?))", pair.String(), "the type itself stays")
	require.Equal(t, "f32[2,3]", TypeOf(array.New(array.F32, 2, 3)).String())
	require.Equal(t, None, Type{}.Kind())
}

func TestTypeConcreteAndSame(t *testing.T) {
	d, dims, ok := mustType(t, "u8[2,3]").Concrete()
	require.True(t, ok)
	require.Equal(t, array.U8, d)
	require.Equal(t, []int{2, 3}, dims)
	all := []string{"u8[2,3]", "u8[N]", "?[2]", "u8[*]", "(u8[2])", "(u8[3])", "(u8[2], u8[2])", "?", "u8[]", "u8[?]", "i8[2,3]"}
	for i, a := range all {
		if i > 0 && a != "u8[]" && a != "i8[2,3]" {
			_, _, ok := mustType(t, a).Concrete()
			require.False(t, ok, a)
		}
		for j, b := range all {
			require.Equal(t, i == j, mustType(t, a).Same(mustType(t, b)), "%s and %s", a, b)
		}
	}
}
