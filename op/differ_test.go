package op_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/op/std"
)

type differAttrs struct{ Scale float64 }

var differing = op.Define("example_differing", op.Spec[differAttrs]{
	Doc: "example_differing is x.", In: op.Args("x"),
	Expr: func(_ *expr.Builder, _ differAttrs, x []expr.Value) []expr.Value { return x },
	Differs: []op.Difference[differAttrs]{
		{Kind: op.Extends, Text: "integers", When: func(_ differAttrs, in []*array.Array) bool { return in[0].DType().IsInt() }},
		{Kind: op.Alters, Text: "a scale of 2", When: func(a differAttrs, _ []*array.Array) bool { return a.Scale == 2 }},
		{Kind: op.Alters, Text: "the sign of zero"},
	},
})

func TestDepartures(t *testing.T) {
	ints, floats := []*array.Array{array.New(array.I32, 2)}, []*array.Array{array.New(array.F32, 2)}
	require.Equal(t, []op.NamedDifference{{Kind: op.Extends, Text: "integers"}, {Kind: op.Alters, Text: "a scale of 2"},
		{Kind: op.Alters, Text: "the sign of zero"}}, differing.Differences())
	require.Equal(t, []string{"integers"}, differing.Departs(op.Extends, differAttrs{}, ints))
	require.Empty(t, differing.Departs(op.Extends, differAttrs{}, floats))
	require.Empty(t, differing.Departs(op.Refuses, differAttrs{}, ints))
	require.Equal(t, []string{"a scale of 2", "the sign of zero"}, differing.Departs(op.Alters, differAttrs{Scale: 2}, floats))
	require.Equal(t, []string{"the sign of zero"}, differing.Departs(op.Alters, differAttrs{}, floats))
	require.Equal(t, []string{op.Everywhere()[0].Text}, differing.Departs(op.Refuses, differAttrs{}, []*array.Array{nil, array.New(array.F32, 0)}))
	for _, size := range []int{1 << 31, -1<<31 - 1} {
		require.Equal(t, []string{op.Everywhere()[1].Text}, std.Unfold.Departs(op.Refuses, std.UnfoldAttrs{Stride: op.IntList(1, size)}, floats))
	}
	require.Empty(t, std.Unfold.Departs(op.Refuses, std.UnfoldAttrs{Stride: op.IntList(1, 1<<31-1)}, floats))
}

// Operands that are absent at the end may be left out, of every operator.
func TestDeparturesOfAbsentOperands(t *testing.T) {
	for _, o := range op.All() {
		for _, s := range o.Samples() {
			short := s.In
			for len(short) > 0 && short[len(short)-1] == nil {
				short = short[:len(short)-1]
			}
			for _, kind := range []op.Departure{op.Extends, op.Refuses, op.Alters} {
				require.Equal(t, o.Departs(kind, s.Attrs, s.In), o.Departs(kind, s.Attrs, short), "%s: %s", o.Name, s.Name)
			}
		}
	}
	x, w, scale := array.New(array.F32, 2, 3), array.New(array.I8, 4, 3), array.New(array.F32, 4)
	require.Empty(t, std.Int8Linear.Departs(op.Alters, op.None{}, []*array.Array{x, w, scale}))
	array.SetFloat64At(x, 0, math.Inf(1))
	require.NotEmpty(t, std.Int8Linear.Departs(op.Alters, op.None{}, []*array.Array{x, w, scale}))
}

// What is composed of others names what that does to narrow floats.
func TestComposedDepartures(t *testing.T) {
	narrow := []*array.Array{array.New(array.BF16, 2, 3)}
	require.True(t, std.Normalize.Composite())
	require.NotEmpty(t, std.Normalize.Departs(op.Alters, std.NormalizeAttrs{P: 2}, narrow))
	require.Empty(t, std.Normalize.Departs(op.Alters, std.NormalizeAttrs{P: 2}, []*array.Array{array.New(array.F32, 2, 3)}))
	require.Empty(t, std.Relu.Departs(op.Alters, op.None{}, narrow))
}

// Every difference is a sentence that its kind begins, said once.
func TestDifferencesRead(t *testing.T) {
	for _, o := range op.All() {
		seen := map[op.NamedDifference]bool{}
		for _, d := range o.Differences() {
			require.NotEmpty(t, d.Text, o.Name)
			require.NotContains(t, ".,;: ", d.Text[len(d.Text)-1:], "%s: %s", o.Name, d.Text)
			require.False(t, seen[d], "%s: %s", o.Name, d.Text)
			seen[d] = true
		}
	}
}
