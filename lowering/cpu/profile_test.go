package cpu_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

const profiled = `gofx 1

graph net(%x: f32[N,256]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[256,256]
  %h = call_function[linear](%x, %w, _)
  %t = call_function[transpose](%h) {dim0=0, dim1=1}
  %y = call_function[softmax](%t) {dim=1}
  return %y
}
param w : f32[256,256]
`

func TestProfileTellsWhatStepsTake(t *testing.T) {
	m, err := graph.Parse([]byte(profiled), "net.fx")
	require.NoError(t, err)
	m.SetParam(graph.Param{Path: "w", Value: array.New(array.F32, 256, 256)})
	e, err := cpu.Compile(m, lowering.Options{Threads: 1, Shapes: map[string]int{"N": 64}})
	require.NoError(t, err)
	defer e.Close()
	in := []*array.Array{array.New(array.F32, 64, 256)}

	var samples bytes.Buffer
	require.NoError(t, pprof.StartCPUProfile(&samples))
	var times []cpu.StepTime
	for start := time.Now(); time.Since(start) < 200*time.Millisecond; {
		times, err = e.Profile(context.Background(), in, 3)
		require.NoError(t, err)
	}
	pprof.StopCPUProfile()

	require.Len(t, times, len(e.Plan().Steps))
	ops := map[string]cpu.StepTime{}
	for i, s := range times {
		require.Same(t, &e.Plan().Steps[i], s.Step)
		ops[s.Step.Op] = s
	}
	require.Equal(t, int64(2*64*256*256), ops["linear"].Flops)
	require.Positive(t, ops["linear"].Time)
	require.GreaterOrEqual(t, ops["linear"].Bytes, int64(4*(64*256*2+256*256)))
	require.Zero(t, ops["transpose"].Bytes)

	z, err := gzip.NewReader(&samples)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	for _, s := range []string{"scope", "op", "linear"} { // whole strings of the profile's table, field 6
		require.Contains(t, string(text), "\x32"+string(rune(len(s)))+s)
	}

	// Runs that nobody profiles have no labels, which allocate.
	out := []*array.Array{array.New(array.F32, 256, 64)}
	require.NoError(t, e.RunInto(context.Background(), out, in))
	require.Zero(t, testing.AllocsPerRun(3, func() { _ = e.RunInto(context.Background(), out, in) }))
	_, err = e.Profile(context.Background(), nil, 1)
	require.Error(t, err)
}
