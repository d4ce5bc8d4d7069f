package xla_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/passes"
)

const guardedBody = `gofx 1

graph g(%x: i64[N]) {
  symbol N = dim(%x, 0)
  %s = call_function[scan](%x, %x) {carry=1, seqs=1} : (i64[N], i64[N,N-4]) {
    region body(%c: i64[N], %r: i64[]) {
      %y = call_function[slice](%c) {start=2, stop=-2, inside=true} : i64[N-4]
      guard N >= 4 from %y
      return (%c, %y)
    }
  }
  %a = call_function[getitem](%s) {index=0} : i64[N]
  %b = call_function[getitem](%s) {index=1} : i64[N,N-4]
  return %a, %b
}
`

// TestGuardsOfBodies pins sizes that the guards of bodies refuse: an error that names the call, and no panic.
func TestGuardsOfBodies(t *testing.T) {
	loops := map[string]string{
		"scan": guardedBody,
		"while": `gofx 1

graph g(%i: i64[], %x: i64[N]) {
  symbol N = dim(%x, 0)
  %s = call_function[while](%i, %x) {carry=2} : (i64[], i64[N]) {
    region test(%k: i64[], %c: i64[N]) {
      %p = call_function[lt](%k, %k)
      return %p
    }
    region body(%k: i64[], %c: i64[N]) {
      %y = call_function[slice](%c) {start=2, stop=-2, inside=true} : i64[N-4]
      guard N >= 4 from %y
      %z = call_function[sum](%y)
      %d = call_function[add](%c, %z) : i64[N]
      return (%k, %d)
    }
  }
  %a = call_function[getitem](%s) {index=0}
  %b = call_function[getitem](%s) {index=1} : i64[N]
  return %a, %b
}
`,
		"cond": `gofx 1

graph g(%p: bool[], %x: i64[N]) {
  symbol N = dim(%x, 0)
  %s = call_function[cond](%p, %x) : (i64[], i64[N]) {
    region yes(%c: i64[N]) {
      %y = call_function[slice](%c) {start=2, stop=-2, inside=true} : i64[N-4]
      guard N >= 4 from %y
      %z = call_function[sum](%y)
      return (%z, %c)
    }
    region no(%c: i64[N]) {
      %z = call_function[sum](%c)
      return (%z, %c)
    }
  }
  %a = call_function[getitem](%s) {index=0}
  %b = call_function[getitem](%s) {index=1} : i64[N]
  return %a, %b
}
`}
	for name, text := range loops {
		t.Run(name, func(t *testing.T) {
			m, err := graph.Parse([]byte(text), "g.fx")
			require.NoError(t, err)
			for n := range 7 {
				p, err := xla.Emit(m, lowering.Options{Shapes: map[string]int{"N": n}})
				if n == 0 && name == "scan" {
					continue // no round, whose body does not run
				}
				if n < 4 {
					require.ErrorIs(t, err, lowering.BadOption)
					if name == "scan" { // all graphs of such a scan rely on it
						require.ErrorContains(t, err, "relies on N >= 4")
						continue
					}
					require.ErrorContains(t, err, "node %s")
					continue
				}
				require.NoError(t, err)
				in, err := passes.Inputs(m.Graph, map[string]int{"N": n}, 3)
				require.NoError(t, err)
				want, err := fx.NewGraphModule(m).RunArrays(ctx, in)
				require.NoError(t, err)
				require.Empty(t, fxtest.SameArrays(want, evaluate(t, p, in)))
			}
			_, err = xla.EmitBounded(m, lowering.Options{}, map[string]int{"N": 6})
			require.Error(t, err)
		})
	}
}
