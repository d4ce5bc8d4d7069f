package shape

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// feed adds "A = B" lines, each its own fact, and returns the conflicts by line.
func feed(t require.TestingT, s *Solver, eqs ...[2]string) map[string]*Conflict {
	out := map[string]*Conflict{}
	for _, e := range eqs {
		text := e[0] + "=" + e[1]
		if c := s.Equal(mustDim(t, e[0]), mustDim(t, e[1]), Fact{Text: text}); c != nil {
			out[text] = c
		}
	}
	return out
}

func TestSolverDerives(t *testing.T) {
	for _, c := range []struct {
		eqs     [][2]string
		of, is  string
		waiting int
	}{
		{[][2]string{{"2*N+1", "7"}}, "N", "3", 0},
		{[][2]string{{"N", "M"}, {"M", "K"}}, "K+M", "2*N", 0},
		{[][2]string{{"N", "M"}, {"M", "4"}}, "N*M", "16", 0},
		{[][2]string{{"N", "2*M"}}, "M", "M", 0},
		{[][2]string{{"N", "2*M"}}, "N//2", "M", 0},
		{[][2]string{{"N*M", "6"}}, "N", "N", 1},
		{[][2]string{{"N*M", "6"}, {"N", "2"}}, "M", "3", 0},
		{[][2]string{{"(H-1)//2+1", "112"}}, "H", "H", 1},
		{[][2]string{{"(H-1)//2+1", "112"}, {"H", "224"}}, "H", "224", 0},
		{[][2]string{{"A+B", "5"}, {"A-B", "1"}}, "10*A+B", "32", 0},
		{[][2]string{{"2*A+3*B", "12"}}, "A", "A", 1},
		{[][2]string{{"N", "?"}}, "N", "N", 0},
		{[][2]string{{"A*B", "C"}, {"C", "B*A"}}, "C", "A*B", 0},
		{[][2]string{{"A*B", "12"}, {"B*C", "D"}, {"A", "3"}, {"D", "20"}}, "C", "5", 0},
	} {
		var s Solver
		require.Empty(t, feed(t, &s, c.eqs...), "%v", c.eqs)
		require.Equal(t, c.is, s.Resolve(mustDim(t, c.of)).String(), "%v", c.eqs)
		require.Len(t, s.guards, c.waiting, "%v", c.eqs)
	}
}

func TestSolverFindsConflicts(t *testing.T) {
	for _, c := range []struct {
		eqs                 [][2]string
		first, second, a, b string
	}{
		{[][2]string{{"4*N", "10"}}, "4*N=10", "4*N=10", "4*N", "10"},
		{[][2]string{{"N+1", "N"}}, "N+1=N", "N+1=N", "N+1", "N"},
		{[][2]string{{"N+4", "1"}}, "N+4=1", "N+4=1", "N+4", "1"},
		{[][2]string{{"2*N+4*M", "7"}}, "2*N+4*M=7", "2*N+4*M=7", "4*M+2*N", "7"},
		{[][2]string{{"K", "1"}, {"N", "3"}, {"N", "4"}}, "N=3", "N=4", "3", "4"},
		{[][2]string{{"N", "M"}, {"M", "4"}, {"N", "5"}}, "M=4", "N=5", "4", "5"},
		{[][2]string{{"N*M", "6"}, {"K", "N"}, {"K", "4"}}, "N*M=6", "K=4", "4*M", "6"},
		{[][2]string{{"(H-1)//2", "3"}, {"H", "9"}}, "(H-1)//2=3", "H=9", "4", "3"},
	} {
		var s Solver
		got := feed(t, &s, c.eqs...)
		require.Len(t, got, 1, "%v", c.eqs)
		x := got[c.second]
		require.NotNil(t, x, "%v", c.eqs)
		require.Equal(t, c.first, x.First.Text)
		require.Equal(t, c.second, x.Second.Text)
		require.Equal(t, c.a, x.A.String())
		require.Equal(t, c.b, x.B.String())
		require.Empty(t, s.guards)
	}
}

func TestSolverKeepsWhatItKnew(t *testing.T) {
	var s Solver
	c := feed(t, &s, [2]string{"N", "M"}, [2]string{"M", "4"}, [2]string{"N", "5"}, [2]string{"M", "4"})
	require.Len(t, c, 1)
	require.Equal(t, []Fact{{Text: "N=M"}}, c["N=5"].Others)
	require.True(t, s.Resolve(Sym("N")).Is(4))
}

// Equalities that hold for some sizes never conflict, and derived facts hold.
func TestSolverIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env := rapid.SampledFrom(bindings).Draw(t, "env")
		look := func(n string) (int, bool) { return env[n], true }
		var s Solver
		for range rapid.IntRange(1, 5).Draw(t, "n") {
			a, b := drawTree(t, 2).d, drawTree(t, 1).d
			x, err := a.Eval(look)
			y, err2 := b.Eval(look)
			if err != nil || err2 != nil {
				continue
			}
			c := s.Equal(a, b.AddInt(x-y), Fact{})
			require.Nil(t, c, "%v", c)
		}
		for n, v := range env {
			got, err := s.Resolve(Sym(n)).Eval(look)
			if err == nil {
				require.Equal(t, v, got, "%s = %s", n, s.Resolve(Sym(n)))
			}
		}
	})
}

func TestDiffer(t *testing.T) {
	for text, want := range map[string]bool{"N|N+1": true, "N|-1": true, "N+M+2|0": true, "2*N|5": true, "3|4": true, "-N|2": true,
		"N|M": false, "N|0": false, "N|4": false, "N|N": false, "2*N|4": false, "N//2+1|0": false, "N-M+1|0": false, "?|3": false} {
		a, b, _ := strings.Cut(text, "|")
		x, err := ParseDim(a)
		require.NoError(t, err)
		y, err := ParseDim(b)
		require.NoError(t, err)
		require.Equal(t, want, Differ(x, y), text)
		require.Equal(t, want, Differ(y, x), text)
	}
}
