package tracer_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// sliced is a model whose code has the memory of its tensor as a slice, too.
type sliced struct {
	Acc  *tensor.Tensor
	data []float32
	run  func(m *sliced, x *tensor.Tensor) *tensor.Tensor
}

func (m *sliced) Forward(x *tensor.Tensor) *tensor.Tensor { return m.run(m, x) }

// add updates the state.
func (m *sliced) add(x *tensor.Tensor) *tensor.Tensor { return tensor.On(x, m.Acc).AddInPlace(x) }

// A graph does not see what Go code does with a slice of a tensor's memory that it has had since before the trace:
// writes that stand there when the trace has ended, and all use of memory that calls of the model write.
func TestSlicesOfState(t *testing.T) {
	slices := map[string]func(m *sliced){
		"of a parameter": func(m *sliced) {
			m.Acc = tensor.Param(tensor.Zeros(2).Array())
			m.data = tensor.Data[float32](m.Acc)
		},
		"of state": func(m *sliced) {
			m.Acc = tensor.StateParam(array.New(array.F32, 2))
			m.data = tensor.Data[float32](m.Acc)
		},
		"of a view": func(m *sliced) {
			m.Acc = tensor.Zeros(2)
			m.data = tensor.Data[float32](m.Acc.Reshape(2, 1))
		},
		"that the tensor was made of": func(m *sliced) {
			m.data = make([]float32, 2)
			m.Acc = tensor.FromSlice(m.data, 2)
		},
		"that a parameter was made of": func(m *sliced) {
			m.data = make([]float32, 4)
			m.Acc = tensor.Param(array.FromSlice(m.data[2:], 2))
		},
	}
	for name, c := range map[string]struct {
		run  func(m *sliced, x *tensor.Tensor) *tensor.Tensor
		want string // "" where the graph does as the code
	}{
		"a number that stood there": {func(m *sliced, x *tensor.Tensor) *tensor.Tensor {
			m.add(x)
			y := m.Acc.MulScalar(2)
			m.data[0] = 0
			return y
		}, "the field data of the model is a Go slice"},
		"a number is read": {func(m *sliced, x *tensor.Tensor) *tensor.Tensor {
			m.add(x)
			if m.data[len(m.data)-1] > 2 {
				return x
			}
			return x.Neg()
		}, "the field data of the model is a Go slice"},
		"another number": {func(m *sliced, x *tensor.Tensor) *tensor.Tensor {
			y := x.Mul(m.Acc)
			m.data[len(m.data)-1] += 3
			return y
		}, "wrote through a slice to the memory of its tensor acc"},
		"nothing is written": {func(m *sliced, x *tensor.Tensor) *tensor.Tensor { return x.Mul(m.Acc) }, ""},
		"a number of other memory": {func(m *sliced, x *tensor.Tensor) *tensor.Tensor {
			m.data = []float32{m.data[0] + 1}
			return x.Mul(m.Acc)
		}, ""},
	} {
		for kind, make := range slices {
			t.Run(name+", "+kind, func(t *testing.T) {
				m := &sliced{run: c.run}
				make(m)
				_, err := new(tracer.Tracer).Trace(context.Background(), m)
				if c.want == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, err, c.want)
				var d *diag.Error
				require.True(t, errors.As(err, &d))
				require.Equal(t, tracer.UnseenWrite, d.Code)
				require.NotZero(t, d.Pos.Line)
			})
		}
	}
}

// A tensor that is no state is fixed in the graph, with the values that are used of it. A call that uses them and then
// writes others would have those the next time.
func TestSlicesOfConstants(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(c *tensor.Tensor, data []float32, x *tensor.Tensor) *tensor.Tensor
		want string
	}{
		"used, then written": {func(c *tensor.Tensor, data []float32, x *tensor.Tensor) *tensor.Tensor {
			y := x.Mul(c)
			data[0]++
			return y
		}, "writes to a slice of a tensor's memory whose values it has used before"},
		"used, written, and used": {func(c *tensor.Tensor, data []float32, x *tensor.Tensor) *tensor.Tensor {
			y := x.Mul(c)
			data[0]++
			return y.Add(c)
		}, "writes to a slice of a tensor's memory whose values it has used before"},
		"written, then used": {func(c *tensor.Tensor, data []float32, x *tensor.Tensor) *tensor.Tensor {
			data[0] = 7
			return x.Mul(c)
		}, ""},
		"used, written, used, written back": {func(c *tensor.Tensor, data []float32, x *tensor.Tensor) *tensor.Tensor {
			y := x.Mul(c)
			was := data[0]
			data[0] = 7
			y = y.Mul(c)
			data[0] = was
			return y
		}, ""},
	} {
		for _, made := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				data := []float32{1, 2}
				k := tensor.FromSlice(data, 2)
				if made {
					k = tensor.Ones(2)
					data = tensor.Data[float32](k)
				}
				f := func(x *tensor.Tensor) *tensor.Tensor { return c.run(k, data, x) }
				_, err := new(tracer.Tracer).Trace(context.Background(), f)
				if c.want == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, err, c.want)
			})
		}
	}
}
