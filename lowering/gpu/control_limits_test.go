package gpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

// pending counts the launches that the host has not waited for.
type pending struct {
	device.Device
	now, most int
}

type pendingQueue struct {
	device.Queue
	d *pending
}

func (d *pending) NewQueue() (device.Queue, error) {
	q, err := d.Device.NewQueue()
	return pendingQueue{q, d}, err
}

func (q pendingQueue) Launch(l *device.Launch) error {
	q.d.now++
	q.d.most = max(q.d.most, q.d.now)
	return q.Queue.Launch(l)
}

func (q pendingQueue) Finish() error {
	q.d.now = 0
	return q.Queue.Finish()
}

// TestQueuesStayShort: a scan in a scan waits for the device as often as one that has all its rounds.
func TestQueuesStayShort(t *testing.T) {
	_, l := onCUDA(t)
	d := &pending{Device: l}
	m := parsed(t, `gofx 1
graph nest(%x: i64[], %s: i64[60]) {
  %l = call_function[scan](%x, %s, %s) {carry=1, seqs=1} : i64[] {
    region outer(%c: i64[], %r: i64[], %s: i64[60]) {
      %m = call_function[scan](%c, %s) {carry=1, seqs=1} : i64[] {
        region inner(%d: i64[], %q: i64[]) {
          %y = call_function[add](%d, %q) : i64[]
          return %y
        }
      }
      return %m
    }
  }
  return %l
}
`)
	e := compile(t, gpu.Target{Device: run.NewDevice(d), Cache: "-"}, m)
	s := array.New(array.I64, 60)
	for i := range s.Len() {
		array.SetInt64At(s, i, int64(i))
	}
	in := []*array.Array{array.Scalar(int64(7)), s}
	got, err := e.Run(ctx, in)
	require.NoError(t, err)
	fxtest.Close(t, "nest", interpreted(t, m, in...), got)
	require.LessOrEqual(t, d.most, 4*256, "of %d launches", 60*(3+60*3))
}

// TestBodiesOfNoUse: what a body cannot do with the sizes of a run is an error when it is to run, and
// none else, as in the interpreter; and what was laid out in it is laid out again after it.
func TestBodiesOfNoUse(t *testing.T) {
	g, l := onCUDA(t)
	m := parsed(t, `gofx 1
graph g(%x: f32[N], %y: f32[M], %m: f32[2,8], %p: bool[], %q: bool[]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  %w = get_attr[w] : f32[8,8]
  %c = call_function[cond](%p, %x, %y, %m) : f32[] {
    region yes(%a: f32[N], %b: f32[M], %m: f32[2,8]) {
      %v = get_attr[w] : f32[8,8]
      %n = call_function[matmul](%m, %v) : f32[2,8]
      %z = call_function[sum](%n) : f32[]
      %s = call_function[scan](%z, %a, %b) {carry=1, seqs=2} : f32[] {
        region round(%c: f32[], %u: f32[], %v: f32[]) {
          %w = call_function[mul](%u, %v) : f32[]
          %y = call_function[add](%c, %w) : f32[]
          return %y
        }
      }
      return %s
    }
    region no(%a: f32[N], %b: f32[M], %m: f32[2,8]) {
      %s = call_function[sum](%a) : f32[]
      return %s
    }
  }
  %l = call_function[while](%q, %c, %y) {carry=2} {
    region more(%k: bool[], %a: f32[], %b: f32[M]) {
      return %k
    }
    region body(%k: bool[], %a: f32[], %b: f32[M]) {
      %no = call_function[logical_not](%k) : bool[]
      %most = call_function[amax](%b) : f32[]
      return (%no, %most)
    }
  }
  %l1 = call_function[getitem](%l) {index=1}
  %n = call_function[matmul](%m, %w) : f32[2,8]
  return (%c, %l1, %n)
}
param w : f32[8,8]
`)
	for _, target := range []gpu.Target{g, {Device: run.NewDevice(processor{l}), Cache: "-"}} {
		e := compile(t, target, m)
		for _, size := range []int{3, 5, 0} {
			for _, p := range []bool{false, true} {
				for _, q := range []bool{false, true} {
					in := []*array.Array{ramp(3), ramp(size), ramp(2, 8), array.Scalar(p), array.Scalar(q)}
					want, wrong := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
					got, err := e.Run(ctx, in)
					if wrong == nil {
						require.NoError(t, err)
						fxtest.Close(t, "sizes", want, got)
						continue
					}
					if p && size != 3 { // the scan comes first
						require.ErrorContains(t, wrong, "node %s: scan: sequence 1 has")
						require.ErrorContains(t, err, "node %s: scan: sequence 1 has")
						continue
					}
					require.ErrorIs(t, wrong, interp.GuardFailed)
					require.ErrorIs(t, err, interp.GuardFailed)
				}
			}
		}
	}
}

// TestRefusedByWhatACallIsExpandedInto: the error is that of the call, which the user knows, also in a body.
func TestRefusedByWhatACallIsExpandedInto(t *testing.T) {
	g, _ := onCUDA(t)
	m := parsed(t, `gofx 1
graph bags(%i: i64[2,3], %o: i64[2]) {
  %w = get_attr[w] : f32[4,3]
  %z = call_function[full]() {size=[2,3], value=0, dtype=f32} : f32[2,3]
  %l = call_function[scan](%z, %i, %o, %w) {carry=1, seqs=1} : f32[2,3] {
    region round(%a: f32[2,3], %k: i64[3], %o: i64[2], %w: f32[4,3]) {
      %y = call_function[embedding_bag](%k, %w, %o) {mode="sum"} : f32[2,3]
      %s = call_function[add](%a, %y) : f32[2,3]
      return %s
    }
  }
  return %l
}
param w : f32[4,3]
`)
	e := compile(t, g, m)
	in := []*array.Array{array.FromSlice([]int64{1, 0, 3, 2, 2, 1}, 2, 3), array.FromSlice([]int64{0, 2})}
	got, err := e.Run(ctx, in)
	require.NoError(t, err)
	fxtest.Close(t, "bags", interpreted(t, m, in...), got)
	in[0] = array.FromSlice([]int64{1, 0, 3, 2, 4, 1}, 2, 3)
	_, err = e.Run(ctx, in)
	require.ErrorIs(t, err, gpu.OutOfRange)
	require.ErrorContains(t, err, "node %y: embedding_bag: an index is out of range")
}

// A loop whose value grows is refused when the graph is compiled, not by each run.
func TestLoopsThatGrow(t *testing.T) {
	for _, x := range []string{"f32[2]) {", "f32[N]) {\n  symbol N = dim(%x, 0)"} {
		m := parsed(t, "gofx 1\ngraph g(%x: "+x+`
  %w = call_function[while](%x) {carry=1} : f32[?] {
    region(%c: f32[?]) {
      %s = call_function[sum](%c) {dim=[0]} : f32[]
      %t = call_function[lt](%s) {other=10} : bool[]
      return %t
    }
    region(%c: f32[?]) {
      %d = call_function[cat](%c, %c) {dim=0} : f32[?]
      return %d
    }
  }
  return %w
}
`)
		_, err := gpu.Target{Device: run.NewDevice(&failing{})}.Compile(m, lowering.Options{})
		require.ErrorIs(t, err, lowering.Unsupported)
		require.ErrorContains(t, err, "sizes of its results follow from values")
	}
}
