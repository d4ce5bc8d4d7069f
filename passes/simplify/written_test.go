package simplify_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// put is an operator of a user's that writes its first operand.
var put = op.Define("put", op.Spec[op.None]{
	Doc: "put adds src to x in place and returns the sum.", In: op.Args("x", "src"), Mutates: []int{0},
	Infer:  func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
	Kernel: func(op.None, []shape.Type) kernel.Step { return putStep{} },
})

// putTo is put with the operands the other way round, so that a module can hold what is
// written.
var putTo = op.Define("put_to", op.Spec[op.None]{
	Doc: "put_to adds x to w in place and returns the sum.", In: op.Args("x", "w"), Mutates: []int{1},
	Infer:  func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
	Kernel: func(op.None, []shape.Type) kernel.Step { return putToStep{} },
})

type putToStep struct{}

// Run implements kernel.Step.
func (putToStep) Run(w *kernel.Workspace, out, in []*array.Array) {
	putStep{}.Run(w, out, []*array.Array{in[1], in[0]})
}

type putStep struct{}

// Run implements kernel.Step.
func (putStep) Run(w *kernel.Workspace, out, in []*array.Array) {
	for i := range in[0].Len() {
		array.SetFloat64At(in[0], i, array.Float64At(in[0], i)+array.Float64At(in[1], i))
		array.SetFloat64At(out[0], i, array.Float64At(in[0], i))
	}
}

// writing is a graph in which memory made by a factory is written, through a view
// or not.
func writing(view bool) *graph.Module {
	g := graph.New("writing")
	m := graph.NewModule(g)
	c := g.At()
	x := c.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(3)), nil)
	zeros := func() *graph.Node { return c.Function(std.Zeros, tensor.SizeAttrs{Size: shape.ConstDims(3)}) }
	a, b := zeros(), zeros()
	before := c.Function(std.Exp, nil, a)
	to := a
	if view {
		to = c.Function(std.Reshape, tensor.ReshapeAttrs{Shape: shape.ConstDims(3)}, a)
	}
	c.Function(put, nil, to, x)
	after := c.Function(std.Exp, nil, a)
	c.Output(nil, c.Function(std.Cat, tensor.DimAttrs{}, a, b, before, after))
	return m
}

func TestCSE_writtenMemoryKeepsItsIdentity(t *testing.T) {
	in := tensor.FromSlice([]float32{1, 2, 3})
	for _, view := range []bool{false, true} {
		for _, p := range []passes.Pass{simplify.CSE, simplify.ConstFold, simplify.DCE} {
			want := run(t, writing(view), in)
			require.Equal(t, []float32{1, 2, 3, 0, 0, 0}, want[:6])
			m := writing(view)
			_, err := passes.Run(context.Background(), m, []passes.Pass{p}, passes.Options{})
			require.NoError(t, err)
			require.Equal(t, want, run(t, m, in), "%s, through a view %v", p.Name, view)
		}
	}
}

func run(t *testing.T, m *graph.Module, in *tensor.Tensor) []float32 {
	t.Helper()
	p := interp.Interpreter{State: interp.NewState(m)}
	out, err := p.Run(context.Background(), in)
	require.NoError(t, err)
	return tensor.Data[float32](out[0])
}
