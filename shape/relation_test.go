package shape

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRelationNormal(t *testing.T) {
	d := func(s string) Dim { return mustDim(t, s) }
	for _, c := range []struct {
		r     Relation
		text  string
		truth Truth
	}{
		{AtLeast(d("N"), d("5")), "N >= 5", Open},
		{AtLeast(d("5"), d("N")), "N <= 5", Open},
		{AtLeast(d("2*N"), d("5")), "N >= 3", Open},
		{AtLeast(d("H+2"), d("3")), "H >= 1", Open},
		{AtLeast(d("(H-3)//2+1"), d("1")), "H >= 3", Open},
		{AtLeast(d("(H-1)//2+1"), d("5")), "H >= 9", Open},
		{AtLeast(d("4"), d("N//3")), "N <= 14", Open},
		{AtLeast(d("N"), d("M+1")), "N >= M+1", Open},
		{AtLeast(d("10"), d("N+M")), "M+N <= 10", Open},
		{AtLeast(d("N"), d("0")), "N >= 0", True},
		{AtLeast(d("3"), d("5")), "0 >= 2", False},
		{AtLeast(d("N+5"), d("3")), "N >= -2", True},
		{AtLeast(d("N"), d("2*(N//2)")), "N >= 2*(N//2)", True},
		{AtLeast(d("2*(N//2)"), d("N//2")), "N >= 0", True},
		{AtLeast(d("0-1-N"), d("0")), "N <= -1", False},
		{AtLeast(d("N*M"), d("N")), "M*N >= N", Open},
		{Multiple(d("C"), d("4")), "C % 4 == 0", Open},
		{Multiple(d("4*C"), d("4")), "0 % 4 == 0", True},
		{Multiple(d("6*C"), d("4")), "C % 2 == 0", Open},
		{Multiple(d("2*C+1"), d("4")), "(2*C+1) % 4 == 0", False},
		{Multiple(d("5*C+4"), d("4")), "C % 4 == 0", Open},
		{Multiple(d("N*C"), d("2*N")), "C % 2 == 0", Open},
		{Multiple(d("6"), d("N")), "6 % N == 0", Open},
		{Multiple(d("7"), d("2")), "1 % 2 == 0", False},
		{Multiple(d("N"), d("0")), "N % 0 == 0", False},
		{Inequality(d("N"), d("1")), "N != 1", Open},
		{Inequality(d("N"), d("N+1")), "N != N+1", True},
		{Inequality(d("N+2"), d("1")), "N+2 != 1", True},
		{Inequality(d("N"), d("N")), "N != N", False},
		{Inequality(d("N//2"), d("M")).Normal(), "N//2 != M", Open},
		{Equality(d("N"), d("N+1")), "N == N+1", False},
		{Equality(d("N"), d("N")), "N == N", True},
		{Equality(d("5//(N+1)"), d("0")).Normal(), "N >= 5", Open},
		{Equality(d("0"), d("3*(N//4)")).Normal(), "N <= 3", Open},
		{Equality(d("M//N"), d("0")).Normal(), "N >= M+1", Open},
		{Equality(d("2//(N+3)"), d("0")).Normal(), "N >= 0", True},
		{Equality(d("7//(M-N)"), d("0")).Normal(), "M >= N+8", Open},
		{Equality(d("(N-4)//2"), d("0")).Normal(), "N//2-2 == 0", Open}, // negative for N < 4
		{Equality(d("N//4"), d("1")).Normal(), "N//4 == 1", Open},
		{Equality(d("M*(N//4)"), d("0")).Normal(), "M*(N//4) == 0", Open},
	} {
		require.Equal(t, c.text, c.r.String())
		require.Equal(t, c.truth, c.r.Truth(), c.text)
	}
}

func TestRelationImplies(t *testing.T) {
	rel := func(s string) Relation {
		r, err := ParseRelation(s)
		require.NoError(t, err)
		return r.Normal()
	}
	for _, c := range []struct {
		r, o string
		want bool
	}{
		{"N >= 5", "N >= 3", true},
		{"N >= 3", "N >= 5", false},
		{"N <= 3", "N <= 5", true},
		{"N >= 2", "N != 1", true},
		{"N <= 4", "5 != N", true},
		{"N >= 2", "N != 2", false},
		{"N != 1", "N != 1", true},
		{"C % 8 == 0", "C % 4 == 0", true},
		{"C % 4 == 0", "C % 8 == 0", false},
		{"N >= M+2", "N >= M", true},
		{"N >= M", "N+K >= M", true},
		{"N == M", "M == N", false}, // the solver's business
	} {
		require.Equal(t, c.want, rel(c.r).Implies(rel(c.o)), c.r+" => "+c.o)
	}
}

