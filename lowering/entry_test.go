package lowering_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/tensor"
)

const entered = `gofx 1

graph f(%x: f32[N,4], %y: f32[M] = array f32[2] "AADgQAAAAEE=", %z: i32[M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  guard N >= M
  return %x
}
`

// What an entry refuses the interpreter refuses, too, and says the same of it.
func TestEntryRefusesAsTheInterpreter(t *testing.T) {
	m, err := graph.Parse([]byte(entered), "f.fx")
	require.NoError(t, err)
	x, y, z := array.New(array.F32, 3, 4), array.New(array.F32, 2), array.New(array.I32, 2)
	for name, c := range map[string]struct {
		in   []*array.Array
		code diag.Code
	}{
		"all":      {[]*array.Array{x, y, z}, ""},
		"default":  {[]*array.Array{x, nil, z}, ""},
		"too many": {[]*array.Array{x, y, z, z}, interp.ExtraInput},
		"too few":  {[]*array.Array{x, y}, interp.MissingInput},
		"absent":   {[]*array.Array{nil, y, z}, interp.MissingInput},
		"element":  {[]*array.Array{x, y, y}, interp.GuardFailed},
		"rank":     {[]*array.Array{y, y, z}, interp.GuardFailed},
		"size":     {[]*array.Array{array.New(array.F32, 3, 5), y, z}, interp.GuardFailed},
		"guard":    {[]*array.Array{array.New(array.F32, 1, 4), nil, z}, interp.GuardFailed},
		"letter":   {[]*array.Array{x, y, array.New(array.I32, 3)}, interp.GuardFailed},
	} {
		values, err := lowering.NewEntry(m.Graph).Check(lowering.Hosts(c.in))
		if c.code == "" {
			require.NoError(t, err, name)
			require.Len(t, values, 3, name)
			require.Equal(t, "f32[2]", values[1].Type().String(), name)
			continue
		}
		require.ErrorIs(t, err, c.code, name)
		in := make([]*tensor.Tensor, len(c.in))
		for i, a := range c.in {
			if a != nil {
				in[i] = tensor.New(a)
			}
		}
		_, want := (&interp.Interpreter{State: interp.NewState(m)}).Run(ctx, in...)
		require.ErrorIs(t, want, c.code, name)
		require.Equal(t, said(want), said(err), name)
	}
}

func said(err error) string {
	var l diag.List
	l.Add(err)
	return l[0].Msg
}

// Sizes that Prepare has put into the types are not open any more, and are asked of inputs all the same;
// guards over sizes that are found within wait for a run.
func TestEntryOfPreparedGraphs(t *testing.T) {
	m, err := graph.Parse([]byte(entered), "f.fx")
	require.NoError(t, err)
	ready, err := lowering.Prepare(m, lowering.Options{Shapes: map[string]int{"N": 3}})
	require.NoError(t, err)
	e := lowering.NewEntry(ready.Graph)
	require.Len(t, e.Open(), 1)
	values, err := e.Check(lowering.Hosts([]*array.Array{array.New(array.F32, 3, 4), nil, array.New(array.I32, 2)}))
	require.NoError(t, err)
	for name, want := range map[string]int{"N": 3, "M": 2} {
		n, ok := e.Size(name, values)
		require.True(t, ok)
		require.Equal(t, want, n)
	}
	_, ok := e.Size("K", values)
	require.False(t, ok)
	_, err = e.Check(lowering.Hosts([]*array.Array{array.New(array.F32, 4, 4), nil, array.New(array.I32, 2)}))
	require.ErrorIs(t, err, interp.GuardFailed)

	m, err = graph.Parse([]byte(`gofx 1

graph f(%x: f32[N]) {
  symbol N = dim(%x, 0)
  %i = call_function[nonzero](%x) : i64[K,1]
  symbol K = dim(%i, 0)
  guard K >= 1
  guard N >= 2
  return %i
}
`), "f.fx")
	require.NoError(t, err)
	e = lowering.NewEntry(m.Graph)
	_, err = e.Check(lowering.Hosts([]*array.Array{array.New(array.F32, 2)}))
	require.NoError(t, err)
	_, err = e.Check(lowering.Hosts([]*array.Array{array.New(array.F32, 1)}))
	require.ErrorIs(t, err, interp.GuardFailed)
}
