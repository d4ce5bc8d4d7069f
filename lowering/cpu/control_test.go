package cpu_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
)

const flow = `
graph flow(%x: f32[N,4], %limit: f32[]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[4,4]
  %s = call_function[sum](%x) : f32[]
  %big = call_function[gt](%s, %limit) : bool[]
  %c = call_function[cond](%big, %x, %w) : (f32[N,4]) {
    region yes(%a: f32[N,4], %b: f32[4,4]) {
      %m = call_function[matmul](%a, %b) : f32[N,4]
      %r = call_function[reshape](%m) {shape=[2*N,2]} : f32[2*N,2]
      %q = call_function[reshape](%r) {shape=[N,4]} : f32[N,4]
      return (%q)
    }
    region no(%a: f32[N,4], %b: f32[4,4]) {
      %u = get_attr[w] : f32[4,4]
      %v = call_function[matmul](%b, %u) : f32[4,4]
      %y = call_function[stack](%v, %b) {dim=0} : f32[2,4,4]
      %z = call_function[select](%y) {dim=0, index=0} : f32[4,4]
      %m = call_function[matmul](%a, %z) : f32[N,4]
      return (%m)
    }
  }
  %c0 = call_function[getitem](%c) {index=0} : f32[N,4]
  %l = call_function[while](%c0, %s, %limit) {carry=2} : (f32[N,4], f32[]) {
    region cond(%a: f32[N,4], %t: f32[], %max: f32[]) {
      %lt = call_function[lt](%t, %max) : bool[]
      return %lt
    }
    region body(%a: f32[N,4], %t: f32[], %max: f32[]) {
      %d = call_function[mul](%a, %t) : f32[N,4]
      %u = call_function[add](%t, %max) : f32[]
      return (%d, %u)
    }
  }
  %l0 = call_function[getitem](%l) {index=0} : f32[N,4]
  %zero = call_function[zeros]() {size=[4]} : f32[4]
  %n = call_function[scan](%zero, %l0, %limit) {carry=1, seqs=1} : (f32[4], f32[N,4]) {
    region body(%acc: f32[4], %row: f32[4], %k: f32[]) {
      %sum = call_function[add](%acc, %row) : f32[4]
      %scaled = call_function[mul](%sum, %k) : f32[4]
      return (%sum, %scaled)
    }
  }
  %n0 = call_function[getitem](%n) {index=0} : f32[4]
  %n1 = call_function[getitem](%n) {index=1} : f32[N,4]
  return (%n0, %n1, %c0)
}
param w : f32[4,4]
`

func TestControlFlow(t *testing.T) {
	m := module(t, flow)
	require.Empty(t, graph.Lint(m.Graph))
	var g op.Gen
	for _, o := range []lowering.Options{{Exact: true}, {Exact: true, Shapes: map[string]int{"N": 3}}} {
		e := compile(t, m, o)
		for _, n := range []int{3, 1, 5} {
			if n != 3 && o.Shapes != nil {
				break
			}
			for _, limit := range []float32{100, 2, -100} {
				in := []*array.Array{g.Uniform(0, 1, n, 4), array.Scalar(limit)}
				out, err := e.Run(ctx, in)
				require.NoError(t, err)
				same(t, interpret(t, m, in...), out)
			}
		}
		require.Contains(t, e.Plan().String(), `    plan yes`)
	}
}

