package gpu_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda/cudatest"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

// TestBodiesAreReplayed: each stretch of launches between two decisions is one recording.
func TestBodiesAreReplayed(t *testing.T) {
	drv := cudatest.New(t)
	g := gpu.Target{Device: run.NewDevice(drv.Device()), Cache: "-"}
	m := parsed(t, rounds)
	e := compile(t, g, m)
	in := []*array.Array{ramp(3, 4), array.Scalar(int64(2))}
	want := interpreted(t, m, in...)
	require.Equal(t, 3, e.Stats().Control)
	require.Equal(t, 14, e.Stats().Launches)
	for run := range 3 {
		launches, replays := drv.Calls("cuLaunchKernel"), drv.Calls("cuGraphLaunch")
		got, err := e.Run(ctx, in)
		require.NoError(t, err)
		fxtest.Close(t, "rounds", want, got)
		// The while begins with two copies, and asks three times. Each of its two rounds has a copy
		// for the scan, whose three rounds copy a slice, add two numbers up, run a branch and keep
		// what that gave twice, and three launches after the scan. Single launches, and those whose
		// places depend on the round, are not recorded.
		alone, recorded := 3+2*(1+3*4), 1+2*(3*1+1)
		if run == 0 {
			alone += 2 + 2 + 3 // while they were recorded
		}
		require.Equal(t, alone, drv.Calls("cuLaunchKernel")-launches)
		require.Equal(t, recorded, drv.Calls("cuGraphLaunch")-replays)
	}
	require.NoError(t, e.Close())
	require.Zero(t, drv.Alive(cudatest.Execs))
}

// TestLostInABody: whichever call it is at which the device is lost, a run has one error.
func TestLostInABody(t *testing.T) {
	cache := t.TempDir()
	m := parsed(t, rounds)
	in := []*array.Array{ramp(3, 4), array.Scalar(int64(2))}
	lost := 0
	for at := 1; ; at += 5 {
		drv := cudatest.New(t)
		e, err := gpu.Target{Device: run.NewDevice(drv.Device()), Cache: cache}.Compile(m, lowering.Options{})
		require.NoError(t, err)
		_, err = e.Run(ctx, in) // takes the memory, and records
		require.NoError(t, err)
		drv.Set("lose in", at)
		_, err = e.Run(ctx, in)
		if err == nil {
			require.Zero(t, drv.Get("lost"))
			drv.Set("lose in", -1)
			require.NoError(t, e.Close())
			break
		}
		lost++
		require.ErrorIs(t, err, gpu.Lost)
		require.IsType(t, &diag.Error{}, err, "one error")
		require.NoError(t, e.Close())
	}
	require.Greater(t, lost, 10)
}

const forever = `gofx 1
graph forever(%x: f32[2]) {
  %l = call_function[while](%x) {carry=1} : (f32[2]) {
    region cond(%a: f32[2]) {
      %y = call_function[ones]() {size=[], dtype=bool} : bool[]
      return %y
    }
    region body(%a: f32[2]) {
      %d = call_function[neg](%a) : f32[2]
      return (%d)
    }
  }
  %l0 = call_function[getitem](%l) {index=0} : f32[2]
  return %l0
}
`

func TestLoopsEndWithTheContext(t *testing.T) {
	g, _ := onCUDA(t)
	for name, text := range map[string]string{"while": forever, "scan": `gofx 1
graph long(%x: f32[2]) {
  %e = call_function[expand](%x) {shape=[1000000000,2]} : f32[1000000000,2]
  %l = call_function[scan](%x, %e) {carry=1, seqs=1} {
    region body(%a: f32[2], %b: f32[2]) {
      %d = call_function[sub](%b, %a) : f32[2]
      return (%d)
    }
  }
  %l0 = call_function[getitem](%l) {index=0} : f32[2]
  return %l0
}
`} {
		e := compile(t, g, parsed(t, text))
		soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		_, err := e.Run(soon, []*array.Array{ramp(2)})
		require.ErrorIs(t, err, context.DeadlineExceeded, name)
		require.ErrorIs(t, err, diag.Stopped, name)
		cancel()
	}
}

// search looks up what it has found until it finds 0: in round k a table says where to go on.
const search = `gofx 1
graph search(%start: i64[1], %p: bool[]) {
  %l = call_function[while](%start) {carry=1} : i64[1] {
    region more(%k: i64[1]) {
      %w = get_attr[next] : i64[6]
      %n = call_function[gather](%w, %k) {dim=0} : i64[1]
      %zero = call_function[full]() {size=[], value=0, dtype=i64} : i64[]
      %y = call_function[ne](%n, %zero) : bool[1]
      return %y
    }
    region body(%k: i64[1]) {
      %w = get_attr[next] : i64[6]
      %go = call_function[gather](%w, %k) {dim=0} : i64[1]
      return %go
    }
  }
  %c = call_function[cond](%p, %l) : i64[1] {
    region yes(%k: i64[1]) {
      %w = get_attr[few] : i64[2]
      %y = call_function[gather](%w, %k) {dim=0} : i64[1]
      return %y
    }
    region no(%k: i64[1]) {
      return %k
    }
  }
  return %c
}
param next : i64[6]
param few : i64[2]
`

