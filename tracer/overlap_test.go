package tracer_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// meanwhile traces a function whose first recorded call lasts until f has returned
// in another goroutine.
func meanwhile(t *testing.T, model func(x *tensor.Tensor) *tensor.Tensor, f func(x *tensor.Tensor)) (*graph.Module, error) {
	first := true
	p := tracer.Tracer{}
	p.OnCall = func(c *tensor.Call, record func(*tensor.Call) []*tensor.Tensor) []*tensor.Tensor {
		if first {
			first = false
			done := make(chan bool)
			go func() {
				defer close(done)
				f(c.Args[0])
			}()
			<-done
		}
		return record(c)
	}
	return p.Trace(t.Context(), model)
}

func list(t *testing.T, err error) diag.List {
	var l diag.List
	require.True(t, errors.As(err, &l), "%v", err)
	return l
}

// The mistake is at the line of the second call and names the line of the first.
func TestOverlapNamesBothCalls(t *testing.T) {
	var first, second diag.Pos
	_, err := meanwhile(t, func(x *tensor.Tensor) *tensor.Tensor {
		first = diag.Here()
		return x.Neg()
	}, func(x *tensor.Tensor) {
		second = diag.Here()
		x.Relu()
	})
	l := list(t, err)
	require.Len(t, l, 1)
	require.Equal(t, tracer.Overlap, l[0].Code)
	require.Equal(t, second.Line+1, l[0].Pos.Line)
	require.Len(t, l[0].Related, 1)
	require.Equal(t, first.Line+1, l[0].Related[0].Pos.Line)
}

type residue struct{ Fc *nn.Linear }

func (b *residue) Forward(x *tensor.Tensor) *tensor.Tensor { return b.Fc.Forward(x).Relu() }

// asks are all ways in which a model can turn to a trace.
var asks = map[string]func(x *tensor.Tensor){
	"method":   func(x *tensor.Tensor) { x.Relu().Neg().Sum() },
	"function": func(x *tensor.Tensor) { tensor.Cat([]*tensor.Tensor{x, x}, 0).Relu() },
	"several":  func(x *tensor.Tensor) { x.Chunk(2, 0)[0].Relu() },
	"in place": func(x *tensor.Tensor) { x.AddScalarInPlace(1) },
	"Dim":      func(x *tensor.Tensor) { _ = x.Dim(0) + x.Rank() },
	"Size":     func(x *tensor.Tensor) { x.Reshape(x.Size(0).Mul(2), -1) },
	"Int":      func(x *tensor.Tensor) { x.Size(0).Int() },
	"Item":     func(x *tensor.Tensor) { x.Item() },
	"String":   func(x *tensor.Tensor) { _ = x.String() },
	"DType":    func(x *tensor.Tensor) { x.DType() },
	"leaf":     func(x *tensor.Tensor) { nn.NewLinear(3, 2).Forward(x) },
	"module":   func(x *tensor.Tensor) { nn.Run(&residue{nn.NewLinear(3, 2)}, x) },
	"On":       func(x *tensor.Tensor) { tensor.On(x, tensor.FromSlice([]float32{1}, 1)).Neg() },
	"Cond": func(x *tensor.Tensor) {
		same := func(in []*tensor.Tensor) []*tensor.Tensor { return in }
		_ = tensor.Cond(x, same, same, x)[0]
	},
	"While": func(x *tensor.Tensor) {
		_ = tensor.While(func(in []*tensor.Tensor) *tensor.Tensor { return in[0] },
			func(in []*tensor.Tensor) []*tensor.Tensor { return in }, x)[0]
	},
	"Scan": func(x *tensor.Tensor) {
		last, out := tensor.Scan(func(c, s []*tensor.Tensor) (next, out []*tensor.Tensor) { return c, s },
			[]*tensor.Tensor{x}, []*tensor.Tensor{x})
		_, _ = last[0], out
	},
}

// Whatever the second goroutine asks for, it gets something harmless and the trace
// the mistake.
func TestOverlapOfEveryKind(t *testing.T) {
	for name, ask := range asks {
		t.Run(name, func(t *testing.T) {
			m, err := meanwhile(t, func(x *tensor.Tensor) *tensor.Tensor { return x.Neg() }, ask)
			require.ErrorIs(t, err, tracer.Overlap)
			require.Nil(t, m)
		})
	}
}

