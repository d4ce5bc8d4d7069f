package lowering_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// slowly is noted that takes its time.
func slowly(x *tensor.Tensor) *tensor.Tensor {
	time.Sleep(20 * time.Millisecond)
	return noted(x)
}

// refusing is opaque, and computes nothing.
func refusing(*tensor.Tensor) *tensor.Tensor { panic("not today") }

var (
	slowNote = tensor.Wrap(slowly, tensor.Signature("f32[N] -> f32[N]"))
	refusal  = tensor.Wrap(refusing, tensor.Signature("f32[N] -> f32[N]"))
)

// traced traces a function of one vector.
func traced(t *testing.T, f func(x *tensor.Tensor) *tensor.Tensor) *graph.Module {
	t.Helper()
	gm, err := fx.Trace(ctx, f, fx.Input("x", "f32[N]"))
	require.NoError(t, err)
	return gm.Module
}

// TestPartsActInTheirOrder: what acts on the world does so as in the graph, though parts of two
// targets run at once, and has done so when the run ends, though nothing reads its results.
func TestPartsActInTheirOrder(t *testing.T) {
	m := traced(t, func(x *tensor.Tensor) *tensor.Tensor {
		slowNote(x)
		note(x.AddScalar(1))
		slowNote(x.AddScalar(2))
		return x.Relu()
	})
	for _, first := range []picky{only("slowly"), only("noted"), only("relu"), only("slowly", "relu")} {
		log = nil
		e := pieces(t, m, first, lowering.Options{Exact: true})
		_, err := e.Run(ctx, []*array.Array{array.FromSlice([]float32{-1, 0}, 2)})
		require.NoError(t, err)
		require.Equal(t, []float32{-1, 0, 1}, log, "%s", e)
	}
}

// TestErrorsOfWhatNobodyReads: a part that is there for its effect alone fails the run, and what
// acts after it does not.
func TestErrorsOfWhatNobodyReads(t *testing.T) {
	m := traced(t, func(x *tensor.Tensor) *tensor.Tensor {
		refusal(x)
		note(x)
		return x.Relu()
	})
	for _, first := range []picky{only("refusing"), only("relu"), only("noted")} {
		log = nil
		e := pieces(t, m, first, lowering.Options{Exact: true})
		_, err := e.Run(ctx, []*array.Array{array.FromSlice([]float32{-1, 0}, 2)})
		require.ErrorIs(t, err, diag.Internal, "%s", e)
		require.ErrorContains(t, err, "panics: not today")
		require.ErrorContains(t, err, "functions of yours")
		require.Empty(t, log)
	}
}

// TestReplacedTensorsInsideOfBodies: a body reads what replaces a live tensor.
func TestReplacedTensorsInsideOfBodies(t *testing.T) {
	m := parse(t, `
graph g(%p: bool[], %x: f32[4]) {
  %a = call_function[neg](%x) : f32[4]
  %y = call_function[cond](%p, %a) : f32[4] {
    region(%r: f32[4]) {
      %w = get_attr[w] live : f32[4]
      %e = call_function[add](%r, %w)
      return %e
    }
    region(%r: f32[4]) {
      return %r
    }
  }
  %z = call_function[exp](%y) : f32[4]
  return %z
}
param w : f32[4]
`)
	in := []*array.Array{array.Scalar(true), array.FromSlice([]float32{1, 2, 3, 4}, 4)}
	for _, first := range []picky{only("exp"), only("cond", "add"), only()} {
		var g op.Gen
		m.SetParam(graph.Param{Path: "w", Value: g.Uniform(0, 1, 4)})
		e := pieces(t, m, first, lowering.Options{Exact: true})
		for range 2 {
			got, err := e.Run(ctx, in)
			require.NoError(t, err)
			fxtest.Same(t, "live", interpret(t, m, in), got)
			m.SetParam(graph.Param{Path: "w", Value: g.Uniform(5, 6, 4)})
		}
	}
}

// telling is a target that tells of each run.
type telling struct {
	idle
	begun chan struct{}
}

