package graph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/shape"
)

const notedText = `
graph g(%x: f32[N,M], %y: f32[K]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  symbol K = dim(%y, 0)
  note "x.Dim(0) = 3" guard N == 3 at "m.go:7" "main.run"
  note "y is for 2*M" guard K == 2*M
  note "y" guard "odd at \"x\"": f32[2]
  note "arg1 = true"
  guard N == 3
  %neg = call_function[@neg](%x) : f32[N,M]
  return %neg
}
`

// given are sizes, as what guards look at.
type given map[string]int

func (g given) Input(string) (t shape.Type, ok bool) { return t, false }
func (g given) Size(symbol string) (diag.SizeOf, bool) {
	n, ok := g[symbol]
	return diag.SizeOf{Symbol: symbol, Input: "x", Value: n}, ok
}

func TestSpecialisationsCarryTheirGuards(t *testing.T) {
	m := parse(t, notedText)
	printed := Print(m, PrintOptions{Positions: true})
	require.Contains(t, printed, `note "x.Dim(0) = 3" guard N == 3 at "m.go:7" "main.run"`)
	require.Contains(t, printed, `note "y" guard "odd at \"x\"": f32[2]`)
	again, err := Parse([]byte(printed), "t.fx")
	require.NoError(t, err)
	require.Equal(t, m.Graph.Specialisations(), again.Graph.Specialisations())

	notes := m.Graph.Specialisations()
	require.NoError(t, notes[0].Guard.Check(given{"N": 3}))
	require.NoError(t, notes[0].Guard.Check(given{}), "not decided")
	require.ErrorIs(t, notes[0].Guard.Check(given{"N": 4}), guard.Failed)
	require.Nil(t, notes[3].Guard, "no input decides it")
}

func TestGuardsOfSpecialisationsFollowTheSymbols(t *testing.T) {
	guards := func(g *Graph) (list []string) {
		for _, s := range g.Specialisations() {
			if s.Guard == nil {
				list = append(list, s.What)
			} else {
				list = append(list, s.Guard.String())
			}
		}
		return list
	}
	odd := `"odd at \"x\"": f32[2]`
	m := parse(t, notedText)
	require.Equal(t, []string{"N == 3", "K == 2*M", odd, "arg1 = true"}, guards(m.Graph.Clone()))

	neg := m.Graph.Find("neg")
	part, err := Extract([]*Node{m.Graph.Find("x")}, []*Node{neg})
	require.NoError(t, err)
	require.Equal(t, []string{"N == 3", "y is for 2*M", odd, "arg1 = true"}, guards(part.Graph), "the part has no y")
	require.Empty(t, Lint(part.Graph))

	m.Graph.BindSpecialisations(func(name string) shape.Dim {
		if name == "M" {
			return shape.Sym("N").MulInt(2)
		}
		return shape.Sym(name)
	})
	require.Equal(t, []string{"N == 3", "K == 4*N", odd, "arg1 = true"}, guards(m.Graph))
	m.Graph.ResetFacts()
	require.Contains(t, Lint(m.Graph).Error(), `note "x.Dim(0) = 3" needs the symbol N, which is not defined`)
}

func TestNotesWithMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`note "w" guard`:                    "t.fx:3:",
		`note "w" guard N ==`:               "t.fx:3:",
		`note "w" guard Q == 3`:             "Q",
		`guard x: f32[2]`:                   "found the type of an input, expected a relation of sizes",
		`note "w" guard x f: f32[2] at "m"`: "in quotes",
	} {
		_, err := Parse([]byte("gofx 1\ngraph g(%x: f32[N]) {\n  "+text+"\n  return %x\n}\n"), "t.fx")
		if err == nil {
			m, _ := Parse([]byte("gofx 1\ngraph g(%x: f32[N]) {\n  "+text+"\n  return %x\n}\n"), "t.fx")
			err = Lint(m.Graph).Err()
		}
		require.ErrorContains(t, err, want, text)
	}
}
