package guard_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/shape"
)

func parsed(t *testing.T, text string) guard.Guard {
	t.Helper()
	g, err := guard.Parse(text)
	require.NoError(t, err, text)
	return g
}

func TestGuardsReadWhatTheyPrint(t *testing.T) {
	for _, text := range []string{"N == 8", "N != 1", "N >= 4", "N <= 4", "N%4 == 0", "N//2 == M+1", "x: f32[N,3]", "x: ?[*]", `"odd name": f32[N]`, `"a:b": i64[]`, "in.0.mask: bool[N]", `"": f32[2]`, `"größe": f32[2]`} {
		g := parsed(t, text)
		again := parsed(t, g.String())
		require.Equal(t, g.String(), again.String())
		require.Equal(t, g.Key(), again.Key())
	}
	for _, text := range []string{"", "x", "N =", ": f32[", "x: f32[N", "N == 8 == 9", `"x: f32[2]`} {
		_, err := guard.Parse(text)
		require.ErrorIs(t, err, shape.CodeText, "%q", text)
	}
}

func TestKeysOfGuards(t *testing.T) {
	require.Equal(t, parsed(t, "N == M").Key(), parsed(t, "M == N").Key())
	require.NotEqual(t, parsed(t, "N >= M").Key(), parsed(t, "M >= N").Key())
	require.NotEqual(t, parsed(t, "N != M").Key(), parsed(t, "N == M").Key())
}

// world is what guards look at by name.
type world struct {
	types map[string]string
	sizes map[string]int
}

func (w world) Input(name string) (shape.Type, bool) {
	text, ok := w.types[name]
	t, _ := shape.ParseType(text)
	return t, ok
}

func (w world) Size(symbol string) (diag.SizeOf, bool) {
	n, ok := w.sizes[symbol]
	return diag.SizeOf{Symbol: symbol, Input: "x", Value: n}, ok
}

func TestGuardsCheckThemselves(t *testing.T) {
	w := world{types: map[string]string{"x": "f32[2,3]", "y": "?[*]"}, sizes: map[string]int{"N": 2}}
	for text, want := range map[string]string{
		"N == 2": "", "N >= 3": `input "x" is f32[2,3]: the graph needs N (axis 0, here 2) at least 3`,
		"M == 2": "", "N == M": "", // open
		"x: f32[2,3]": "", "x: f32[N,M]": "", "x: ?[2,3]": "", "x: f32[*]": "", "y: f32[9]": "", "z: f32[1]": "",
		"x: f32[2,4]": `input "x" is f32[2,3], expected f32[2,4]`,
		"x: i64[2,3]": `input "x" is f32[2,3], expected i64[2,3]`,
		"x: f32[N]":   `input "x" is f32[2,3], expected f32[N]`,
	} {
		err := parsed(t, text).Check(w)
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.ErrorIs(t, err, guard.Failed, text)
		require.ErrorContains(t, err, want+" [", text)
	}
	eight := func(string) shape.Dim { return shape.Const(8) }
	require.Equal(t, "8 == 2", parsed(t, "N == 2").Bind(eight).String())
	require.Equal(t, "x: f32[8,3]", parsed(t, "x: f32[N,3]").Bind(eight).String())
}

func TestEntriesReadWhatTheyPrint(t *testing.T) {
	for _, text := range []string{"x: f32[N,3]", "x: f32[N]; y: f32[N]; N = dim(y, 0)", "x: f32[*]; N = dim(x, 0); N >= 2",
		`"a;b": f32[N]; y: f32[M]; N >= M from "odd op"; M != 1`, `x: f32[N]; N >= 2 from add`, ""} {
		e, err := guard.ParseEntry(text)
		require.NoError(t, err, text)
		require.Equal(t, text, e.String())
	}
	for _, text := range []string{"x: f32[N]; M = dim(y, 0)", "x: f32[N]; M = dim(x)", "x: f32[N]; N >>= 2", "x: f32[N]; N = dim(x, -1)"} {
		_, err := guard.ParseEntry(text)
		require.ErrorIs(t, err, shape.CodeText, text)
	}
}

