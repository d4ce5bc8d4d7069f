package gpu_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/op"
)

// everyFlow has a branch, a while and a scan, bodies that read weights, and a symbol.
const everyFlow = `gofx 1
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

// equal runs a module for inputs, twice each, next to the interpreter.
func equal(t *testing.T, e lowering.Executable, text string, inputs ...[]*array.Array) {
	t.Helper()
	m := parsed(t, text)
	for _, in := range inputs {
		want := interpreted(t, m, in...)
		for range 2 {
			got, err := e.Run(ctx, in)
			require.NoError(t, err)
			fxtest.Close(t, m.Graph.Name, want, got)
		}
	}
}

// TestControlFlow runs every kind of body for several sizes, by one executable and from many
// goroutines.
func TestControlFlow(t *testing.T) {
	g, _ := onCUDA(t)
	m := parsed(t, everyFlow)
	require.Empty(t, lowering.Query(g, m.Graph))
	e := compile(t, g, m)
	var inputs [][]*array.Array
	for _, n := range []int{3, 1, 0, 3} {
		for _, limit := range []float32{100, 2, -100} {
			inputs = append(inputs, []*array.Array{ramp(n, 4), array.Scalar(limit)})
		}
	}
	equal(t, e, everyFlow, inputs...)
	require.Equal(t, 3, e.Stats().Sizes.Misses)
	require.Equal(t, 3, e.Stats().Control)
	require.Equal(t, 19, e.Stats().Launches, "%s", e.Stats())
	require.Equal(t, 1, e.Stats().Setup, "the product of weights in a branch is made once: %s", e.Stats())

	var all sync.WaitGroup
	for i := range 6 {
		in := inputs[i]
		want := interpreted(t, m, in...)
		all.Go(func() {
			for range 4 {
				got, err := e.Run(ctx, in)
				if err != nil || fxtest.CloseArrays(want, got) != "" {
					t.Error(err, fxtest.CloseArrays(want, got))
				}
			}
		})
	}
	all.Wait()
	controlIsOnePart(t, g)
}

// controlIsOnePart: loops and branches go to the device as they are, and nothing crosses between
// their bodies.
func controlIsOnePart(t *testing.T, g gpu.Target) {
	e, err := lowering.Split{First: g, Rest: cpu.Target{}}.Pieces(parsed(t, everyFlow), lowering.Options{Shapes: map[string]int{"N": 3}})
	require.NoError(t, err)
	equal(t, e, everyFlow, []*array.Array{ramp(3, 4), array.Scalar(float32(2))})
	s := e.Stats()
	require.Len(t, s.Parts, 1, "%s", e)
	require.Empty(t, s.Fallback)
	require.Equal(t, lowering.Moved{Values: 2 * 2, Bytes: 2 * (48 + 4)}, s.In)
	require.Equal(t, lowering.Moved{Values: 2 * 3, Bytes: 2 * (16 + 48 + 48)}, s.Out)
	require.NoError(t, e.Close())
}

// TestControlFlowByOpenCL is a small part of it on an OpenCL device.
func TestControlFlowByOpenCL(t *testing.T) {
	e := compile(t, target(t), parsed(t, rounds))
	equal(t, e, rounds, []*array.Array{ramp(3, 4), array.Scalar(int64(2))}, []*array.Array{ramp(3, 4), array.Scalar(int64(0))})
}

// rounds has a branch in a scan in a while.
const rounds = `gofx 1
graph rounds(%x: f32[3,4], %n: i64[]) {
  %l = call_function[while](%n, %x) {carry=2} : (i64[], f32[3,4]) {
    region more(%k: i64[], %a: f32[3,4]) {
      %zero = call_function[full]() {size=[], value=0, dtype=i64} : i64[]
      %y = call_function[gt](%k, %zero) : bool[]
      return %y
    }
    region body(%k: i64[], %a: f32[3,4]) {
      %first = call_function[select](%a) {dim=0, index=1} : f32[4]
      %s = call_function[scan](%first, %a) {carry=1, seqs=1} : (f32[4], f32[3,4]) {
        region round(%acc: f32[4], %row: f32[4]) {
          %sum = call_function[sum](%row) : f32[]
          %zero = call_function[full]() {size=[], value=0, dtype=f32} : f32[]
          %up = call_function[gt](%sum, %zero) : bool[]
          %c = call_function[cond](%up, %acc, %row) : (f32[4]) {
            region yes(%a: f32[4], %b: f32[4]) {
              %t = call_function[add](%a, %b) : f32[4]
              return (%t)
            }
            region no(%a: f32[4], %b: f32[4]) {
              return (%b)
            }
          }
          %c0 = call_function[getitem](%c) {index=0} : f32[4]
          return (%c0, %c0)
        }
      }
      %s1 = call_function[getitem](%s) {index=1} : f32[3,4]
      %one = call_function[full]() {size=[], value=1, dtype=i64} : i64[]
      %next = call_function[sub](%k, %one) : i64[]
      return (%next, %s1)
    }
  }
  %l0 = call_function[getitem](%l) {index=0} : i64[]
  %l1 = call_function[getitem](%l) {index=1} : f32[3,4]
  return (%l1, %l0)
}
`

func TestBodiesThatDevicesDoNotRun(t *testing.T) {
	g, _ := onCUDA(t)
	body := func(call string) string {
		return "gofx 1\ngraph g(%p: bool[], %x: f32[2,2]) {\n  %c = call_function[cond](%p, %x) : f32[2,2] {\n" +
			"    region yes(%a: f32[2,2]) {\n      %b = get_attr[w] : f32[2,2]\n      " + call + "\n      return %y\n    }\n" +
			"    region no(%a: f32[2,2]) {\n      return %a\n    }\n  }\n  return %c\n}\nparam w : f32[2,2] buffer\n"
	}
	for call, why := range map[string]string{
		"%d = call_function[det](%a)\n      %y = call_function[mul](%a, %d)": "%d inside of it: ",
		"%y = call_function[assign](%b, %a)":                                 "%y inside of it: writes to state stay on the host",
		"%i = call_function[nonzero](%a)\n      %k = call_function[dim](%i)\n      %f = call_function[cast](%k) {dtype=f32}\n      %y = call_function[mul](%a, %f)": "%i inside of it: ",
	} {
		m := parsed(t, body(call))
		c := m.Graph.Find("c")
		ok, reason := g.Supports(c)
		require.False(t, ok)
		require.Contains(t, reason, why)
		_, err := g.Compile(m, lowering.Options{})
		require.ErrorIs(t, err, lowering.Unsupported)
		require.ErrorContains(t, err, why)
		e, err := lowering.Split{First: g, Rest: cpu.Target{}}.Pieces(m, lowering.Options{})
		require.NoError(t, err)
		equal(t, e, body(call), []*array.Array{array.Scalar(false), ramp(2, 2)}, []*array.Array{array.Scalar(true), ramp(2, 2)})
		require.Len(t, e.Stats().Fallback, 1)
		require.NoError(t, e.Close())
	}
	m := parsed(t, `gofx 1
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
`)
	_, err := compile(t, g, m).Run(ctx, []*array.Array{array.Scalar(float32(0)), ramp(3), ramp(4)})
	require.ErrorIs(t, err, op.SizeMismatch)
	require.ErrorContains(t, err, "node %l: scan")
}

// TestListingOfBodies: programs are listed with bodies below what runs them.
func TestListingOfBodies(t *testing.T) {
	text, err := gpu.Text(parsed(t, rounds), lowering.Options{}, gpu.CUDA)
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "//") {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	require.Contains(t, lines, "//   while # l")
	require.Contains(t, lines, "//     3 rounds # s")
	require.True(t, slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "//       if arena+") }), "%s", text)
	require.Contains(t, text, " + 4 * round) # ")
}
