package main

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"
)

//go:generate go tool -modfile=fxgen.mod fxgen gen -o streamnet -package streamnet -input logits=f32[N,10] .#Stream -new NewStream

// Stream smooths the logits of images that come one after the other, over calls: its
// buffers hold the earlier images.
type Stream struct {
	Mean  *tensor.Tensor `fx:"mean,buffer"`  // f32[10], which recent images count in most
	Calls *tensor.Tensor `fx:"calls,buffer"` // i64[], how many there were
}

// NewStream returns a Stream that has seen nothing.
func NewStream() *Stream {
	return &Stream{Mean: tensor.Zeros(10), Calls: tensor.New(array.New(array.I64))}
}

// Forward returns the means after each of the images.
func (m *Stream) Forward(logits *tensor.Tensor) *tensor.Tensor {
	last, means := tensor.Scan(func(carry, rows []*tensor.Tensor) (next, out []*tensor.Tensor) {
		mean := carry[0].MulScalar(0.75).Add(rows[0].MulScalar(0.25))
		return []*tensor.Tensor{mean}, []*tensor.Tensor{mean}
	}, []*tensor.Tensor{m.Mean}, []*tensor.Tensor{logits})
	m.Mean.AssignInPlace(last[0])
	m.Calls.AddScalarInPlace(1)
	return means[0]
}