// TestRefusedInABody: the error is that of the call which came first in time, at its line, and
// what follows from it is no answer to the host; a body that does not run refuses nothing.
func TestRefusedInABody(t *testing.T) {
	g, _ := onCUDA(t)
	m := parsed(t, search)
	m.SetParam(graph.Param{Path: "next", Value: array.FromSlice([]int64{3, 0, 7, 1, 2, -1})})
	m.SetParam(graph.Param{Path: "few", Value: array.FromSlice([]int64{5, 6})})
	e := compile(t, g, m)
	run := func(start int64, p bool) ([]*array.Array, error) {
		return e.Run(ctx, []*array.Array{array.FromSlice([]int64{start}), array.Scalar(p)})
	}
	for _, c := range []struct {
		start int64
		p     bool
		want  int64
		node  string
	}{{0, false, 1, ""}, {3, true, 6, ""}, {9, false, 0, "n"}, {4, true, 0, "n"}, {5, false, 0, "n"}, {1, true, 6, ""}} {
		got, err := run(c.start, c.p)
		if c.node == "" {
			require.NoError(t, err)
			require.Equal(t, []int64{c.want}, array.Data[int64](got[0]))
			continue
		}
		require.ErrorIs(t, err, gpu.OutOfRange)
		var one *diag.Error
		require.ErrorAs(t, err, &one)
		require.Equal(t, c.node, one.Node)
	}
	// The second call of a round refuses in an earlier round than the first one.
	m = parsed(t, `gofx 1
graph order(%x: i64[1], %i: i64[3,1]) {
  %l = call_function[scan](%x, %i) {carry=1, seqs=1} : (i64[1], i64[3,1]) {
    region body(%k: i64[1], %j: i64[1]) {
      %w = get_attr[table] : i64[4]
      %first = call_function[gather](%w, %j) {dim=0} : i64[1]
      %second = call_function[gather](%w, %k) {dim=0} : i64[1]
      return (%second, %first)
    }
  }
  %l0 = call_function[getitem](%l) {index=0} : i64[1]
  %l1 = call_function[getitem](%l) {index=1} : i64[3,1]
  return (%l0, %l1)
}
param table : i64[4]
`)
	m.SetParam(graph.Param{Path: "table", Value: array.FromSlice([]int64{1, 2, 3, 9})})
	e = compile(t, g, m)
	for indices, node := range map[[3]int64]string{{0, 1, 2}: "", {0, 1, 4}: "second", {0, 4, 4}: "first", {5, 1, 1}: "first"} {
		start := int64(1)
		if node == "second" {
			start = 3 // 9 in the second round
		}
		_, err := e.Run(ctx, []*array.Array{array.FromSlice([]int64{start}), array.FromSlice(indices[:], 3, 1)})
		if node == "" {
			require.NoError(t, err)
			continue
		}
		var one *diag.Error
		require.ErrorAs(t, err, &one)
		require.Equal(t, node, one.Node)
	}
}

// weighed reads weights in bodies alone: one that is live, and one that is packed.
const weighed = `gofx 1
graph weighed(%x: f32[4,4], %p: bool[]) {
  %c = call_function[cond](%p, %x) : f32[4,4] {
    region yes(%a: f32[4,4]) {
      %w = get_attr[w] live : f32[4,4]
      %y = call_function[add](%a, %w) : f32[4,4]
      return %y
    }
    region no(%a: f32[4,4]) {
      %w = get_attr[v] : f32[4,4]
      %y = call_function[matmul](%a, %w) : f32[4,4]
      return %y
    }
  }
  return %c
}
param w : f32[4,4]
param v : f32[4,4]
`

// TestWeightsOfBodies: those that are live are read at each run, written ones copied again, where
// the device is given all, and where a part of it is the host's.
func TestWeightsOfBodies(t *testing.T) {
	_, l := onCUDA(t)
	g := gpu.Target{Device: run.NewDevice(processor{l}), Cache: "-"}
	m := parsed(t, weighed)
	whole := compile(t, g, m)
	split, err := lowering.Split{First: g, Rest: cpu.Target{}}.Compile(m, lowering.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, split.Close()) })
	for round := range 3 {
		for _, p := range []bool{true, false} {
			in := []*array.Array{ramp(4, 4), array.Scalar(p)}
			for _, e := range []lowering.Executable{whole, split} {
				got, err := e.Run(ctx, in)
				require.NoError(t, err)
				fxtest.Close(t, "weighed", interpreted(t, m, in...), got)
			}
		}
		w := ramp(4, 4)
		written(w, float64(round)+2)
		m.SetParam(graph.Param{Path: "w", Value: w})
		written(m.Param("v").Value, float64(round)-0.5)
	}
	m.SetParam(graph.Param{Path: "w", Value: ramp(5)})
	_, err = whole.Run(ctx, []*array.Array{ramp(4, 4), array.Scalar(true)})
	require.ErrorIs(t, err, interp.GuardFailed)
}

