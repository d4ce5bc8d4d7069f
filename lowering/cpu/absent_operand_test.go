package cpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

// A derivative that does not read its first operand may read a parameter as its second one.
func TestCompile_absentFirstOperand(t *testing.T) {
	m, err := graph.Parse([]byte(`gofx 1

graph net(%x: f32[2,2]) {
  %m = get_attr[m] : bool[2,2]
  %y = call_function[masked_fill_grad_x](_, %m, _, %x) {value=0} : f32[2,2]
  return %y
}
`), "net.fx")
	require.NoError(t, err)
	m.SetParam(graph.Param{Path: "m", Value: array.FromSlice([]bool{true, false, false, true}, 2, 2)})
	e, err := cpu.Compile(m, lowering.Options{})
	require.NoError(t, err)
	out, err := e.Run(t.Context(), []*array.Array{array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)})
	require.NoError(t, err)
	require.Equal(t, []float32{0, 2, 3, 0}, array.Data[float32](out[0]))
}
