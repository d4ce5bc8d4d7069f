package tensor_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// later is an engine that computes when data is read: a value is how often it was written. Its
// lock is held while it flushes, as a session's is.
type later struct {
	sync.Mutex
	flushes int
}

func (l *later) Call(c *tensor.Call) []*tensor.Tensor {
	return []*tensor.Tensor{tensor.NewProxy(l, float32(0))}
}

func (l *later) Type(*tensor.Tensor) shape.Type {
	return shape.TensorType(array.F32, shape.ConstDims(2))
}

func (l *later) Observe(x *tensor.Tensor, _ string) *array.Array {
	l.Lock()
	defer l.Unlock()
	if v, ok := x.Value().(float32); ok {
		l.flushes++
		x.SetComputed(l, array.FromSlice([]float32{v, v}))
	}
	return x.Value().(*array.Array)
}

func (l *later) Assign(dst, _ *tensor.Tensor, _ string) { l.write(dst, 1) }

func (l *later) Gradient(*tensor.Tensor, []*tensor.Tensor, tensor.GradOptions) []*tensor.Tensor {
	panic("this engine keeps no calls")
}

// write records a write to a tensor.
func (l *later) write(x *tensor.Tensor, v float32) {
	l.Lock()
	defer l.Unlock()
	if _, pending := x.Value().(float32); pending {
		x.SetValue(v)
		return
	}
	x.SetRecorded(l, v)
}

// A flush moves a tensor under its handles: what is computed is read without the engine, and
// still belongs to it.
func TestCell_flush(t *testing.T) {
	l := &later{}
	x := tensor.NewProxy(l, float32(3))
	same := *x // another handle of the tensor
	require.Equal(t, []float32{3, 3}, tensor.Data[float32](x))
	require.Equal(t, "f32[2]", same.Type().String())
	require.Equal(t, []float32{3, 3}, tensor.Data[float32](&same))
	require.Contains(t, x.String(), "3")
	require.Equal(t, 1, l.flushes, "a computed tensor is read without the engine")
	require.Same(t, tensor.Engine(l), x.Engine())
	require.Same(t, tensor.Engine(l), x.Relu().Engine(), "calls on it are recorded")

	x.AddScalarInPlace(1)
	require.Equal(t, []float32{1, 1}, tensor.Data[float32](&same), "the write is seen through every handle")
	require.Equal(t, 2, l.flushes)

	x.SetEager()
	require.Nil(t, same.Engine())
	require.Equal(t, []float32{1, 1}, tensor.Data[float32](same.Relu()), "it is like any other tensor")
}

// An eager tensor, a parameter for instance, joins an engine with its handles and leaves it.
func TestCell_adopted(t *testing.T) {
	l := &later{}
	w := tensor.Param(array.FromSlice([]float32{1, 2}))
	id := w.ID()
	w.SetComputed(l, w.Value().(*array.Array))
	require.Same(t, tensor.Engine(l), w.Engine())
	require.Equal(t, []float32{1, 2}, tensor.Data[float32](w))
	w.AddScalarInPlace(1)
	require.Equal(t, []float32{1, 1}, tensor.Data[float32](w))
	w.SetEager()
	require.Equal(t, id, w.ID())
	require.Equal(t, float64(2), w.Sum().Item())
}

func TestCell_movesThatAreMistakes(t *testing.T) {
	l, other := &later{}, &later{}
	a := array.FromSlice([]float32{1, 2})
	for name, f := range map[string]func(){
		"eager to eager":       func() { tensor.New(a).SetEager() },
		"recorded to eager":    func() { tensor.NewProxy(l, float32(1)).SetEager() },
		"recorded to recorded": func() { tensor.NewProxy(l, float32(1)).SetRecorded(l, float32(1)) },
		"another engine's":     func() { tensor.NewProxy(l, float32(1)).SetComputed(other, a) },
		"computed twice": func() {
			x := tensor.NewProxy(l, float32(1))
			x.SetComputed(l, a)
			x.SetComputed(l, a)
		},
	} {
		require.Panics(t, f, name)
	}
	var e error
	func() {
		defer diag.Catch(&e)
		tensor.New(a).SetEager()
	}()
	require.ErrorContains(t, e, "a tensor that is eager cannot become eager here")
}

// Goroutines that read a tensor while an engine flushes and writes it see an engine together
// with its value: run with -race.
func TestCell_readWhileItMoves(t *testing.T) {
	l := &later{}
	x := tensor.NewProxy(l, float32(0))
	var readers sync.WaitGroup
	stop := make(chan bool)
	for range 4 {
		handle := *x
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				d := tensor.Data[float32](&handle)
				if len(d) != 2 || d[0] != d[1] || handle.Engine() == nil || handle.Type().Rank() != 1 {
					t.Error("half of a move was seen")
					return
				}
				_ = handle.String()
			}
		})
	}
	for i := range 2000 {
		l.write(x, float32(i))
	}
	close(stop)
	readers.Wait()
	require.Equal(t, []float32{1999, 1999}, tensor.Data[float32](x))
}