func TestLoopsEndWithTheContext(t *testing.T) {
	e := compile(t, module(t, `
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
`), lowering.Options{})
	soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	_, err := e.Run(soon, []*array.Array{array.New(array.F32, 2)})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestSequencesOfDifferentLength(t *testing.T) {
	e := compile(t, module(t, `
graph g(%c: f32[], %x: f32[N], %y: f32[M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  %l = call_function[scan](%c, %x, %y) {carry=1, seqs=2} : (f32[]) {
    region body(%a: f32[], %s: f32[], %t: f32[]) {
      %m = call_function[mul](%s, %t) : f32[]
      %n = call_function[add](%a, %m) : f32[]
      return (%n)
    }
  }
  %l0 = call_function[getitem](%l) {index=0} : f32[]
  return %l0
}
`), lowering.Options{})
	var g op.Gen
	_, err := e.Run(ctx, []*array.Array{array.Scalar(float32(0)), g.Normal(3), g.Normal(4)})
	require.ErrorIs(t, err, op.SizeMismatch)
	require.NotErrorIs(t, err, interp.GuardFailed)
	require.ErrorContains(t, err, "node %l: scan")
	out, err := e.Run(ctx, []*array.Array{array.Scalar(float32(1)), array.FromSlice([]float32{1, 2}), array.FromSlice([]float32{3, 4})})
	require.NoError(t, err)
	require.Equal(t, float32(12), array.Data[float32](out[0])[0])
}

// TestBodiesSeeWrittenState reads in bodies what the graph around them wrote.
func TestBodiesSeeWrittenState(t *testing.T) {
	text := `
graph counter(%x: f32[2], %p: bool[]) {
  %b = get_attr[sum] : f32[2]
  %new = call_function[add](%b, %x) : f32[2]
  %w = call_function[assign](%b, %new) : f32[2]
  %c = call_function[cond](%p, %x) : (f32[2]) {
    region yes(%a: f32[2]) {
      %u = get_attr[sum] : f32[2]
      %y = call_function[mul](%a, %u) : f32[2]
      return (%y)
    }
    region no(%a: f32[2]) {
      %l = call_function[scan](%a, %a) {carry=1, seqs=1} : (f32[2]) {
        region body(%s: f32[2], %k: f32[]) {
          %v = get_attr[sum] : f32[2]
          %z = call_function[add](%s, %v) : f32[2]
          return (%z)
        }
      }
      %l0 = call_function[getitem](%l) {index=0} : f32[2]
      return (%l0)
    }
  }
  %c0 = call_function[getitem](%c) {index=0} : f32[2]
  return %c0
}
param sum : f32[2] buffer
`
	for _, live := range []bool{false, true} {
		m, fresh := module(t, text), module(t, text)
		for _, m := range []*graph.Module{m, fresh} {
			for n := range m.Graph.All() {
				if n.Opcode() == graph.GetAttr {
					n.SetLive(live)
				}
			}
		}
		e := compile(t, m, lowering.Options{})
		for i := range 4 {
			in := []*array.Array{array.FromSlice([]float32{1, float32(i)}), array.Scalar(i%2 == 0)}
			out, err := e.Run(ctx, in)
			require.NoError(t, err)
			same(t, interpret(t, fresh, in...), out)
		}
	}
}

// TestControlFlowDoesNotAllocate runs all bodies with sizes that have occurred before.
func TestControlFlowDoesNotAllocate(t *testing.T) {
	var g op.Gen
	e := compile(t, module(t, flow), lowering.Options{Threads: 1})
	for _, limit := range []float32{100, 3, -100} {
		in := []*array.Array{g.Uniform(0, 1, 3, 4), array.Scalar(limit)}
		out, err := e.Run(ctx, in)
		require.NoError(t, err)
		require.Zero(t, testing.AllocsPerRun(5, func() { require.NoError(t, e.RunInto(ctx, out, in)) }), limit)
	}
}

// TestPeakBytesCountsBodies compares with a graph that has the body as straight code.
func TestPeakBytesCountsBodies(t *testing.T) {
	loop := `
graph g(%x: f32[N,1000]) {
  symbol N = dim(%x, 0)
  %zero = call_function[zeros]() {size=[1000]} : f32[1000]
  %l = call_function[scan](%zero, %x) {carry=1, seqs=1} : (f32[1000]) {
    region body(%a: f32[1000], %row: f32[1000]) {
      %s = call_function[softmax](%row) {dim=0} : f32[1000]
      %t = call_function[cumsum](%s) {dim=0} : f32[1000]
      %n = call_function[add](%a, %t) : f32[1000]
      return (%n)
    }
  }
  %y = call_function[getitem](%l) {index=0} : f32[1000]
  return %y
}
`
	e := compile(t, module(t, loop), lowering.Options{Threads: 1})
	body := e.Plan().Steps[len(e.Plan().Steps)-1].Regions[0]
	arena, known := body.Arena.Int()
	require.True(t, known)
	require.Positive(t, arena)
	own, known := e.Plan().Arena.Int()
	require.True(t, known)
	n, err := e.PeakBytes(map[string]int{"N": 3})
	require.NoError(t, err)
	require.GreaterOrEqual(t, n, int64(own+arena))
}
