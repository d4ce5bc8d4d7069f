package schedule

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/passtest"
)

// Calls of sub-graphs keep their order where one reads what another writes.
func TestCallsKeepTheirOrder(t *testing.T) {
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
