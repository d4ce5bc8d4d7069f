package graph

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEqualOfUnusedValues holds that the order of unused values that look the same does
// not count, whatever they share with others, and that what they share does.
func TestEqualOfUnusedValues(t *testing.T) {
	of := func(lines ...string) *Graph {
		return parse(t, "graph g(%x: f32[2]) {\n  "+strings.Join(lines, "\n  ")+"\n  return %a\n}").Graph
	}
	const neg, add = " = call_function[@neg]", " = call_function[@add]"
	same := []string{"%a" + neg + "(%x)", "%b" + neg + "(%x)", "%p" + neg + "(%a)", "%q" + neg + "(%b)", "%r" + add + "(%a, %p)", "%s" + add + "(%b, %b)"}
	g := of(same...)
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		lines := slices.Clone(same)
		r.Shuffle(2, func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		tail := lines[2:]
		r.Shuffle(len(tail), func(i, j int) { tail[i], tail[j] = tail[j], tail[i] })
		if slices.Index(tail, same[4]) < slices.Index(tail, same[2]) {
			continue // %r is computed from %p
		}
		h := of(lines...)
		equal, diff := Equal(g, h)
		require.True(t, equal, "%s\n%s", diff, h)
		require.Equal(t, Hash(g), Hash(h))
	}
	for _, other := range [][]string{
		{same[0], same[1], same[2], same[3], same[4], "%s" + add + "(%a, %b)"},
		{same[0], same[1], same[2], same[3], "%r" + add + "(%b, %p)", same[5]},
		{same[0], same[1], same[2], same[3], same[4], "%s" + add + "(%a, %a)"},
	} {
		equal, _ := Equal(g, of(other...))
		require.False(t, equal, other)
	}
}

// TestEqualOfManyUnusedValues holds that equal ones take no search.
func TestEqualOfManyUnusedValues(t *testing.T) {
	var b strings.Builder
	b.WriteString("graph g(%x: f32[2]) {\n  %a = call_function[@neg](%x)\n")
	for i := range 20_000 {
		b.WriteString("  %v" + string(rune('a'+i%26)) + strings.Repeat("z", i/26%7) + itoa(i) + " = call_function[@neg](%a)\n")
	}
	b.WriteString("  return %a\n}")
	g, h := parse(t, b.String()).Graph, parse(t, b.String()).Graph
	equal, diff := Equal(g, h)
	require.True(t, equal, diff)
}
