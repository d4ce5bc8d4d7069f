package passes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
)

func cover(t *testing.T, text string, base map[string]int, fixed ...string) (c *passes.Cover, sets []map[string]int) {
	m, err := graph.Parse([]byte("gofx 1\n\n"+text), "cover.fx")
	require.NoError(t, err)
	c = passes.NewCover(m.Graph, base, func(s string) bool { return len(fixed) > 0 && s == fixed[0] })
	for {
		s, ok := c.Next()
		if !ok {
			return c, sets
		}
		sets = append(sets, s)
		c.Add(s)
		require.Less(t, len(sets), 20)
	}
}

func TestCover(t *testing.T) {
	c, sets := cover(t, `graph f(%x: f32[N,S,8]) {
  symbol N = dim(%x, 0)
  symbol S = dim(%x, 1)
  %a = call_function[slice](%x) {dim=1, stop=9223372036854775807, step=64}
  %b = call_function[reshape](%a) {shape=[-1,4]}
  return %b
}
`, map[string]int{"N": 1, "S": 7})
	require.Empty(t, c.Missing())
	require.LessOrEqual(t, len(sets), 3)
	require.Greater(t, sets[0]["S"], 500, "the first is large")
	for _, s := range sets {
		require.LessOrEqual(t, s["N"]*s["S"]*8, passes.Most)
	}

	// A symbol that is fixed keeps its size, and what follows from it alone is not tried.
	c, sets = cover(t, `graph f(%x: f32[N,S]) {
  symbol N = dim(%x, 0)
  symbol S = dim(%x, 1)
  %a = call_function[slice](%x) {dim=1, stop=9223372036854775807, step=64}
  return %a
}
`, map[string]int{"N": 1, "S": 7}, "S")
	require.Len(t, c.Missing(), 2)
	for _, s := range sets {
		require.Equal(t, 7, s["S"])
	}

	// Guards hold, and work is bounded.
	_, sets = cover(t, `graph f(%x: f32[N,M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  guard N % 3 == 0
  guard M >= 5
  guard N <= 60
  %t = call_function[transpose](%x) {dim0=0, dim1=1}
  %a = call_function[matmul](%x, %t)
  return %a
}
`, map[string]int{"N": 3, "M": 7})
	require.NotEmpty(t, sets)
	for _, s := range sets {
		require.Zero(t, s["N"]%3)
		require.LessOrEqual(t, s["N"], 60)
		require.GreaterOrEqual(t, s["M"], 5)
		require.LessOrEqual(t, 2*s["N"]*s["N"]*s["M"], passes.MostWork)
	}

	// Nothing follows from a symbol that no input has.
	c, sets = cover(t, `graph f(%x: f32[4]) {
  %a = call_function[nonzero](%x)
  symbol K = dim(%a, 0)
  %b = call_function[neg](%a)
  return %b
}
`, map[string]int{"K": 7})
	require.Empty(t, sets)
	require.Empty(t, c.Missing())
}
