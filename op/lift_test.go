package op_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

type decayAttrs struct {
	Rate  float64 `fx:",param"`
	Steps int     `fx:",param"`
	Odd   bool    `fx:",param"`
}

var decay = op.Define("test_decay", op.Spec[decayAttrs]{
	Doc: "test_decay returns x times (1 - rate), plus steps.",
	In:  op.Args("x"),
	Expr: func(b *expr.Builder, a decayAttrs, x []expr.Value) []expr.Value {
		if a.Rate == 0 || a.Odd {
			return []expr.Value{x[0]}
		}
		return []expr.Value{b.Add(b.Mul(x[0], b.Like(x[0], 1-a.Rate)), b.Like(x[0], float64(a.Steps)))}
	},
})

func ExampleOp_Lift() {
	l, ok := decay.Lift(decayAttrs{Rate: 0.25, Steps: 7}, []shape.Type{shape.TensorType(array.F32, shape.ConstDims(3))})
	fmt.Println(ok, len(l.Op.In), array.Float64At(l.Values[0], 0), array.Float64At(l.Values[1], 0))
	// Output: true 3 0.75 7
}

func TestLift(t *testing.T) {
	x := []shape.Type{shape.TensorType(array.F32, shape.ConstDims(3))}
	a, ok := decay.Lift(decayAttrs{Rate: 0.25, Steps: 7}, x)
	require.True(t, ok)
	b, ok := decay.Lift(decayAttrs{Rate: 0.5, Steps: -2}, x)
	require.True(t, ok)
	require.True(t, decay.Codec().Equal(a.Attrs, b.Attrs), "no value is left")
	with := append(x, shape.TensorType(array.F32, shape.ConstDims()), shape.TensorType(array.F32, shape.ConstDims()))
	one, err := a.Op.Expression(a.Attrs, with)
	require.NoError(t, err)
	two, err := b.Op.Expression(b.Attrs, with)
	require.NoError(t, err)
	require.Equal(t, one.String(), two.String())

	in := array.FromSlice([]float32{1, 2, 3})
	want, err := decay.Eval(&kernel.Workspace{}, decayAttrs{Rate: 0.25, Steps: 7}, []*array.Array{in})
	require.NoError(t, err)
	got, err := a.Op.Eval(&kernel.Workspace{}, a.Attrs, []*array.Array{in, a.Values[0], a.Values[1]})
	require.NoError(t, err)
	require.Equal(t, array.Data[float32](want[0]), array.Data[float32](got[0]))

	for name, attrs := range map[string]decayAttrs{
		"another expression":                 {Rate: 0, Steps: 7},
		"other constants":                    {Rate: 0.25 - 7, Steps: 8},
		"an expression that a truth selects": {Rate: 0.25, Steps: 7, Odd: true},
		"one constant of two":                {Rate: -6, Steps: 7},
	} {
		_, ok := decay.Lift(attrs, x)
		require.Equal(t, name == "other constants", ok, name)
	}
	_, ok = op.Lookup("getitem").Lift(op.GetItemAttrs{}, x)
	require.False(t, ok)
	_, ok = decay.Lift(decayAttrs{Rate: 1, Steps: 1}, []shape.Type{shape.TensorType(array.Bool, shape.ConstDims(1))})
	require.False(t, ok, "operands that the operator refuses, or that have no such constants")
}
