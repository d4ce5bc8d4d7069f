package passes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	_ "github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

func TestParams(t *testing.T) {
	m, err := graph.Parse([]byte(`gofx 1
graph g(%x: f32[2,3]) {
  %fc = call_module[fc](%x) : f32[2,4]
  %w = get_attr[fc.weight] : f32[4,3]
  %l = get_attr[live] live : f32[4]
  %y = call_function[linear](%x, %w, %l) : f32[2,4]
  %z = call_function[add](%fc, %y) : f32[2,4]
  return %z
}
param fc.weight : f32[4,3]
param live : f32[4]
module fc = linear (weight=fc.weight, bias=_)
`), "t.fx")
	require.NoError(t, err)
	p := passes.NewParams(m, m.Graph)
	fc, y := m.Graph.Find("fc"), m.Graph.Find("y")
	require.Equal(t, "fc.weight", p.Path(fc, 1))
	require.Equal(t, "fc.weight", p.Path(y, 1))
	require.Empty(t, p.Path(fc, 2), "an absent bias")
	require.Empty(t, p.Path(y, 0), "an input")
	require.Equal(t, y, p.Reader("fc.weight", fc))
	require.Equal(t, fc, p.Reader("fc.weight", y))
	require.Nil(t, p.Reader("live", y))
	_, _, why := p.Constant(y, 0)
	require.Contains(t, why, "is computed")
	_, _, why = p.Constant(y, 2)
	require.Contains(t, why, "is live")
	_, _, why = p.Constant(fc, 1)
	require.Contains(t, why, "has no value")
	path, value, why := p.Constant(fc, 2)
	require.Empty(t, path+why)
	require.Nil(t, value)
}
