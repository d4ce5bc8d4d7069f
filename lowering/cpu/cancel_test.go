package cpu_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// fuse is a context that ends with err after it was asked n times.
type fuse struct {
	context.Context
	n   *int
	err error
}

func (c fuse) Err() error {
	if *c.n--; *c.n < 0 {
		return c.err
	}
	return nil
}

// stopTexts end inside of every kind of body, and of bodies in bodies.
var stopTexts = map[string]string{
	"straight": `
graph g(%x: f32[3,2]) {
  %a = call_function[softmax](%x) {dim=1} : f32[3,2]
  %b = call_function[sum](%a) : f32[]
  return %b
}`,
	"cond": `
graph g(%x: f32[3,2]) {
  %p = call_function[ones]() {size=[], dtype=bool} : bool[]
  %c = call_function[cond](%p, %x) : (f32[3,2]) {
    region(%a: f32[3,2]) {
      %n = call_function[neg](%a) : f32[3,2]
      %m = call_function[exp](%n) : f32[3,2]
      return (%m)
    }
    region(%a: f32[3,2]) {
      return (%a)
    }
  }
  %r = call_function[getitem](%c) {index=0} : f32[3,2]
  return %r
}`,
	"while": `
graph g(%x: f32[3,2]) {
  %l = call_function[while](%x) {carry=1} : (f32[3,2]) {
    region(%a: f32[3,2]) {
      %s = call_function[sum](%a) : f32[]
      %y = call_function[lt](%s) {other=40.0} : bool[]
      return %y
    }
    region(%a: f32[3,2]) {
      %d = call_function[add](%a) {other=1.0} : f32[3,2]
      return (%d)
    }
  }
  %r = call_function[getitem](%l) {index=0} : f32[3,2]
  return %r
}`,
	"scan with a loop inside": `
graph g(%x: f32[3,2]) {
  %z = call_function[zeros]() {size=[2]} : f32[2]
  %n = call_function[scan](%z, %x) {carry=1, seqs=1} : (f32[2], f32[3,2]) {
    region(%acc: f32[2], %row: f32[2]) {
      %sum = call_function[add](%acc, %row) : f32[2]
      %l = call_function[while](%sum) {carry=1} : (f32[2]) {
        region(%a: f32[2]) {
          %s = call_function[sum](%a) : f32[]
          %y = call_function[lt](%s) {other=20.0} : bool[]
          return %y
        }
        region(%a: f32[2]) {
          %d = call_function[add](%a) {other=3.0} : f32[2]
          return (%d)
        }
      }
      %r = call_function[getitem](%l) {index=0} : f32[2]
      return (%r, %sum)
    }
  }
  %r = call_function[getitem](%n) {index=1} : f32[3,2]
  return %r
}`,
}

// TestTheEndOfAContextHasOneErrorEverywhere ends the context at every place at
// which an engine asks it.
func TestTheEndOfAContextHasOneErrorEverywhere(t *testing.T) {
	x := array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	for name, text := range stopTexts {
		m := module(t, text)
		require.Empty(t, graph.Lint(m.Graph), name)
		plan := compile(t, m, lowering.Options{})
		hooked := interp.Interpreter{State: interp.NewState(m), Node: func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
			return next(in)
		}}
		engines := map[string]func(ctx context.Context) error{
			"interp": func(ctx context.Context) error {
				_, err := fx.NewGraphModule(m).Run(ctx, tensor.New(x))
				return err
			},
			"hooks": func(ctx context.Context) error {
				_, err := hooked.Run(ctx, tensor.New(x))
				return err
			},
			"plan": func(ctx context.Context) error {
				_, err := plan.Run(ctx, []*array.Array{x})
				return err
			},
		}
		for engine, run := range engines {
			for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
				asked := 0
				for ; ; asked++ {
					left := asked
					err := run(fuse{ctx, &left, cause})
					if err == nil {
						break
					}
					require.ErrorIs(t, err, cause, "%s in %s, asked %d times", name, engine, asked)
					require.ErrorIs(t, err, diag.Stopped)
					require.NotErrorIs(t, err, diag.Internal)
					var e *diag.Error
					require.ErrorAs(t, err, &e)
					require.NotEmpty(t, e.Node)
				}
				require.Greater(t, asked, 1, "%s in %s asks the context", name, engine)
			}
		}
	}
}

