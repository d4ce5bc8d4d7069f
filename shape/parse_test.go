package shape

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

func TestParseTypeRoundTrip(t *testing.T) {
	for _, s := range []string{
		"f32[N,3,224,224]", "f32[*]", "?[N]", "?[*]", "?", "(f32[2], i64[2])", "()", "(?, (bool[], bf16[*]), ?[?,2])",
		"f32[]", "u8[(H-1)//2+1,2*N+1]",
	} {
		ty, err := ParseType(s)
		require.NoError(t, err, s)
		require.Equal(t, s, ty.String())
		again, n, err := ScanType(s + ") = op")
		require.NoError(t, err)
		require.Equal(t, len(s), n)
		require.True(t, again.Same(ty))
	}
	ty, err := ParseType(" f32[ N , 3 ] ")
	require.NoError(t, err)
	require.True(t, ty.Same(TensorType(array.F32, Of(Sym("N"), Const(3)))))
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ in, msg string }{
		{"", "column 1: found the end"}, {"f32", "expected '['"}, {"f31[2]", `element type is "f31"`}, {"f32[2", "column 6: found the end"},
		{"f32[2]]", `column 7: found "]", expected nothing more`}, {"f32[2,]", "column 7"}, {"f32[,]", "column 5"}, {"f32[N/2]", "expected '//'"},
		{"f32[N//0]", "divides by zero"}, {"f32[9223372036854775808]", "out of range"}, {"f32[9223372036854775807*N*2]", "too large"},
		{"(f32[2]", "end of the text"}, {"(f32[2] i64[2])", `expected ')'`}, {"f32[?+1]", "column 6"}, {"[2]", "element type"}, {"f32[*", "expected ']'"},
		{"f32[\x00]", "column 5"}, {"f32[é]", "column 5"}, {strings.Repeat("(", 100), "nests deeper"},
		{"f32[" + strings.Repeat("(", 100) + "]", "nests deeper"}, {strings.Repeat("x", maxText+1), "bytes"},
		{"f32[" + strings.Repeat("N", 300) + "]", "symbol has 300 bytes"}, {"f32[" + strings.Repeat("(a+b+c)*", 40) + "1]", "too large"},
		{"f32[2]\x00", `found "\x00"`},
	} {
		_, err := ParseType(c.in)
		require.ErrorIs(t, err, CodeText, c.in)
		require.ErrorContains(t, err, c.msg, c.in)
	}
	_, err := ParseDim("1 2")
	require.ErrorContains(t, err, "column 3")
	_, err = ParseDim("??")
	require.ErrorContains(t, err, "column 2")
	_, err = ParseDims("[1,2")
	require.ErrorIs(t, err, CodeText)
	_, err = ParseDims("1")
	require.ErrorContains(t, err, "expected '['")
	d, err := ParseDims("[]")
	require.NoError(t, err)
	require.Zero(t, d.Len())
	d, err = ParseDims("[N,3,?]")
	require.NoError(t, err)
	require.Equal(t, "[N,3,?]", d.String())
	_, _, err = ScanType("*")
	require.ErrorIs(t, err, CodeText)
	_, err = ParseDim(strings.Repeat("1", maxText+1))
	require.ErrorIs(t, err, CodeText)
}

func FuzzParseType(f *testing.F) {
	for _, s := range []string{"f32[N,3]", "(f32[*], ?[(H-1)//2+1])", "?", "i64[2*N*N-1//M, -(N//2)]", "f32[((((1))))]", "bool[N//(M+1)//(3)]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ty, err := ParseType(s)
		if err != nil {
			require.ErrorIs(t, err, CodeText)
			return
		}
		again, err := ParseType(ty.String())
		if err != nil && len(ty.String()) > maxText {
			return // the canonical form can be longer than the limit on input
		}
		require.NoError(t, err, ty.String())
		require.True(t, again.Same(ty), "%s reads back as %s", ty, again)
		require.Equal(t, ty.String(), again.String())
	})
}

func TestDimsHelpers(t *testing.T) {
	s := Of(Sym("N"), Const(12), Const(64))
	require.Equal(t, "768*N", s.Prod().String())
	require.True(t, Dims{}.Prod().Is(1))
	require.Equal(t, "[N,12,64,2]", s.Append(Const(2)).String())
	require.Equal(t, "[N,12,64,N,12,64]", s.Concat(s).String())
	require.Equal(t, "[N,12,1]", s.With(-1, Const(1)).String())
	require.Equal(t, "[N,12,64]", s.String())
	require.Equal(t, "[12]", s.Sub(1, 2).String())
	require.Equal(t, "[N,12,64,5]", s.Sub(0, 3).Append(Const(5)).String())
	require.True(t, Of(Unknown, Const(0)).Prod().IsUnknown())
	require.True(t, s.Bind(func(string) Dim { return Const(2) }).Equal(ConstDims(2, 12, 64)))
}
