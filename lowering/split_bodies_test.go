package lowering_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
)

// TestBodies_readReplacedTensors: tensors that are live are read at each run, in bodies of control
// flow, too, at any depth.
func TestBodies_readReplacedTensors(t *testing.T) {
	m, err := graph.Parse([]byte(`gofx 1
graph g(%x: f32[2], %p: bool[]) {
  %c = call_function[cond](%p, %x, %p) : f32[2] {
    region yes(%a: f32[2], %q: bool[]) {
      %v = get_attr[w] live : f32[2]
      %d = call_function[cond](%q, %a) : f32[2] {
        region yes(%b: f32[2]) {
          %w = get_attr[w] live : f32[2]
          %y = call_function[add](%b, %w) : f32[2]
          return %y
        }
        region no(%b: f32[2]) {
          return %b
        }
      }
      %z = call_function[mul](%d, %v) : f32[2]
      return %z
    }
    region no(%a: f32[2], %q: bool[]) {
      return %a
    }
  }
  return %c
}
param w : f32[2]
`), "live.fx")
	require.NoError(t, err)
	m.SetParam(graph.Param{Path: "w", Value: array.FromSlice([]float32{1, 2})})
	e, err := lowering.Split{First: cpu.Target{}, Rest: cpu.Target{}}.Pieces(m, lowering.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	require.Len(t, e.Stats().Parts, 1, "%s", e)
	require.Empty(t, e.Stats().Fallback)
	for _, w := range [][]float32{{1, 2}, {5, 7}, {0, -1}} {
		m.SetParam(graph.Param{Path: "w", Value: array.FromSlice(w)})
		for _, p := range []bool{true, false} {
			in := []*array.Array{array.FromSlice([]float32{3, 4}), array.Scalar(p)}
			got, err := e.Run(ctx, in)
			require.NoError(t, err)
			fxtest.Same(t, "live", interpret(t, m, in), got)
		}
	}
}

// TestSplitRandomControl: random graphs with branches and loops over two targets; weights of every
// other one are live, and replaced between runs.
func TestSplitRandomControl(t *testing.T) {
	random := rapid.Custom(fxtest.RandomControl)
	for seed := range 200 {
		m := random.Example(seed)
		for n := range m.Graph.All() {
			if n.Opcode() == graph.GetAttr && seed%2 == 0 {
				n.SetLive(true)
			}
		}
		e := pieces(t, m, share(uint64(seed), 50+seed%50), lowering.Options{})
		require.NoError(t, graph.Lint(e.Module().Graph).Err())
		var gen op.Gen
		for _, n := range []int{1, 3} {
			in, err := passes.Inputs(m.Graph, map[string]int{"N": n}, uint64(seed))
			require.NoError(t, err)
			got, err := e.Run(ctx, in)
			require.NoError(t, err, "%s", m.Graph)
			require.Empty(t, fxtest.CloseArrays(interpret(t, m, in), got), "%s\n%s", m.Graph, e)
			for _, p := range m.Params() {
				if seed%2 == 0 {
					m.SetParam(graph.Param{Path: p.Path, Value: gen.Uniform(-1, 1, p.Value.Shape()...)})
				}
			}
		}
	}
}