// Eight goroutines do everything at once: no panic, no data race, no graph. Run it
// with -race.
func TestOverlapOfManyGoroutines(t *testing.T) {
	for range 20 {
		model := func(x *tensor.Tensor) *tensor.Tensor {
			var all sync.WaitGroup
			for range 4 {
				for _, ask := range asks {
					all.Add(1)
					go func() {
						defer all.Done()
						for range 5 {
							ask(x)
						}
					}()
				}
			}
			y := x
			for range 100 {
				y = y.Relu()
			}
			all.Wait()
			return y
		}
		m, err := (&tracer.Tracer{}).Trace(t.Context(), model)
		require.Error(t, err)
		require.Nil(t, m)
	}
}

// A goroutine that outlives an overlapped trace gets poison, one that outlives a
// sound trace is told.
func TestCallsAfterTheTrace(t *testing.T) {
	var kept *tensor.Tensor
	_, err := meanwhile(t, func(x *tensor.Tensor) *tensor.Tensor { return x.Neg() }, func(x *tensor.Tensor) { kept = x; x.Relu() })
	require.ErrorIs(t, err, tracer.Overlap)
	for name, ask := range asks {
		require.NotPanics(t, func() { ask(kept) }, name)
	}

	_, err = (&tracer.Tracer{}).Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor { kept = x; return x.Neg() })
	require.NoError(t, err)
	for name, ask := range asks {
		require.Panics(t, func() { ask(kept) }, "%s of a value of a trace that ended", name)
	}
}

// The model returns while another goroutine's call is being recorded. Whether the
// call is still recorded then is up to the scheduler: the longer it takes, the more
// certainly.
func TestModelReturnsWhileAnotherRecords(t *testing.T) {
	for wait := time.Millisecond; wait < time.Minute; wait *= 4 {
		recording := make(chan bool)
		p := tracer.Tracer{OnNode: func(*graph.Node, *tensor.Call) {
			close(recording)
			time.Sleep(wait)
		}}
		_, err := p.Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor {
			go x.Relu()
			<-recording
			return x
		})
		if err == nil {
			continue
		}
		require.ErrorIs(t, err, tracer.Overlap)
		require.Equal(t, "after the model had returned", list(t, err)[0].Related[0].Msg)
		return
	}
	t.Fatal("the call was never found")
}

// Handing a trace over is fine, and so are hooks and regions that record.
func TestOneAtATime(t *testing.T) {
	m, err := (&tracer.Tracer{}).Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor {
		for range 50 {
			done := make(chan *tensor.Tensor)
			go func() { done <- x.Relu() }()
			x = <-done
		}
		return x
	})
	require.NoError(t, err)
	require.Equal(t, 52, m.Graph.Len())

	p := tracer.Tracer{OnCall: func(c *tensor.Call, record func(*tensor.Call) []*tensor.Tensor) []*tensor.Tensor {
		if c.Op.Name != "relu" {
			return record(c)
		}
		x := c.Args[0]
		return []*tensor.Tensor{x.Abs().Add(x).DivScalar(float64(x.Size(0).Int()))}
	}}
	p.Inputs = []tracer.Input{{Name: "x", Type: shape.TensorType(array.F32, shape.ConstDims(2))}}
	m, err = p.Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor {
		relu := func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Relu()} }
		return tensor.Cond(x.Sum().GtScalar(0), relu, relu, x.Relu())[0]
	})
	require.NoError(t, err)
	text := graph.Print(m, graph.PrintOptions{})
	require.Contains(t, text, "abs")
	require.NotContains(t, text, "relu")
}

// A goroutine of the model that makes one mistake for ever is braked, too.
func TestBrakeInAnotherGoroutine(t *testing.T) {
	_, err := (&tracer.Tracer{}).Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor {
		done := make(chan bool)
		go func() {
			for range 200 {
				x.Item()
			}
			close(done)
		}()
		<-done
		return x.Neg()
	})
	require.ErrorIs(t, err, tracer.Brake)
	require.Len(t, list(t, err), 2)

	// A region's function that panics gives the trace back.
	_, err = (&tracer.Tracer{}).Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor {
		func() {
			defer func() { _ = recover() }()
			tensor.Cond(x, func([]*tensor.Tensor) []*tensor.Tensor { panic("then") }, nil, x)
		}()
		return x.Neg()
	})
	require.NoError(t, err)
}
