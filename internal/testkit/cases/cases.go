// Package cases holds small models that exercise capture: each is traced by the
// tests of the tracer and run in every engine by those of internal/testkit/conform, and
// compared with its eager run. It is user code: positions point into it.
package cases

import (
	"context"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/tensor"
)

// Case is one model with inputs.
type Case struct {
	Name string
	// Fn is the traced object: a function or a module.
	Fn   any
	Opts []fx.Option
	// Graph makes the graph of a case that no trace makes.
	Graph func() (*graph.Module, error)
	// Inputs are the flattened tensor inputs, one set a run.
	Inputs [][]*tensor.Tensor
	// Eager computes the flattened results without a trace.
	Eager func(in []*tensor.Tensor) []*tensor.Tensor
	// Opaque marks models that call wrapped Go functions, which kernel-style
	// code refuses; Untyped those of which one declares no types, so that plans refuse
	// them too.
	Opaque, Untyped bool
	// Regions marks models with control flow in the graph.
	Regions bool
	// Stateful marks models that write buffers.
	Stateful bool
	// Refused is the code with which a trace refuses a graph, "" for none.
	Refused diag.Code
}

// Module returns the graph of the case, which is traced unless it is given.
func (c *Case) Module(ctx context.Context) (*graph.Module, error) {
	if c.Graph != nil {
		return c.Graph()
	}
	gm, err := fx.Trace(ctx, c.Fn, c.Opts...)
	if err != nil {
		return nil, err
	}
	return gm.Module, nil
}

// ramp returns floats that vary in sign and size.
func ramp(shape ...int) *tensor.Tensor {
	a := array.New(array.F32, shape...)
	d := array.Data[float32](a)
	for i := range d {
		d[i] = float32((i*7)%11)*0.25 - 1.2
	}
	return tensor.New(a)
}

func one(f func(x *tensor.Tensor) *tensor.Tensor) func([]*tensor.Tensor) []*tensor.Tensor {
	return func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{f(in[0])} }
}

func sets(in ...*tensor.Tensor) [][]*tensor.Tensor {
	out := make([][]*tensor.Tensor, len(in))
	for i, x := range in {
		out[i] = []*tensor.Tensor{x}
	}
	return out
}

// Tied reads one weight under two names.
type Tied struct {
	Embed, Head *tensor.Tensor
}

// Forward projects x with a weight and back with the same one transposed.
func (m *Tied) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Linear(x, m.Embed, nil).Tanh().Matmul(m.Head)
}

// WeightNorm computes its weight from two parameters (Salimans & Kingma 2016).
type WeightNorm struct {
	V, G *tensor.Tensor
}

// Forward is a linear layer with weight g·v/|v|.
func (m *WeightNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	norm := m.V.Mul(m.V).SumWith(1, tensor.ReduceAttrs{KeepDim: true}).Sqrt()
	w := m.V.Mul(m.G.Div(norm))
	return x.Matmul(w.T())
}

// Pair is a structured argument and result.
type Pair struct {
	Left, Right *tensor.Tensor
	Scale       float64
}

// swap is structured in and out.
func swap(p Pair) (Pair, map[string]*tensor.Tensor) {
	return Pair{Left: p.Right.MulScalar(p.Scale), Right: p.Left}, map[string]*tensor.Tensor{"sum": p.Left.Add(p.Right)}
}

func variadic(xs ...*tensor.Tensor) *tensor.Tensor { return tensor.Cat(xs, 0) }

// Clip is opaque to traces.
func Clip(x *tensor.Tensor) *tensor.Tensor {
	d := append([]float32(nil), tensor.Data[float32](x)...)
	for i, v := range d {
		if v > 1 {
			d[i] = 1
		}
	}
	return tensor.FromSlice(d, x.Shape()...)
}

var clip = tensor.WrapPure(Clip)

// Peaks is opaque to traces: the greatest value of each row, and where it is.
func Peaks(x *tensor.Tensor) (value, index *tensor.Tensor) {
	rows, columns := x.Dim(0), x.Dim(1)
	values, at := make([]float32, rows), make([]int64, rows)
	for i, v := range tensor.Data[float32](x) {
		if r := i / columns; i%columns == 0 || v > values[r] {
			values[r], at[r] = v, int64(i%columns)
		}
	}
	return tensor.FromSlice(values, rows), tensor.FromSlice(at, rows)
}

var peaks = tensor.WrapPure(Peaks, tensor.Signature("f32[N,K] -> f32[N], i64[N]"))

func abovePeak(x *tensor.Tensor) *tensor.Tensor {
	value, index := peaks(x.Abs())
	return x.Sub(value.Unsqueeze(1)).Add(index.Unsqueeze(1))
}

// Swoosh is an operator of a user's package: one line.
var Swoosh = op.Unary("swoosh", "swoosh returns x·sigmoid(x-1).", func(b *expr.Builder, x expr.Value) expr.Value {
	return b.Mul(x, b.Sigmoid(b.Sub(x, b.Const(x.DType(), 1))))
})

// Counter counts its calls in a buffer.
type Counter struct {
	Calls *tensor.Tensor `fx:",buffer"`
}

// Forward adds the number of calls so far.
func (m *Counter) Forward(x *tensor.Tensor) *tensor.Tensor {
	calls := tensor.On(x, m.Calls)
	calls.AddScalarInPlace(1.0)
	return x.Add(calls)
}

// heads reshapes by sizes that are known only at run time.
func heads(x *tensor.Tensor) *tensor.Tensor {
	return x.Reshape(x.Size(0), x.Size(1), 2, x.Size(2).Div(2)).Transpose(1, 2).Reshape(x.Size(0).Mul(2), -1)
}

func positions(x *tensor.Tensor) *tensor.Tensor {
	p := tensor.Arange(x.Size(1), tensor.ArangeAttrs{DType: array.F32})
	return x.Add(p.MulScalar(0.5))
}

func inPlace(x *tensor.Tensor) *tensor.Tensor {
	y := x.MulScalar(2.0)
	y.AddInPlace(x)
	y.ReluInPlace()
	return y.SubScalar(1.0)
}
