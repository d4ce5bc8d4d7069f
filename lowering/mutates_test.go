package lowering_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// addTo is an operator of a user's that writes its first operand.
var addTo = op.Define("add_to", op.Spec[op.None]{
	Doc: "add_to adds src to x in place and returns the sum.", In: op.Args("x", "src"), Mutates: []int{0},
	Infer:  func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
	Kernel: func(op.None, []shape.Type) kernel.Step { return addStep{} },
})

type addStep struct{}

// Run implements kernel.Step.
func (addStep) Run(_ *kernel.Workspace, out, in []*array.Array) {
	for i := range in[0].Len() {
		array.SetFloat64At(in[0], i, array.Float64At(in[0], i)+array.Float64At(in[1], i))
		array.SetFloat64At(out[0], i, array.Float64At(in[0], i))
	}
}

// TestOperatorsThatWriteOperands: a plan gives values memory that others use before and after,
// so that it refuses such a call; a split of two targets runs it as the interpreter does.
func TestOperatorsThatWriteOperands(t *testing.T) {
	g := graph.New("writing")
	m := graph.NewModule(g)
	c := g.At()
	x := c.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(3)), nil)
	a := c.Function(std.Neg, nil, x)
	before := c.Function(std.Exp, nil, a)
	c.Function(addTo, nil, a, x)
	after := c.Function(std.Exp, nil, a)
	c.Output(nil, c.Function(std.Cat, std.DimAttrs{}, before, after, c.Function(std.Relu, nil, a)))

	_, err := cpu.Compile(m, lowering.Options{})
	require.ErrorContains(t, err, "it writes an operand in place")

	in := []*array.Array{array.FromSlice([]float32{1, 2, 3}, 3)}
	want, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(context.Background(), in)
	require.NoError(t, err)
	exe, err := lowering.Split{First: cpu.Target{}, Rest: cpu.Target{}}.Compile(m, lowering.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, exe.Close()) }()
	for range 2 {
		got, err := exe.Run(context.Background(), in)
		require.NoError(t, err)
		require.True(t, array.Equal(want[0], got[0]), "%v, want %v", got[0], want[0])
	}
}
