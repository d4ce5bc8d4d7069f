package shape

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMinHasOneForm(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"min(3,5)", "3"}, {"max(3,-5)", "3"}, {"min(N,100)", "min(N,100)"}, {"min(100,N)", "min(N,100)"},
		{"min(N,N+1)", "N"}, {"max(N,N+1)", "N+1"}, {"min(N,0)", "0"}, {"max(N,0)", "N"}, {"min(N,-3)", "-3"},
		{"min(2*N,6)", "2*min(N,3)"}, {"min(N+1,101)", "min(N,100)+1"}, {"min(N+M,M+3)", "M+min(N,3)"},
		{"max(N-5,0)", "N-min(N,5)"}, {"N-max(N-5,0)", "min(N,5)"}, {"min(-N,3)", "-N"}, {"min(M,N)-min(N,M)", "0"},
		{"min(min(N,5),3)", "min(N,3)"}, {"min(min(N,3),5)", "min(N,3)"}, {"min(min(N,5)-min(N,1),3)", "-min(N,1)+min(N,min(N,1)+3)"},
		{"max(M,N)+min(M,N)", "M+N"}, {"min(N//4,N)", "N//4"}, {"min(N//4,M)", "min(M,N//4)"}, {"2*min(N,3)//2", "min(N,3)"},
		{"-min(N,2)*M", "-M*min(N,2)"}, {"min(?", ""}, {"min(N)", ""}, {"min(N,3", ""}, {"min(9223372036854775807*N,9223372036854775807*M)", "9223372036854775807*min(M,N)"},
	} {
		d, err := ParseDim(c.in)
		if c.want == "" {
			require.ErrorIs(t, err, CodeText, c.in)
			continue
		}
		require.NoError(t, err, c.in)
		require.Equal(t, c.want, d.String(), c.in)
		require.True(t, mustDim(t, c.want).Same(d), c.in)
	}
	require.Equal(t, "min", Sym("min").String(), "a size may be called min")
	require.True(t, Unknown.Min(Sym("N")).IsUnknown())
	require.True(t, Sym("N").Max(Unknown).IsUnknown())
}

func TestMinIsProved(t *testing.T) {
	for text, want := range map[string]Truth{
		"N >= min(N,3)": True, "3 >= min(N,3)": True, "min(N,3) >= 0": True, "min(N,3) >= 1": Open, "4 >= min(N,3)": True,
		"min(N,3) >= 4": False, "min(N+4,5) >= 4": True, "min(N,3) == 4": False, "min(N,M)+2 >= min(M,N)": True,
		"N-min(N,3) >= 0": True, "M*N >= M*min(N,3)": True, "2*min(N//2,3) <= N": True,
	} {
		r, err := ParseRelation(text)
		require.NoError(t, err)
		require.Equal(t, want, r.Truth(), text)
	}
}

// Facts that are proved for all sizes hold for some.
func TestProofsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTree(t, 3), drawTree(t, 3)
		truth := AtLeast(a.d, b.d).Truth()
		for i := range bindings {
			if !a.ok || !b.ok || truth == Open {
				return
			}
			require.Equal(t, truth == True, a.val[i] >= b.val[i], "%s >= %s with %v", a.d, b.d, bindings[i])
		}
	})
}

// A hostile expression is done with soon.
func TestMinIsBounded(t *testing.T) {
	d := Const(0)
	for i := range 60 {
		s := Sym("N" + string(rune('A'+i%26)) + string(rune('a'+i/26)))
		d = d.Add(s.Min(Const(i)).Mul(s.FloorDivInt(3).Min(s.Mul(s))))
	}
	for range 20 {
		d = d.Min(Const(1000)).Add(Sym("M"))
	}
	_ = AtLeast(d, Const(7)).Truth()
}