// TestStagesOfAnEntry: each stage reports all that it finds, and ends the check if it found anything.
func TestStagesOfAnEntry(t *testing.T) {
	e, err := guard.ParseEntry("x: f32[N,N]; y: f32[M,3]; N >= 2; M != 5")
	require.NoError(t, err)
	f := func(dims ...int) *array.Array { return array.New(array.F32, dims...) }
	for _, c := range []struct {
		in   []*array.Array
		want []string
	}{
		{[]*array.Array{f(2, 2), f(4, 3)}, nil},
		{[]*array.Array{nil, f(5, 4)}, []string{`input "x" is missing`, `input "y" is f32[5,4], expected f32[M,3]`}},
		{[]*array.Array{f(1, 3), f(5, 3)}, []string{`input "x" is f32[1,3]: the graph needs N (axis 0, here 1) at least 2`, `input "y" is f32[5,3]: the graph needs M (axis 0, here 5) other than 5`}},
		{[]*array.Array{f(2, 3), f(4, 3)}, []string{`input "x" is f32[2,3], dimension 1 is expected to be N, which is 2 here`}},
	} {
		var list diag.List
		list.Add(e.Check(e.On(func(i int) guard.Argument { return guard.Array(c.in[i]) })))
		var got []string
		for _, e := range list {
			got = append(got, e.Msg)
		}
		require.Equal(t, c.want, got)
	}
	require.NoError(t, e.Count(2))
	require.ErrorIs(t, e.Count(3), guard.Extra)
	require.ErrorContains(t, (&guard.Entry{}).Count(1), "1 inputs, the graph takes none")
}

// TestCheckingCostsNoMemory: a run whose inputs fit is checked without garbage.
func TestCheckingCostsNoMemory(t *testing.T) {
	e, err := guard.ParseEntry("x: f32[N,N]; y: f32[2*N]; N >= 2; N % 2 == 0 from glu")
	require.NoError(t, err)
	in := []*array.Array{array.New(array.F32, 4, 4), array.New(array.F32, 8)}
	given := e.On(func(i int) guard.Argument { return guard.Array(in[i]) })
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if e.Check(given) != nil {
			t.Fatal("refused")
		}
	}))
}

func relations(t *testing.T, text string) (list guard.Relations) {
	t.Helper()
	for _, s := range strings.Split(text, "; ") {
		list = append(list, parsed(t, s).(guard.Size).Relation)
	}
	return list
}

func TestBounds(t *testing.T) {
	l := relations(t, "N % 4 == 0; N % 6 == 0; N >= 5; N <= 40; M >= 2; N == M")
	require.Equal(t, guard.Bounds{Step: 12, Least: 5, Most: 40}, l.Of("N"))
	require.Equal(t, []string{"M", "N"}, l.Symbols())
	require.Len(t, l.Equalities(), 1)
	for n, want := range map[int]int{0: 12, 1: 12, 2: 24, 9: 36} {
		require.Equal(t, want, l.Of("N").Near(n), n)
	}
	require.True(t, l.Broken(map[string]int{"N": 3}))
	require.False(t, l.Broken(map[string]int{"N": 12}), "M is not known")
}

func TestSolve(t *testing.T) {
	var s shape.Solver
	require.Nil(t, relations(t, "N == M; M == 4; N >= 2").Solve(&s))
	n, _ := s.Resolve(shape.Sym("N")).Int()
	require.Equal(t, 4, n)

	l := relations(t, "N >= 2; N == 3; N == 4")
	c := l.Solve(new(shape.Solver))
	require.Equal(t, []int{2, 1}, []int{c.At, c.Earlier})
	first, second := c.Words(l)
	require.Equal(t, "N = 3, N = 4", first+", "+second)

	l = relations(t, "N >= 5; N == 3")
	c = l.Solve(new(shape.Solver))
	require.Equal(t, []int{0, -1}, []int{c.At, c.Earlier})
	require.Nil(t, c.Conflict)
	first, second = c.Words(l)
	require.Equal(t, "N >= 5, 0 >= 2", first+", "+second)
}

// Admit makes sizes such as relations want.
func TestAdmit(t *testing.T) {
	sizes := map[string]int{"M": 1000, "N": 3}
	require.True(t, relations(t, "M//2 == 4").Admit(sizes))
	require.Equal(t, map[string]int{"M": 9, "N": 3}, sizes)
}
