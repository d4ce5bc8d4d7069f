package cpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

// A weight with gaps that views lie over is read by each run, as other weights are, also in bodies.
func TestWeightsWithGapsAreRead(t *testing.T) {
	for name, text := range map[string]string{
		"a view": `graph g(%x: f32[4]) {
  %w = get_attr[w] : f32[3,4]
  %s = call_function[select](%w) {dim=0, index=1} : f32[4]
  %y = call_function[add](%s, %x) : f32[4]
  return %y
}
param w : f32[3,4]
`,
		"a view in a body": `graph g(%x: f32[4]) {
  %p = call_function[sum](%x) : f32[]
  %o = call_function[zeros]() {size=[]} : f32[]
  %c = call_function[gt](%p, %o) : bool[]
  %y = call_function[cond](%c, %x) : (f32[4]) {
    region then(%z: f32[4]) {
      %v = get_attr[w] : f32[3,4]
      %s = call_function[select](%v) {dim=0, index=1} : f32[4]
      return (%s)
    }
    region else(%z: f32[4]) {
      return (%z)
    }
  }
  %r = call_function[getitem](%y) {index=0} : f32[4]
  return %r
}
param w : f32[3,4]
`} {
		t.Run(name, func(t *testing.T) {
			m, err := graph.Parse([]byte("gofx 1\n\n"+text), "g.fx")
			require.NoError(t, err)
			base := array.FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 4, 3)
			m.SetParam(graph.Param{Path: "w", Value: array.Permute(base, 1, 0)})
			e, err := cpu.Compile(m, lowering.Options{})
			require.NoError(t, err)
			defer e.Close()
			x := array.FromSlice([]float32{1, 1, 1, 1}, 4)
			for i := range 3 {
				array.Data[float32](base)[1] = float32(10 * i)
				got, err := e.Run(ctx, []*array.Array{x})
				require.NoError(t, err)
				require.Empty(t, fxtest.SameArray(interpret(t, m, x)[0], got[0]), "run %d", i)
			}
		})
	}
}
