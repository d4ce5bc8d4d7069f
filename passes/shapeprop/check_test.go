package shapeprop_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/shapeprop"
)

func TestCheckGoldens(t *testing.T) { passtest.Golden(t, "testdata/shape-check", shapeprop.Check) }

func TestCheck_listsUntypedNodes(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%x: f32[N,M], %y: f32[K]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  symbol K = dim(%y, 0)
  %a = call_function[mul](%x, %y) : ?
  %b = call_function[reshape](%a) {shape=[-1,6]} : ?
  return %b
}
`)
	before := m.String()
	r, err := passes.Run(context.Background(), m, []passes.Pass{shapeprop.Check}, passes.Options{})
	require.NoError(t, err)
	require.False(t, r.Changed())
	require.Equal(t, before, m.String(), "it changes nothing")
	notes := strings.Join(r.Passes[0].Notes, "\n")
	require.Contains(t, notes, "4 of 4 values have types that are known except for symbols")
	require.Contains(t, notes, "checked at entry: M == K, which %a needs")
	require.Contains(t, notes, "which %b needs")
}

// TestCheckIsGradual gives inputs of one graph types that say more and less: what is
// known must not contradict, what is not known agrees with anything.
func TestCheckIsGradual(t *testing.T) {
	for _, c := range []struct{ x, w, why string }{
		{"?", "?", ""},
		{"f32[*]", "f32[4,3]", ""},
		{"f32[?,4]", "f32[4,3]", ""},
		{"f32[2,?]", "f32[?,3]", ""},
		{"?[2,4]", "f32[4,?]", ""},
		{"f32[?,5]", "f32[4,?]", "x [?,5] has 5 columns, y [4,?] has 4 rows"},
		{"f32[?,4]", "f64[?,?]", "f64"},
		{"f32[?,?,?,5]", "f32[4,3]", "has 5 columns"},
		{"f32[]", "?[*]", "has 0 dimensions"},
	} {
		m := passtest.Parse(t, `
graph g(%x: ?, %w: ?) {
  %a = call_function[matmul](%x, %w) : ? at "net.go:5"
  %b = call_function[relu](%a) : ? at "net.go:6"
  return %b
}
`)
		for name, ty := range types(t, "x", c.x, "w", c.w) {
			m.Graph.Find(name).SetType(ty)
		}
		_, err := passes.Run(context.Background(), m, []passes.Pass{shapeprop.Check}, passes.Options{NoLint: true})
		if c.why == "" {
			require.NoError(t, err, "%s %s", c.x, c.w)
			continue
		}
		require.ErrorContains(t, err, "net.go:5: matmul: ", "%s %s", c.x, c.w)
		require.ErrorContains(t, err, c.why)
		require.NotContains(t, err.Error(), "net.go:6", "one mistake, one message")
	}
}
