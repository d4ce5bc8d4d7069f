package cpu_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	_ "github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

// viewCases are chains of views whose layout sizes decide.
var viewCases = map[string]string{
	"every other column": `graph g(%x: f32[N,S]) {
  %a = call_function[slice](%x) {dim=1, start=0, stop=9223372036854775807, step=2} : f32[N,(S-1)//2+1]
  %b = call_function[reshape](%a) {shape=[-1]}
  return %b
}`,
	"every third column": `graph g(%x: f32[N,S]) {
  %a = call_function[slice](%x) {dim=1, start=0, stop=9223372036854775807, step=3}
  %b = call_function[reshape](%a) {shape=[-1]}
  %c = call_function[add](%b, %b)
  return %c
}`,
	"every hundredth column": `graph g(%x: f32[N,S]) {
  %a = call_function[slice](%x) {dim=1, start=0, stop=9223372036854775807, step=100}
  %b = call_function[reshape](%a) {shape=[-1]}
  return %b
}`,
	"a square or not": `graph g(%x: f32[N,S]) {
  %a = call_function[transpose](%x) {dim0=0, dim1=1}
  %b = call_function[reshape](%a) {shape=[-1]}
  %c = call_function[relu](%b)
  return %c
}`,
	"heads": `graph g(%x: f32[N,S,12]) {
  %a = call_function[slice](%x) {dim=2, start=4, stop=8}
  %b = call_function[unflatten](%a) {dim=2, sizes=[2,2]}
  %c = call_function[transpose](%b) {dim0=1, dim1=2}
  %d = call_function[neg](%c)
  return %d
}`,
	"views of a copy": `graph g(%x: f32[N,S]) {
  %r = call_function[relu](%x)
  %a = call_function[slice](%r) {dim=1, start=0, stop=9223372036854775807, step=2}
  %b = call_function[reshape](%a) {shape=[-1]}
  %c = call_function[slice](%b) {dim=0, start=0, stop=9223372036854775807, step=2}
  %d = call_function[add](%c, %c)
  return %d
}`,
	"without the last": `graph g(%x: f32[N,S]) {
  %a = call_function[slice](%x) {dim=1, start=0, stop=-1}
  %b = call_function[reshape](%a) {shape=[-1]}
  return %b
}`,
}

// Sizes that nothing has are refused when the graph is compiled.
func TestImpossibleGuards(t *testing.T) {
	m, err := graph.Parse([]byte(`gofx 1
graph g(%x: f32[N], %y: f32[4]) {
  %a = call_function[add](%x, %y)
  %b = call_function[select](%x) {dim=0, index=5}
  return %a, %b
}`), "in.fx")
	require.NoError(t, err)
	_, err = cpu.Compile(m, lowering.Options{})
	require.ErrorIs(t, err, lowering.BadOption)
	require.ErrorContains(t, err, "N >= 6")
}

func TestViewsForAllSizes(t *testing.T) {
	ctx := context.Background()
	for name, text := range viewCases {
		t.Run(name, func(t *testing.T) {
			m, err := graph.Parse([]byte("gofx 1\n"+text), "in.fx")
			require.NoError(t, err)
			e, err := cpu.Compile(m, lowering.Options{})
			require.NoError(t, err)
			defer func() { require.NoError(t, e.Close()) }()
			for _, n := range []int{2, 0, 1, 3, 5, 7, 200, 4} {
				for _, s := range []int{6, 7, 0, 1, 2, 3, 5, 8, 200, 201, 4} {
					dims := []int{n, s, 12}[:m.Graph.Inputs()[0].Type().Rank()]
					x := array.New(array.F32, dims...)
					for i, v := 0, array.Data[float32](x); i < len(v); i++ {
						v[i] = float32(i%97) - 40
					}
					want, err := (&interp.Interpreter{State: interp.NewState(m)}).Run(ctx, tensor.New(x))
					got, errPlan := e.Run(ctx, []*array.Array{x})
					if err != nil {
						require.Error(t, errPlan, "%v", dims)
						continue
					}
					require.NoError(t, errPlan, "%v", dims)
					require.True(t, array.Equal(want[0].Array(), got[0]), "%v", dims)
				}
			}
		})
	}
}

// Sizes whose product is too long for an expression are refused when the graph is compiled,
// and not by each run.
func TestSizesTooLongForAnExpression(t *testing.T) {
	m, err := graph.Parse([]byte(`gofx 1
graph g(%a: f32[A], %b: f32[B], %x: f32[((B-1)//100)*A+(B-1)//100+A+1,(A*B)//16+1,(A+B)//4+1,(A+B)//7+1,A//3+B//5+1,A//7+2*B+1]) {
  symbol A = dim(%a, 0)
  symbol B = dim(%b, 0)
  %p = call_function[relu](%x)
  %q = call_function[softmax](%p) {dim=0}
  %r = call_function[softmax](%q) {dim=1}
  return %r
}`), "in.fx")
	require.NoError(t, err)
	_, err = cpu.Compile(m, lowering.Options{})
	require.ErrorIs(t, err, lowering.UnknownSize)
	require.ErrorContains(t, err, "together are too long for an expression")
	exe, err := cpu.Compile(m, lowering.Options{Shapes: map[string]int{"A": 2, "B": 3}})
	require.NoError(t, err)
	require.NotNil(t, exe)
}
