package graph_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	_ "github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

const lookedUp = `graph g(%i: i64[2]) {
  %w = get_attr[w] : f32[6,4]
  %r = call_function[embedding](%i, %w) : f32[2,4]
  %p = call_function[any](%i) : bool[]
  %c = call_function[cond](%p, %r) : f32[2,4] {
    region yes(%x: f32[2,4]) {
      %v = get_attr[v] : f32[4]
      %s = call_function[add](%x, %v) : f32[2,4]
      return %s
    }
    region no(%x: f32[2,4]) {
      return %x
    }
  }
  return %c
}
param w : f32[6,4]
param v : f32[4]
`

// TestParamsKeepTheirTypes replaces a parameter by one of another type, of which Lint, both
// ways of checking again after an edit, and Save are to know.
func TestParamsKeepTheirTypes(t *testing.T) {
	for name, c := range map[string]struct {
		node string
		by   graph.Param
	}{
		"narrower":             {"w", graph.Param{Path: "w", Value: array.New(array.F32, 6, 2)}},
		"of another rank":      {"w", graph.Param{Path: "w", Value: array.New(array.F32, 24)}},
		"of halves":            {"w", graph.Param{Path: "w", Value: array.New(array.F16, 6, 4)}},
		"declared narrower":    {"w", graph.Param{Path: "w", Type: shape.TensorType(array.F32, shape.ConstDims(6, 2))}},
		"of a region":          {"v", graph.Param{Path: "v", Value: array.New(array.F32, 1)}},
		"without a known rank": {"w", graph.Param{Path: "w", Type: shape.Unranked(array.I64)}},
	} {
		t.Run(name, func(t *testing.T) {
			m := parse(lookedUp)
			m.SetParam(graph.Param{Path: "w", Value: array.New(array.F32, 6, 4)})
			m.SetParam(graph.Param{Path: "v", Value: array.New(array.F32, 4)})
			again := graph.NewLinter(m.Graph)
			defer again.Close()
			require.Empty(t, again.Check())
			require.Empty(t, graph.Lint(m.Graph))
			m.SetParam(c.by)
			l := graph.Lint(m.Graph)
			require.Len(t, l, 1)
			require.Equal(t, graph.TypeDisagrees, l[0].Code)
			require.Equal(t, c.node, l[0].Node)
			require.Contains(t, l[0].Msg, "parameter \""+c.node+"\" is ")
			require.Equal(t, l, again.Check())
			dir := filepath.Join(t.TempDir(), "m")
			require.Error(t, graph.Save(dir, m))
			_, err := os.Stat(dir)
			require.True(t, os.IsNotExist(err))
		})
	}
}

// TestParamsOfOtherTypesAreRead gives a graph a table of another width, in the way that the
// hint names.
func TestParamsOfOtherTypesAreRead(t *testing.T) {
	m := parse("graph g(%i: i64[2]) {\n  %w = get_attr[w] : f32[6,4]\n  %r = call_function[embedding](%i, %w) : f32[2,4]\n  return %r\n}\nparam w : f32[6,4]\n")
	m.SetParam(graph.Param{Path: "w", Value: array.New(array.F32, 6, 2)})
	require.NotEmpty(t, graph.Lint(m.Graph))
	for n := range m.Graph.Nodes() {
		require.NoError(t, n.Retype())
	}
	require.Empty(t, graph.Lint(m.Graph))
	require.Equal(t, "f32[2,2]", m.Graph.Find("r").Type().String())
}
