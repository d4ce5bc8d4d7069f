package onnx

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/onnx/internal/importer"
)

// rated chooses a branch by a value, as voice detectors do by the rate of samples.
func rated(then, other string) *File {
	return fromText(head + `(float[B,T] x, int64 rate) => (float y) <int64 k = {16}, int64[1] a = {1}> { e = Equal(rate, k)
		y = If<then_branch = t () => (float r) { r = ` + then + ` }, else_branch = f () => (float r) { r = ` + other + ` }>(e) }`)
}

// TestValuesChooseBranches: a value that chooses between a branch and one that is refused is bound where
// it is given, and asked for where it is not.
func TestValuesChooseBranches(t *testing.T) {
	f := rated("Neg(x)", "Odd(x)")
	x := numbers(7, 2, 3)
	m, bound, err := f.ImportFor(map[string]*array.Array{"x": x, "rate": array.Scalar(int64(16))}, Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"rate"}, bound)
	out, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(context.Background(), []*array.Array{x})
	require.NoError(t, err)
	require.Equal(t, -array.Data[float32](x)[4], array.Data[float32](out[0])[4])

	_, _, err = f.ImportFor(map[string]*array.Array{"x": x, "rate": array.Scalar(int64(8))}, Options{})
	require.ErrorIs(t, err, CodeOperator)
	require.NotContains(t, err.Error(), "which branch is taken", "it is known")

	_, err = f.Import(Options{})
	require.ErrorIs(t, err, CodeOperator)
	require.ErrorContains(t, err, `which branch is taken follows from "rate"`)
	require.Equal(t, []string{"rate"}, importer.NeedsValues(err))

	// The content of x is not a value to bind.
	f = fromText(head + `(float[B,T] x) => (float y) <float z = {0.0}> { m = ReduceMax<keepdims=0>(x) e = Greater(m, z)
		y = If<then_branch = t () => (float r) { r = Neg(x) }, else_branch = f () => (float r) { r = Odd(x) }>(e) }`)
	_, bound, err = f.ImportFor(map[string]*array.Array{"x": x}, Options{})
	require.ErrorIs(t, err, CodeOperator)
	require.Empty(t, bound)
	require.Empty(t, importer.NeedsValues(err))
}

// TestValuesDecideRanks: with the value the rank is known and there is a plan; without it the interpreter
// decides in the run.
func TestValuesDecideRanks(t *testing.T) {
	f := rated("Unsqueeze(x, a)", "Identity(x)")
	x := numbers(7, 2, 3)
	open, err := f.Import(Options{})
	require.NoError(t, err)
	for rate, want := range map[int64][]int{16: {2, 1, 3}, 8: {2, 3}} {
		in := []*array.Array{x, array.Scalar(rate)}
		m, bound, err := f.ImportFor(map[string]*array.Array{"x": in[0], "rate": in[1]}, Options{})
		require.NoError(t, err)
		require.Equal(t, []string{"rate"}, bound)
		e, err := cpu.Compile(m, lowering.Options{})
		require.NoError(t, err)
		out, err := e.Run(context.Background(), in[:1])
		require.NoError(t, err)
		require.Equal(t, want, out[0].Shape())
		out, err = (&interp.Interpreter{State: interp.NewState(open)}).RunArrays(context.Background(), in)
		require.NoError(t, err)
		require.Equal(t, want, out[0].Shape())
	}
}

// TestQuestionMarksNameNoSize: some exporters write ? for each size that they do not know.
func TestQuestionMarksNameNoSize(t *testing.T) {
	f := fromText(head + `(float[B,C] x) => (float[B,C] y) { y = Neg(x) }`)
	for i := range f.f.Model.Graph.Inputs[0].Type.Tensor.Shape.Dims {
		f.f.Model.Graph.Inputs[0].Type.Tensor.Shape.Dims[i].Param = "?"
	}
	m, err := f.Import(Options{})
	require.NoError(t, err)
	typ := m.Graph.Inputs()[0].Type()
	require.False(t, typ.Dim(0).Equal(typ.Dim(1)), typ.String())
	out, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(context.Background(), []*array.Array{numbers(7, 2, 3)})
	require.NoError(t, err)
	require.Equal(t, []int{2, 3}, out[0].Shape())
}
