package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	_ "github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

func parsed(t *testing.T, body string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte("gofx 1\n"+body), "in.fx")
	require.NoError(t, err)
	require.Empty(t, graph.Lint(m.Graph))
	return m
}

func guardTexts(g *graph.Graph) (out []string) {
	for _, d := range g.Guards() {
		out = append(out, d.String())
	}
	return out
}

func TestGuardsAreMerged(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"the stronger bound stays", `graph g(%x: f32[N,S]) {
  %a = call_function[select](%x) {dim=1, index=2}
  %b = call_function[select](%x) {dim=1, index=5}
  %c = call_function[select](%x) {dim=1, index=1}
  return %a, %b, %c
}`, []string{"S >= 6"}},
		{"true for all sizes", `graph g(%x: f32[N,2*S]) {
  symbol S = dim(%x, 1)
  %a = call_function[glu](%x) {dim=1}
  return %a
}`, nil},
		{"a multiple implies smaller ones", `graph g(%x: f32[N,C,L]) {
  %a = call_function[group_norm](%x) {num_groups=4, eps=1e-05}
  %b = call_function[group_norm](%a) {num_groups=2, eps=1e-05}
  %c = call_function[group_norm](%b) {num_groups=8, eps=1e-05}
  return %c
}`, []string{"C % 8 == 0"}},
		{"through a chain of windows", `graph g(%x: f32[N,3,H,W]) {
  %a = call_function[max_pool2d](%x) {kernel_size=[3,1], stride=[2,1]}
  %b = call_function[max_pool2d](%a) {kernel_size=[3,1], stride=[2,1]}
  return %b
}`, []string{"W >= 1", "H >= 7"}},
		{"an equality decides a bound", `graph g(%x: f32[N], %y: f32[8]) {
  %a = call_function[add](%x, %y)
  %b = call_function[select](%x) {dim=0, index=5}
  return %a, %b
}`, []string{"N == 8"}},
		{"written ones too", `graph g(%x: f32[N,M]) {
  guard N >= 3
  guard N >= 2 from %x
  guard N <= 10
  guard M % 4 == 0
  guard M % 2 == 0
  return %x
}`, []string{"N >= 3", "N <= 10", "M % 4 == 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parsed(t, c.body)
			require.ElementsMatch(t, c.want, guardTexts(m.Graph))
			back, err := graph.Parse([]byte(m.String()), "back.fx")
			require.NoError(t, err, m.String())
			same, diff := graph.EqualModules(m, back)
			require.True(t, same, diff)
			require.Equal(t, graph.Hash(m.Graph), graph.Hash(back.Graph))
			require.ElementsMatch(t, c.want, guardTexts(graph.Clone(m).Graph))
		})
	}
}

func TestGuardsThatContradict(t *testing.T) {
	for body, want := range map[string]string{
		`graph g(%x: f32[N], %y: f32[4]) {
  guard N >= 6
  guard N == 4
  return %x
}`: "N >= 6 is needed, which is 0 >= 2",
		`graph g(%x: f32[N]) {
  guard N == 7
  guard N % 2 == 0
  return %x
}`: "N % 2 == 0 is needed, which is 1 % 2 == 0",
		`graph g(%x: f32[N]) {
  guard N == 7
  guard 2*N == 12
  return %x
}`: "must be",
		`graph g(%x: f32[N]) {
  guard N >= 6
  guard N <= 4
  return %x
}`: "N <= 4 is needed, which N >= 6 rules out",
	} {
		_, err := graph.Parse([]byte("gofx 1\n"+body), "in.fx")
		require.ErrorIs(t, err, graph.Contradiction, body)
		require.ErrorContains(t, err, want)
	}
}

func TestGuardsDiffer(t *testing.T) {
	text := func(guard string) *graph.Module {
		return parsed(t, "graph g(%x: f32[N,M]) {\n  "+guard+"\n  return %x\n}")
	}
	all := []string{"guard N >= 3", "guard N >= 4", "guard N <= 3", "guard N % 3 == 0", "guard N == 3", "guard N >= M", "guard M >= N"}
	for i, a := range all {
		for k, b := range all {
			same, _ := graph.EqualModules(text(a), text(b))
			require.Equal(t, i == k, same, a+" and "+b)
		}
	}
}

// Branches of different sizes give a value of a size that is not known.
func TestCondJoinsTypes(t *testing.T) {
	for _, c := range []struct{ then, els, want string }{
		{"%a", "%b", "f32[?]"},
		{"%b", "%a", "f32[?]"},
		{"%a", "%a", "f32[D]"},
		{"%b", "%b", "f32[2]"},
		{"%a, %b", "%b, %b", "(f32[?], f32[2])"},
	} {
		m := parsed(t, `graph g(%p: bool[], %x: f32[D], %y: f32[2]) {
  %r = call_function[cond](%p, %x, %y) {
    region(%a: f32[D], %b: f32[2]) {
      return `+c.then+`
    }
    region(%a: f32[D], %b: f32[2]) {
      return `+c.els+`
    }
  }
  return %p
}`)
		var got shape.Type
		for n := range m.Graph.Nodes() {
			if len(n.Regions()) > 0 {
				got = n.Type()
			}
		}
		require.Equal(t, c.want, got.String())
	}
}