// A normal form states the same as the relation, for every size that both can be computed
// for.
func TestVanishingQuotientsSayTheSame(t *testing.T) {
	for _, text := range []string{"5//(N+1) == 0", "N//4 == 0", "M//N == 0", "(M+2)//(N-3) == 0", "(2*M)//(3*N+1) == 0", "7//(M-N) == 0", "(M//2)//(N+1) == 0"} {
		r, err := ParseRelation(text)
		require.NoError(t, err)
		n := r.Normal()
		require.Equal(t, GE, n.Rel, text)
		for i := range 20 * 20 {
			env := func(s string) (int, bool) { return map[string]int{"N": i % 20, "M": i / 20}[s], true }
			_, _, want, err := r.Eval(env)
			if err != nil {
				_, _, want, err = n.Eval(env)
				require.NoError(t, err)
				require.False(t, want, "%s of no value is not refused by %s at %d, %d", text, n, i%20, i/20)
				continue
			}
			_, _, got, err := n.Eval(env)
			require.NoError(t, err)
			require.Equal(t, want, got, "%s and %s at N = %d, M = %d", text, n, i%20, i/20)
		}
	}
}

func TestParseRelation(t *testing.T) {
	for _, text := range []string{"N == 2*M", "N >= 5", "N <= 10", "N != 1", "N//2+1 != M", "N % 2 == 0", "(N+1) % (M+1) == 0", "6 % N == 0"} {
		r, err := ParseRelation(text)
		require.NoError(t, err)
		require.Equal(t, text, r.String())
	}
	for text, want := range map[string]string{
		"N":           "column 2: found the end of the text, expected '==', '!=', '>=', '<=' or '%'",
		"N > 2":       "expected '='",
		"N % 2 == 1":  "a remainder is compared, expected 0",
		"N % 2":       "expected '='",
		"N >= 2 more": "expected nothing more",
		"N = 2":       "expected '='",
		"N ! 2":       "expected '='",
	} {
		_, err := ParseRelation(text)
		require.ErrorContains(t, err, want, text)
	}
}

// A relation, its normal form and its known truth agree for all sizes.
func TestRelationMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		atom := rapid.SampledFrom([]string{"N", "M", "1", "2", "3", "N//2", "(N-1)//3", "(M+1)//4", "7"})
		dim := func(name string) Dim {
			d := Dim{}
			for i := range rapid.IntRange(1, 3).Draw(t, name) {
				x := mustDim(t, atom.Draw(t, name)).MulInt(rapid.IntRange(-4, 4).Draw(t, name))
				if i == 2 {
					x = x.Mul(mustDim(t, atom.Draw(t, name)))
				}
				d = d.Add(x)
			}
			return d
		}
		r := Relation{rapid.SampledFrom([]Rel{GE, MOD}).Draw(t, "rel"), dim("a"), dim("b")}
		if r.Rel == MOD {
			r.B = Const(rapid.IntRange(1, 12).Draw(t, "k"))
		}
		o := AtLeast(dim("c"), dim("d"))
		n := r.Normal()
		require.Equal(t, n, n.Normal())
		back, err := ParseRelation(n.String())
		require.NoError(t, err)
		require.Equal(t, n.String(), back.String())
		truth, implied := r.Truth(), n.Implies(o)
		for N := range 12 {
			for M := range 9 {
				env := func(s string) (int, bool) { return map[string]int{"N": N, "M": M}[s], true }
				_, _, want, err := r.Eval(env)
				require.NoError(t, err)
				_, _, got, err := n.Eval(env)
				require.NoError(t, err)
				require.Equal(t, want, got, r.String()+" became "+n.String())
				require.False(t, truth == True && !want || truth == False && want, r.String())
				_, _, also, err := o.Eval(env)
				require.NoError(t, err)
				require.False(t, implied && want && !also, n.String()+" does not imply "+o.String())
			}
		}
	})
}
