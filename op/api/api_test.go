package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
	"github.com/gofx-dev/gofx/op/std"
)

func TestSignatures(t *testing.T) {
	for _, c := range []struct {
		op   *op.Op
		want []string
	}{
		{std.Relu, []string{"Relu(x *Tensor) *Tensor"}},
		{std.Mul, []string{"Mul(x, other *Tensor) *Tensor", "MulScalar(x *Tensor, v any) *Tensor"}},
		{std.Sub, []string{
			"Sub(x, other *Tensor, opts ...SubAttrs) *Tensor",
			"SubScalar(x *Tensor, v any, opts ...SubAttrs) *Tensor",
			"RSubScalar(x *Tensor, v any, opts ...SubAttrs) *Tensor"}},
		{std.Where, []string{"Where(cond, x, other *Tensor) *Tensor", "WhereScalar(cond, x *Tensor, v any) *Tensor"}},
		{std.Cat, []string{"Cat(tensors []*Tensor, dim int) *Tensor"}},
		{std.Reshape, []string{"Reshape(x *Tensor, shape ...any) *Tensor"}},
		{std.Unflatten, []string{"Unflatten(x *Tensor, dim int, sizes ...any) *Tensor"}},
		{std.LayerNorm, []string{"LayerNorm(x, weight, bias *Tensor, normalizedShape any, eps float64) *Tensor"}},
		{std.Movedim, []string{"Movedim(x *Tensor, source any, destination ...int) *Tensor"}},
		{std.MaxDim, []string{"MaxDim(x *Tensor, dim int, opts ...MinMaxAttrs) (values, indices *Tensor)"}},
		{std.Split, []string{"Split(x *Tensor, sizes any, dim int) []*Tensor"}},
		{std.Cast, []string{"Cast(x *Tensor, dtype array.DType, opts ...CastAttrs) *Tensor"}},
		{std.Mean, []string{"Mean(x *Tensor, dim ...int) *Tensor", "MeanWith(x *Tensor, dim any, attrs ReduceAttrs) *Tensor"}},
		{std.Norm, []string{"Norm(x *Tensor, p any, dim ...int) *Tensor", "NormWith(x *Tensor, p, dim any, attrs NormAttrs) *Tensor"}},
		{std.Ones, []string{"Ones(size ...any) *Tensor", "OnesWith(size any, attrs SizeAttrs) *Tensor"}},
		{std.Roll, []string{"Roll(x *Tensor, shifts any, dims ...int) *Tensor"}},
		{std.MaxPool2d, []string{"MaxPool2d(x *Tensor, kernelSize any, opts ...MaxPoolAttrs) *Tensor"}},
		{std.AdaptiveAvgPool2d, []string{"AdaptiveAvgPool2d(x *Tensor, outputSize ...int) *Tensor"}},
		{std.Gru, []string{"Gru(x, h0 *Tensor, weights []*Tensor, opts ...LstmAttrs) (output, hN *Tensor)"}},
		{std.Arange, []string{"Arange(end any, opts ...ArangeAttrs) *Tensor"}},
	} {
		var got []string
		for _, f := range api.Of(c.op) {
			got = append(got, f.Signature())
		}
		require.Equal(t, c.want, got)
	}
}

func TestMethods(t *testing.T) {
	forms := api.Of(std.Sub)
	require.Equal(t, []string{"SubInPlace", "SubScalarInPlace", ""}, []string{forms[0].InPlace, forms[1].InPlace, forms[2].InPlace})
	require.Equal(t, []string{"Other", "Reverse"}, forms[0].Cleared())
	require.Equal(t, []string{"Reverse"}, forms[1].Cleared())
	require.True(t, forms[2].Method)
	require.False(t, api.Of(std.Cat)[0].Method, "a list has no receiver")
	require.False(t, api.Of(std.Arange)[0].Method)
	require.Equal(t, "OutputSize", api.Of(std.AdaptiveAvgPool2d)[0].Params[1].Field)
}

func TestEveryOperatorHasADistinctGoName(t *testing.T) {
	seen := map[string]string{}
	for _, o := range api.Ops() {
		for _, f := range api.Of(o) {
			require.Empty(t, seen[f.Name], "%s of %s", f.Name, o.Name)
			seen[f.Name] = o.Name
			names := map[string]bool{}
			for _, p := range f.Params {
				require.False(t, names[p.Name], "%s: two parameters %s", f.Name, p.Name)
				names[p.Name] = true
				require.True(t, (p.Operand == "") != (p.Field == ""), "%s: %s", f.Name, p.Name)
			}
		}
	}
	require.NotContains(t, seen, "Getitem")
}

// Every call has a function unless it sets what a form leaves zero, and the first one that
// fits is the shortest.
func TestFits(t *testing.T) {
	for _, c := range []struct {
		op    *op.Op
		attrs any
		want  string
	}{
		{std.Sum, std.ReduceAttrs{Dim: op.IntList(1)}, "Sum"},
		{std.Sum, std.ReduceAttrs{Dim: op.IntList(1), KeepDim: true}, "SumWith"},
		{std.Sub, std.SubAttrs{Alpha: op.Int(2)}, "Sub"},
		{std.Sub, std.SubAttrs{Other: op.Int(2)}, "SubScalar"},
		{std.Sub, std.SubAttrs{Other: op.Int(2), Reverse: true}, "RSubScalar"},
		{std.Sub, std.SubAttrs{Reverse: true}, ""},
		{std.Pad, std.PadAttrs{Value: 1}, "PadWith"},
		{std.MaxPool2d, std.MaxPoolAttrs{KernelSize: op.IntList(2), CeilMode: true}, "MaxPool2d"},
	} {
		got := ""
		for _, f := range api.Of(c.op) {
			if got == "" && f.Fits(c.attrs) {
				got = f.Name
			}
		}
		require.Equal(t, c.want, got, "%s %+v", c.op.Name, c.attrs)
	}
}

func TestGiven(t *testing.T) {
	for _, c := range []struct {
		op    *op.Op
		attrs any
		given int
	}{
		{std.Sub, std.SubAttrs{}, 0},
		{std.Sub, std.SubAttrs{Alpha: op.Int(2)}, 1},
		{std.Relu, op.None{}, 0},
		{std.MaxPool2d, std.MaxPoolAttrs{KernelSize: op.IntList(2), Stride: op.IntList(1), CeilMode: true}, 2},
	} {
		require.Len(t, api.Of(c.op)[0].Given(c.attrs), c.given, c.op.Name)
	}
}
