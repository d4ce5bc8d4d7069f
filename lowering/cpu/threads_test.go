package cpu_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

func sharedNet(t *testing.T, threads int) (*cpu.Executable, []*array.Array) {
	t.Helper()
	m, err := graph.Parse([]byte(profiled), "net.fx")
	require.NoError(t, err)
	m.SetParam(graph.Param{Path: "w", Value: array.New(array.F32, 256, 256)})
	e, err := cpu.Compile(m, lowering.Options{Threads: threads})
	require.NoError(t, err)
	t.Cleanup(func() { e.Close() })
	return e, []*array.Array{array.New(array.F32, 300, 256)}
}

// The parts of a step's time are all of it, and a plan of one thread shares nothing.
func TestProfileTellsWhereThreadsAre(t *testing.T) {
	for _, threads := range []int{1, 2} {
		e, in := sharedNet(t, threads)
		times, err := e.Profile(context.Background(), in, 3)
		require.NoError(t, err)
		barriers := 0
		for _, s := range times {
			h := s.Sharing
			require.Equal(t, time.Duration(threads)*s.Time, h.Busy+h.Uneven+h.Handing+time.Duration(threads)*h.Serial, s.Step.Op)
			for _, part := range []time.Duration{h.Busy, h.Uneven, h.Handing, h.Serial} {
				require.GreaterOrEqual(t, part, time.Duration(0))
			}
			barriers += h.Barriers
		}
		require.Equal(t, threads > 1, barriers > 0)
		// What watched is gone with the profile.
		out, err := e.Run(context.Background(), in)
		require.NoError(t, err)
		require.Zero(t, testing.AllocsPerRun(3, func() { _ = e.RunInto(context.Background(), out, in) }))
	}
}

// A cutting has the parts that so many threads would share, whatever this machine has, and they
// are the whole of the work.
func TestCuttingForOtherMachines(t *testing.T) {
	e, in := sharedNet(t, 2)
	tiles := 0
	for _, threads := range []int{1, 2, 16, 64} {
		c, err := e.Cutting(context.Background(), in, threads, 2)
		require.NoError(t, err)
		require.Equal(t, threads, c.Threads)
		require.Len(t, c.Steps, len(e.Plan().Steps))
		s := c.Predict(cpu.Handover(), 0)
		require.Equal(t, threads > 1, s.Barriers > 0)
		require.GreaterOrEqual(t, s.Tiles, tiles, "no fewer for more threads")
		require.Positive(t, s.Alone)
		require.Positive(t, c.Steps[0].Bytes)
		tiles = s.Tiles
		for _, p := range c.Steps {
			require.GreaterOrEqual(t, p.Serial, time.Duration(0))
			for _, r := range p.Regions {
				require.Equal(t, threads, r.Threads)
				require.Len(t, r.Took, r.Chunks)
				require.LessOrEqual(t, r.Chunks, r.Indices)
			}
		}
		again, err := e.Cutting(context.Background(), in, threads, 1)
		require.NoError(t, err)
		require.Equal(t, s.Tiles, again.Predict(cpu.Handover(), 0).Tiles, "it follows from the plan")
	}
	for _, bad := range []int{0, -1, lowering.MaxThreads + 1} {
		_, err := e.Cutting(context.Background(), in, bad, 1)
		require.ErrorIs(t, err, lowering.BadOption)
	}
	_, err := e.Cutting(context.Background(), nil, 2, 1)
	require.Error(t, err)
}

// Kernels in the body of a loop are watched, too.
func TestBodiesAreWatched(t *testing.T) {
	m := module(t, `graph net(%x: f32[4,256,256]) {
  %zero = call_function[zeros]() {size=[256,256]} : f32[256,256]
  %n = call_function[scan](%zero, %x) {carry=1, seqs=1} : (f32[256,256]) {
    region body(%acc: f32[256,256], %row: f32[256,256]) {
      %p = call_function[matmul](%row, %row) : f32[256,256]
      return (%p)
    }
  }
  %y = call_function[getitem](%n) {index=0} : f32[256,256]
  return %y
}
`)
	e, err := cpu.Compile(m, lowering.Options{Threads: 2})
	require.NoError(t, err)
	defer e.Close()
	in := []*array.Array{array.New(array.F32, 4, 256, 256)}
	times, err := e.Profile(context.Background(), in, 1)
	require.NoError(t, err)
	barriers := 0
	for _, s := range times {
		if s.Step.Op == "scan" {
			barriers = s.Sharing.Barriers
		}
	}
	require.GreaterOrEqual(t, barriers, 4)
	c, err := e.Cutting(context.Background(), in, 16, 1)
	require.NoError(t, err)
	s := c.Predict(cpu.Handover(), 0)
	require.GreaterOrEqual(t, s.Barriers, 4)
	require.GreaterOrEqual(t, s.Tiles, 4*16)
}