func TestHooksAndPassesMayReturnTheContextsError(t *testing.T) {
	m := module(t, stopTexts["while"])
	hook := interp.Interpreter{State: interp.NewState(m), CallFunction: func(*graph.Node, []interp.Result, func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		return interp.Result{}, context.Canceled
	}}
	_, err := hook.Run(ctx, tensor.New(array.New(array.F32, 3, 2)))
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, diag.Stopped)

	for _, cause := range []error{context.DeadlineExceeded, errors.Join(context.Canceled)} {
		stops := passes.Pass{Name: "stops", Doc: "stops", Run: func(*passes.Ctx, *graph.Graph) (bool, error) { return false, cause }}
		_, err = passes.Run(ctx, m, []passes.Pass{stops}, passes.Options{})
		require.ErrorIs(t, err, cause)
		require.ErrorIs(t, err, diag.Stopped)
		require.NotErrorIs(t, err, diag.Internal)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	never := passes.Pass{Name: "never", Doc: "never", Run: func(*passes.Ctx, *graph.Graph) (bool, error) { panic("run") }}
	_, err = passes.Run(stopped, m, []passes.Pass{never}, passes.Options{})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, diag.Stopped)
}

func TestATraceEndsWithItsContext(t *testing.T) {
	soon, cancel := context.WithCancel(ctx)
	_, err := fx.Trace(soon, func(x *tensor.Tensor) *tensor.Tensor {
		cancel()
		for {
			x = x.AddScalar(1)
		}
	}, fx.Input("x", "f32[2]"))
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, diag.Stopped)
}

// calls counts what kernels of counted start: all, and those of each worker after the end
// of the context.
type calls struct {
	all   atomic.Int64
	ended atomic.Bool
	late  [workers]atomic.Int64
	end   func() // called by the call with the number at
	at    int64
}

const workers = 8

var counting atomic.Pointer[calls]

// countedStep copies, and counts; its operand is the number of the worker.
type countedStep struct{}

func (countedStep) Run(_ *kernel.Workspace, out, in []*array.Array) {
	c, worker := counting.Load(), array.Data[int64](array.Contiguous(in[0]))[0]
	if c.ended.Load() {
		c.late[worker].Add(1)
	}
	if c.all.Add(1) == c.at {
		c.end()
		c.ended.Store(true)
	}
	array.Copy(out[0], in[0])
}

var counted = op.Define("counted", op.Spec[op.None]{
	Doc: "counted is x, and counts the call.", In: op.Args("x"), Class: op.Opaque,
	Infer:  func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
	Kernel: func(op.None, []shape.Type) kernel.Step { return &countedStep{} },
})

// TestOneCallStartsAfterTheEnd ends the context of several workers in the middle of a
// step: each has begun at most one more, which it was about to begin.
func TestOneCallStartsAfterTheEnd(t *testing.T) {
	g := graph.New("chain")
	c := g.At()
	n := c.Placeholder("x", shape.TensorType(array.I64, shape.ConstDims(1)), nil)
	const steps = 40
	for range steps {
		n = c.Function(counted, nil, n)
	}
	c.Output(&graph.Structure{Kind: graph.LeafValue}, n)
	e := compile(t, graph.NewModule(g), lowering.Options{})
	for _, at := range []int64{1, 2, workers, steps * workers / 2, steps*workers - 1} {
		soon, cancel := context.WithCancel(ctx)
		now := &calls{end: cancel, at: at}
		counting.Store(now)
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				_, err := e.Run(soon, []*array.Array{array.FromSlice([]int64{int64(w)}, 1)})
				if err != nil {
					assert.ErrorIs(t, err, context.Canceled)
				}
			})
		}
		all.Wait()
		require.True(t, now.ended.Load())
		for w := range workers {
			require.LessOrEqual(t, now.late[w].Load(), int64(1), "worker %d, ended in call %d", w, at)
		}
	}
}