// TestValuesOfLoops: values stay on the device between runs of loops, and donated ones become results.
func TestValuesOfLoops(t *testing.T) {
	g, _ := onCUDA(t)
	m := parsed(t, rounds)
	e, err := g.Compile(m, lowering.Options{Donate: []int{0}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	r := e.(lowering.Resident)
	x, n := ramp(3, 4), array.Scalar(int64(2))
	want := interpreted(t, m, interpreted(t, m, x, n)[0], n)
	v, err := r.Put(ctx, x)
	require.NoError(t, err)
	for range 2 {
		out, err := r.RunValues(ctx, []lowering.Value{v, lowering.Host(n)})
		require.NoError(t, err)
		_, err = v.Array(ctx)
		require.ErrorIs(t, err, lowering.Closed, "it was donated")
		v = out[0]
		require.NoError(t, out[1].Close())
	}
	got, err := v.Array(ctx)
	require.NoError(t, err)
	fxtest.Close(t, "rounds", want[:1], []*array.Array{got})
	require.NoError(t, v.Close())
}

// TestLoopsShareTheDevice: what a loop leaves on the device stays there for another part, though a
// call on the host lies between them.
func TestLoopsShareTheDevice(t *testing.T) {
	_, l := onCUDA(t)
	d := &counting{Device: l}
	m := parsed(t, `gofx 1
graph mixed(%x: f32[2,2]) {
  %s = call_function[scan](%x, %x) {carry=1, seqs=1} : (f32[2,2], f32[2,2,2]) {
    region round(%a: f32[2,2], %r: f32[2]) {
      %n = call_function[add](%a, %r) : f32[2,2]
      return (%n, %n)
    }
  }
  %s0 = call_function[getitem](%s) {index=0} : f32[2,2]
  %s1 = call_function[getitem](%s) {index=1} : f32[2,2,2]
  %d = call_function[det](%s0) : f32[]
  %u = call_function[scan](%d, %s1) {carry=1, seqs=1} : f32[] {
    region round(%a: f32[], %r: f32[2,2]) {
      %t = call_function[sum](%r) : f32[]
      %n = call_function[mul](%a, %t) : f32[]
      return %n
    }
  }
  return %u
}
`)
	e, err := lowering.Split{First: gpu.Target{Device: run.NewDevice(d), Cache: "-"}, Rest: cpu.Target{}}.Pieces(m, lowering.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	x := ramp(2, 2)
	got, err := e.Run(ctx, []*array.Array{x})
	require.NoError(t, err)
	fxtest.Close(t, "mixed", interpreted(t, m, x), got)
	require.Len(t, e.Stats().Parts, 3, "%s", e)
	require.Equal(t, lowering.Moved{Values: 2, Bytes: 16 + 4}, e.Stats().In, "%s", e)
	require.Equal(t, lowering.Moved{Values: 2, Bytes: 16 + 4}, e.Stats().Out)
	require.Equal(t, 2, d.reads, "scans ask nothing")
	require.Equal(t, 2, d.writes)
}

// TestBodiesThatSizesRuleOut: a body that cannot run with the sizes of a run is an error where it
// is to run, and none else.
func TestBodiesThatSizesRuleOut(t *testing.T) {
	g, _ := onCUDA(t)
	m := parsed(t, `gofx 1
graph g(%x: f32[N], %y: f32[M], %p: bool[]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  %c = call_function[cond](%p, %x, %y) : f32[] {
    region yes(%a: f32[N], %b: f32[M]) {
      %s = call_function[add](%a, %b) : f32[N]
      guard N == M from %s
      %t = call_function[sum](%s) : f32[]
      return %t
    }
    region no(%a: f32[N], %b: f32[M]) {
      %t = call_function[sum](%a) : f32[]
      return %t
    }
  }
  %l = call_function[while](%p, %c, %x, %y) {carry=2} {
    region more(%q: bool[], %c: f32[], %a: f32[N], %b: f32[M]) {
      return %q
    }
    region body(%q: bool[], %c: f32[], %a: f32[N], %b: f32[M]) {
      %no = call_function[logical_not](%q) : bool[]
      %s = call_function[mul](%a, %b) : f32[N]
      guard N == M from %s
      %t = call_function[sum](%s) : f32[]
      return (%no, %t)
    }
  }
  %l1 = call_function[getitem](%l) {index=1}
  return (%c, %l1)
}
`)
	require.Empty(t, lowering.Query(g, m.Graph))
	e := compile(t, g, m)
	for _, n := range []int{3, 5} {
		for _, p := range []bool{true, false} {
			in := []*array.Array{ramp(3), ramp(n), array.Scalar(p)}
			got, err := e.Run(ctx, in)
			if n == 5 && p {
				_, is := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
				require.ErrorIs(t, is, interp.GuardFailed)
				require.ErrorIs(t, err, interp.GuardFailed)
				require.ErrorContains(t, err, "node %c: cond: region yes cannot run with these sizes: size 3 must be 5")
				continue
			}
			require.NoError(t, err)
			fxtest.Close(t, "sizes", interpreted(t, m, in...), got)
		}
	}
}