func TestHandoverIsMeasured(t *testing.T) {
	h := cpu.Handover()
	require.Positive(t, h.Call)
	require.Positive(t, h.Line)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	require.Equal(t, time.Microsecond, cpu.Handover().Call)
}

// Goroutines meet once after a convolution in groups, not after each group; with more threads than
// half the groups they share each.
func TestGroupsMeetOnce(t *testing.T) {
	if level := kernel.CPU(); !strings.HasPrefix(level, "avx") {
		t.Skipf("kernels of %s share group after group", level)
	}
	for _, channels := range []int{128, 512} { // in windows of 4 channels directly, of 16 by transforms
		size := 56 * 128 / channels
		m := module(t, fmt.Sprintf(`graph net(%%x: f32[1,%d,%d,%d]) {
  %%w = get_attr[w] : f32[%d,%d,3,3]
  %%y = call_function[conv2d](%%x, %%w, _) {padding=[1,1], groups=32}
  return %%y
}
param w : f32[%d,%d,3,3]
`, channels, size, size, channels, channels/32, channels, channels/32))
		m.SetParam(graph.Param{Path: "w", Value: array.New(array.F32, channels, channels/32, 3, 3)})
		e := compile(t, m, lowering.Options{Threads: 2})
		in := []*array.Array{array.New(array.F32, 1, channels, size, size)}
		for _, threads := range []int{2, 16} {
			c, err := e.Cutting(context.Background(), in, threads, 1)
			require.NoError(t, err)
			s := c.Predict(cpu.Handover(), 0)
			require.Equal(t, 1, s.Barriers, "%d channels, %d threads", channels, threads)
			require.GreaterOrEqual(t, s.Tiles, min(threads, 8))
		}
	}
}

// A loop whose rounds depend on the state is cut differently in each run: the last one counts.
func TestCuttingOfALoopOverState(t *testing.T) {
	m := module(t, `graph net(%x: f32[256,256]) {
  %s = get_attr[rounds] : f32[1]
  %zero = call_function[mul](%s) {other=0} : f32[1]
  %l = call_function[while](%x, %zero, %s) {carry=2} : (f32[256,256], f32[1]) {
    region cond(%a: f32[256,256], %t: f32[1], %max: f32[1]) {
      %lt = call_function[lt](%t, %max) : bool[1]
      %one = call_function[squeeze](%lt) {dim=[0]} : bool[]
      return %one
    }
    region body(%a: f32[256,256], %t: f32[1], %max: f32[1]) {
      %p = call_function[matmul](%a, %a) : f32[256,256]
      %u = call_function[add](%t) {other=1} : f32[1]
      return (%p, %u)
    }
  }
  %y = call_function[getitem](%l) {index=0} : f32[256,256]
  %fewer = call_function[sub](%s) {other=1} : f32[1]
  %w = call_function[assign](%s, %fewer) : f32[1]
  return (%y, %w)
}
param rounds : f32[1] buffer
`)
	m.SetParam(graph.Param{Path: "rounds", Value: array.FromSlice([]float32{7}), Buffer: true})
	e := compile(t, m, lowering.Options{Threads: 2})
	require.True(t, e.Plan().Stateful)
	c, err := e.Cutting(context.Background(), []*array.Array{array.New(array.F32, 256, 256)}, 2, 3)
	require.NoError(t, err)
	require.Equal(t, float32(3), array.Data[float32](e.State("rounds"))[0])
	require.GreaterOrEqual(t, c.Predict(cpu.Handover(), 0).Barriers, 4, "the last run has four rounds")
}
