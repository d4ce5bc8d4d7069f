package simplify

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	_ "github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

// Values that double one after the other are each no more than twice an operand, and fill any
// memory all the same: what is computed ahead is bounded altogether.
func TestSpentIsBounded(t *testing.T) {
	m, err := graph.Parse([]byte(`gofx 1

graph g(%x: f32[1]) {
  %w = get_attr[w] : f32[16]
  %a = call_function[cat](%w, %w) {dim=0} : f32[32]
  %y = call_function[add](%a, %x) : f32[32]
  return %y
}
param w : f32[16]
`), "g.fx")
	require.NoError(t, err)
	a := m.Graph.Find("a")
	f := &constFolder{c: passes.NewCtx(context.Background(), m)}
	require.Empty(t, f.excessive(a))
	require.Equal(t, 128, f.spent)
	f.spent = maxSpent - 128
	require.Empty(t, f.excessive(a))
	require.Contains(t, f.excessive(a), "with what was computed before")
	require.Equal(t, maxSpent, f.spent, "what is refused takes nothing")
}