type tellingExecutable struct {
	lowering.Executable
	begun chan struct{}
}

func (g telling) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	e, err := g.idle.Compile(m, o)
	return tellingExecutable{e, g.begun}, err
}

func (e tellingExecutable) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	e.begun <- struct{}{}
	return e.Executable.Run(ctx, in)
}

// TestCloseWaitsForRuns: a run that has begun ends as if nobody had closed the executable.
func TestCloseWaitsForRuns(t *testing.T) {
	m := parse(t, zigzag)
	begun := make(chan struct{}, 2) // parts
	e := pieces(t, m, telling{idle{only("sin", "cos", "add")}, begun}, lowering.Options{})
	x := array.FromSlice([]float32{1, 2, 3, 4}, 1, 4)
	want := interpret(t, m, []*array.Array{x})
	var run sync.WaitGroup
	run.Go(func() {
		got, err := e.Run(ctx, []*array.Array{x})
		if err != nil || fxtest.CloseArrays(want, got) != "" {
			t.Error("a run that had begun fails:", err)
		}
	})
	<-begun // the first of three
	require.NoError(t, e.Close())
	run.Wait()
	_, err := e.Run(ctx, []*array.Array{x})
	require.ErrorIs(t, err, lowering.Closed)
}

// TestNoRunBeginsWhileCloseWaits: it is told so at once, however long the runs take that Close waits for.
func TestNoRunBeginsWhileCloseWaits(t *testing.T) {
	m := parse(t, zigzag)
	begun := make(chan struct{}) // parts
	e := pieces(t, m, telling{idle{only("sin", "cos", "add")}, begun}, lowering.Options{})
	in := []*array.Array{array.FromSlice([]float32{1, 2, 3, 4}, 1, 4)}
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := e.Run(ctx, in); err != nil {
			t.Error("a run that had begun fails:", err)
		}
	})
	<-begun // the first of its parts that tell, the second of which waits
	all.Go(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	told := make(chan struct{})
	go func() {
		defer close(told)
		ended, cancel := context.WithCancel(ctx)
		cancel()
		for { // until Close has begun, the context is what ends a run
			if _, err := e.Run(ended, in); errors.Is(err, lowering.Closed) {
				return
			}
		}
	}()
	late := false
	select {
	case <-told:
	case <-time.After(10 * time.Second):
		late = true
	}
	go func() {
		for range begun {
		}
	}()
	all.Wait()
	<-told
	close(begun)
	require.False(t, late, "a run waits for another")
}

// TestItemsStayWithTheirCall: the members of a tuple stand on two sides of a write, and may lie, as far as
// one knows of the result of a part, in what is written.
func TestItemsStayWithTheirCall(t *testing.T) {
	m := parse(t, `
graph g(%x: f32[2,2,1]) {
  %s = get_attr[s] : f32[2,1]
  %r = get_attr[r] : f32[2,1]
  %squeeze = call_function[squeeze](%x)
  %chunk = call_function[chunk](%squeeze) {chunks=2, dim=-1}
  %a = call_function[getitem](%chunk)
  %b = call_function[add](%s, %a)
  %w = call_function[assign](%s, %b)
  %c = call_function[getitem](%chunk) {index=1}
  %d = call_function[add](%r, %c)
  %v = call_function[assign](%r, %d)
  return (%b, %d)
}
param s : f32[2,1]
param r : f32[2,1]
`)
	fresh := func() {
		for _, path := range []string{"s", "r"} {
			p := *m.Param(path)
			p.Value = array.FromSlice([]float32{1, 2}, 2, 1)
			m.SetParam(p)
		}
	}
	in := []*array.Array{array.FromSlice([]float32{1, 2, 3, 4}, 2, 2, 1)}
	fresh()
	want := interpret(t, m, in)
	fresh()
	for _, first := range []picky{only("squeeze", "add"), only("chunk"), only("add")} {
		got, err := pieces(t, m, first, lowering.Options{}).Run(ctx, in)
		require.NoError(t, err)
		fxtest.Same(t, "g", want, got)
	}
}
