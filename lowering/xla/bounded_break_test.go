package xla_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/op"
)

// opens are programs that tried to break bounds.
var opens = map[string]string{
	"two symbols of one bound, contracted one after the other": `graph g(%x: f32[N,M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  %t = call_function[permute](%x) {dims=[1,0]} : f32[M,N]
  %a = call_function[matmul](%x, %t) : f32[N,N]
  %b = call_function[matmul](%t, %x) : f32[M,M]
  %c = call_function[matmul](%a, %x) : f32[N,M]
  return (%a, %b, %c)
}
`,
	"sums with themselves": `graph g(%x: f32[N], %z: f32[M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%z, 0)
  %u = call_function[unsqueeze](%x) {dim=1} : f32[N,1]
  %a = call_function[add](%u, %x) : f32[N,N]
  %b = call_function[mul](%u, %z) : f32[N,M]
  %s = call_function[sum](%b) : f32[]
  %m = call_function[amax](%a) {dim=[0]} : f32[N]
  return (%a, %b, %s, %m)
}
`,
	"softmax over both, of what is infinite and not a number behind the sizes": `graph g(%x: f32[N,M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  %l = call_function[log](%x) : f32[N,M]
  %a = call_function[softmax](%l) {dim=0} : f32[N,M]
  %b = call_function[softmax](%x) {dim=1} : f32[N,M]
  %k = call_function[argmax](%x) {dim=[0]} : i64[M]
  %p = call_function[prod](%x) {dim=[1]} : f32[N]
  return (%a, %b, %k, %p)
}
`,
	"heads, taken apart and joined": `graph g(%x: f32[N,M,6]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  %h = call_function[reshape](%x) {shape=[N,M,2,3]} : f32[N,M,2,3]
  %p = call_function[permute](%h) {dims=[0,2,1,3]} : f32[N,2,M,3]
  %t = call_function[permute](%h) {dims=[0,2,3,1]} : f32[N,2,3,M]
  %s = call_function[matmul](%p, %t) : f32[N,2,M,M]
  %a = call_function[softmax](%s) {dim=-1} : f32[N,2,M,M]
  %o = call_function[matmul](%a, %p) : f32[N,2,M,3]
  %q = call_function[permute](%o) {dims=[0,2,1,3]} : f32[N,M,2,3]
  %y = call_function[reshape](%q) {shape=[N,M,6]} : f32[N,M,6]
  return %y
}
`,
	"a number that is an input, too": `graph g(%x: f32[N,M], %k: i32[]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  %c = call_function[cast](%k) {dtype=f32} : f32[]
  %y = call_function[mul](%x, %c) : f32[N,M]
  %f = call_function[select](%y) {dim=0, index=0} : f32[M]
  return (%y, %f, %x)
}
`,
	"sizes that nothing but a symbol has": `graph g(%x: f32[N,M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  %o = call_function[ones]() {size=[M,3,N]} : f32[M,3,N]
  %s = call_function[sum](%o) {dim=[0]} : f32[3,N]
  %e = call_function[expand](%s) {shape=[M,3,N]} : f32[M,3,N]
  %c = call_function[cat](%o, %e) {dim=1} : f32[M,6,N]
  return (%s, %c)
}
`,
	"a part of what is not a bound": `graph g(%x: f32[N,4,M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 2)
  %a = call_function[slice](%x) {dim=1, start=1, stop=3, step=1} : f32[N,2,M]
  %b = call_function[flip](%a) {dims=[1]} : f32[N,2,M]
  %p = call_function[pad](%b) {pad=[0,0,1,2]} : f32[N,5,M]
  %s = call_function[sum](%p) {dim=[0,2]} : f32[5]
  return (%p, %s)
}
`,
}

// TestBoundedSmallPrograms: each of them is left open, and computes for all pairs of sizes what the
// interpreter does.
func TestBoundedSmallPrograms(t *testing.T) {
	for name, text := range opens {
		t.Run(name, func(t *testing.T) {
			m := parsedModule(t, text)
			p, err := xla.EmitBounded(m, lowering.Options{}, map[string]int{"N": 4, "M": 4})
			require.NoError(t, err)
			verifies(t, []string{p.String()})
			run := interp.Interpreter{State: interp.NewState(m)}
			for _, sizes := range []map[string]int{{"N": 1, "M": 1}, {"N": 4, "M": 1}, {"N": 1, "M": 4}, {"N": 2, "M": 3}, {"N": 3, "M": 2}, {"N": 4, "M": 4}} {
				q, err := xla.Emit(m, lowering.Options{Shapes: sizes})
				require.NoError(t, err)
				g := &op.Gen{}
				var in []*array.Array
				for _, a := range q.Inputs {
					if a.DType == array.I32 {
						in = append(in, array.Scalar(int32(3)))
					} else {
						in = append(in, g.Uniform(0.1, 2, a.Dims...))
					}
				}
				want, err := run.RunArrays(ctx, in)
				require.NoError(t, err)
				fxtest.Close(t, name, want, within(t, p, in, sizes))
			}
		})
	}
}

// TestSizesOfOneBoundAreApart: where two symbols have one bound, a reshape that gives a dimension the size of
// the other one moves elements, though it moves none of arrays of the bounds.
func TestSizesOfOneBoundAreApart(t *testing.T) {
	m := parsedModule(t, `graph g(%x: f32[N,1,M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 2)
  %y = call_function[reshape](%x) {shape=[M,N,1]} : f32[M,N,1]
  return %y
}
`)
	for _, m2 := range []int{4, 5} {
		_, err := xla.EmitBounded(m, lowering.Options{}, map[string]int{"N": 4, "M": m2})
		require.ErrorIs(t, err, lowering.Unsupported)
		require.ErrorContains(t, err, "node %y: reshape: target xla cannot leave a size open")
	}
}

// TestComputedSizesAreNotOpen: a size that is computed may be the same in all programs that are compared, and
// another one for 1, or between them.
func TestComputedSizesAreNotOpen(t *testing.T) {
	for size, most := range map[string]int{"(N+6)//8": 8, "(N-2)//7+1": 7, "N//3+2": 3} {
		for _, call := range []string{"arange]() {end=SIZE} : i64[SIZE]", "expand](%x) {shape=[SIZE,N]} : f32[SIZE,N]", "slice](%w) {start=SIZE, stop=SIZE+1, step=1} : f32[1]"} {
			m := parsedModule(t, strings.ReplaceAll("graph g(%x: f32[N], %w: f32[9]) {\n  symbol N = dim(%x, 0)\n  %y = call_function["+call+"\n  return %y\n}\n", "SIZE", size))
			_, err := xla.EmitBounded(m, lowering.Options{}, map[string]int{"N": most})
			require.ErrorIs(t, err, lowering.Unsupported, call)
			require.ErrorContains(t, err, "node %y: ")
			require.ErrorContains(t, err, "cannot leave a size open: one is computed, ")
		}
	}
}
