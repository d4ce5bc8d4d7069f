package schedule

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/passes"
)

// Calls of sub-graphs keep their order where one reads what another writes.
func TestCalls_keepTheirOrder(t *testing.T) {
	g := passtest.Parse(t, `
graph g(%x: f32[2]) {
  %before = call_function[call](%x) {graph="look"} : f32[2]
  %set = call_function[call](%x) {graph="step"} : f32[2]
  %free = call_function[call](%x) {graph="plain"} : f32[2]
  %behind = call_function[call](%x) {graph="look"} : f32[2]
  return (%before, %set, %free, %behind)
}
subgraph step(%x: f32[2]) {
  %w = get_attr[w] : f32[2]
  %set = call_function[assign](%w, %x) : f32[2]
  return %set
}
subgraph look(%x: f32[2]) {
  %w = get_attr[w] : f32[2]
  %y = call_function[add](%w, %x) : f32[2]
  return %y
}
subgraph plain(%x: f32[2]) {
  %y = call_function[neg](%x) : f32[2]
  return %y
}
param w : f32[2] buffer
`).Graph
	e := depend(g)
	require.Contains(t, e.after[g.Find("set")], g.Find("before"))
	require.Contains(t, e.after[g.Find("behind")], g.Find("set"))
	require.Empty(t, e.after[g.Find("free")])
}

// Bodies run where their node does: a node of a body that is placed elsewhere is
// refused, not ignored.
func TestBodies_runWhereTheirNodeDoes(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%x: f32[3,2], %y: f32[2]) {
  %s = call_function[scan](%y, %x) {carry=1, seqs=1} : (f32[2]) {
    region body(%sum: f32[2], %row: f32[2]) {
      %n = call_function[add](%sum, %row) : f32[2]
      return (%n)
    }
  }
  %s0 = call_function[getitem](%s) {index=0} : f32[2]
  %w = call_function[wait](%s0) : f32[2]
  return %w
}
`)
	scan := m.Graph.Find("s")
	On.Set(scan.Regions()[0].Find("n"), "gpu0")
	overlap := func() error {
		_, err := Overlap(Machine{}).Run(passes.NewCtx(context.Background(), m), m.Graph)
		return err
	}
	require.ErrorIs(t, Check(m.Graph), PlacedInBody)
	require.ErrorIs(t, overlap(), PlacedInBody)
	require.ErrorContains(t, overlap(), "%n is to run on gpu0 within a body of %s, which runs on host")
	On.Set(scan, "gpu0")
	require.NoError(t, Check(m.Graph))
	require.NoError(t, overlap())
}
