package cpu

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
)

func TestPeakBytesIsWhatARunTakes(t *testing.T) {
	m, err := graph.Parse([]byte(`gofx 1
graph net(%x: f32[N,3,H,H], %w: f32[8,3,3,3]) {
  symbol N = dim(%x, 0)
  symbol H = dim(%x, 2)
  %c = call_function[conv2d](%x, %w) {padding=[1]} : f32[N,8,H,H]
  %r = call_function[relu](%c) : f32[N,8,H,H]
  %d = call_function[conv2d](%x, %w) {padding=[1]} : f32[N,8,H,H]
  %a = call_function[add](%r, %d) : f32[N,8,H,H]
  %s = call_function[softmax](%a) {dim=1} : f32[N,8,H,H]
  %t = call_function[transpose](%s) {dim0=1, dim1=3} : f32[N,H,H,8]
  %f = call_function[reshape](%t) {shape=[N,8*H*H]} : f32[N,8*H*H]
  %o = call_function[sum](%f) {dim=[1]} : f32[N]
  return %o
}
`), "net.fx")
	require.NoError(t, err)
	e, err := Compile(m, lowering.Options{Threads: 1})
	require.NoError(t, err)
	var g op.Gen
	for _, s := range [][2]int{{1, 4}, {3, 9}, {2, 16}} {
		e.free = nil
		want, err := e.PeakBytes(map[string]int{"N": s[0], "H": s[1]})
		require.NoError(t, err)
		_, err = e.Run(context.Background(), []*array.Array{g.Normal(s[0], 3, s[1], s[1]), g.Normal(8, 3, 3, 3)})
		require.NoError(t, err)
		require.Len(t, e.free, 1)
		x := e.free[0]
		require.Equal(t, want, int64(len(x.arena.Bytes())+x.ws.Reserved()), "%v", s)
	}
	_, err = e.PeakBytes(map[string]int{"N": 1})
	require.ErrorIs(t, err, lowering.BadOption)
	_, err = e.PeakBytes(map[string]int{"N": 1, "H": -1})
	require.Error(t, err)
}
