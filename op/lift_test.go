package op_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
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

// A call at a position is a call on operands, whatever the position is.
func TestLift_positions(t *testing.T) {
	x := []shape.Type{shape.TensorType(array.F32, shape.ConstDims(3))}
	l, ok := pickOne.Lift(pickAttrs{At: -1}, x)
	require.True(t, ok)
	require.Equal(t, pickAttrs{}, l.Attrs)
	require.Equal(t, int64(2), array.Data[int64](l.Values[0])[0])
	at, ok := l.Join(l.Attrs)
	require.True(t, ok)
	require.Equal(t, pickAttrs{At: 2}, at)
	_, ok = pickOne.Lift(pickAttrs{At: 1}, []shape.Type{shape.Unranked(array.F32)})
	require.False(t, ok, "no size is known")

	number, ok := decay.Lift(decayAttrs{Rate: 0.25, Steps: 7}, x)
	require.True(t, ok)
	_, ok = number.Join(number.Attrs)
	require.False(t, ok, "a number is no position")
	require.True(t, pickOne.Lifts())
	require.False(t, op.Lookup("getitem").Lifts())
}

type pickAttrs struct{ At int }

var pickOne = op.Define("test_pick", op.Spec[pickAttrs]{
	Doc: "test_pick takes one element of a vector.",
	In:  op.Args("x"),
	Infer: func(_ *op.Infer, _ pickAttrs, in []shape.Type) (shape.Type, error) {
		return shape.TensorType(in[0].DType(), shape.ConstDims()), nil
	},
	Kernel: func(a pickAttrs, _ []shape.Type) kernel.Step { return &kernel.Select{Index: a.At} },
	Lift: &op.Positions[pickAttrs]{
		Split: func(a pickAttrs, in []shape.Type) (pickAttrs, []int, bool) {
			n, ok := in[0].Dim(0).Int()
			return pickAttrs{}, []int{(a.At + n) % max(n, 1)}, ok
		},
		Join: func(_ pickAttrs, at []int) pickAttrs { return pickAttrs{at[0]} },
		Call: func(b op.Builder, _ pickAttrs, in, at []op.Value) op.Value { return b.Call(decay, nil, in[0], at[0]) },
	},
})

// TestDefine_liftOfOtherAttributes: the compiler does not compare the types of a record and its Lift.
func TestDefine_liftOfOtherAttributes(t *testing.T) {
	require.PanicsWithError(t, diag.Bug("op.Define test_strange: Lift is for attributes op_test.pickAttrs, the operator has op.None").Error(), func() {
		op.Define("test_strange", op.Spec[op.None]{
			Doc: "test_strange has positions of another operator.", In: op.Args("x"),
			Expr: func(_ *expr.Builder, _ op.None, x []expr.Value) []expr.Value { return x },
			Lift: &op.Positions[pickAttrs]{},
		})
	})
}

func TestDefine_liftIsNil(t *testing.T) {
	var none *op.Positions[op.None]
	o := op.Define("test_no_positions", op.Spec[op.None]{
		Doc: "test_no_positions has a Lift that holds nil.", In: op.Args("x"), Lift: none,
		Expr: func(_ *expr.Builder, _ op.None, x []expr.Value) []expr.Value { return x },
	})
	require.False(t, o.Lifts())
}

type sizedAttrs struct {
	To   shape.Dims
	By   shape.Dim
	Mode string
}

// TestSkeleton takes the sizes out of attributes and puts others in.
func TestSkeleton(t *testing.T) {
	c := op.Define("test_sized", op.Spec[sizedAttrs]{
		Doc: "test_sized has sizes.", In: op.Args("x"),
		Expr: func(_ *expr.Builder, _ sizedAttrs, x []expr.Value) []expr.Value { return x },
	}).Codec()
	n := shape.Sym("N")
	a := sizedAttrs{To: shape.Of(shape.Const(3), n, shape.Const(-1)), By: shape.Const(7), Mode: "m"}
	key, sizes := c.AppendSkeleton(nil, a, []int{1})
	require.Equal(t, []int{1, 3, -1, 7}, sizes)
	b, left := c.Resized(a, []shape.Dim{shape.Const(4), n.AddInt(1), shape.Const(8), n})
	require.Equal(t, []shape.Dim{n}, left)
	require.Equal(t, sizedAttrs{To: shape.Of(shape.Const(4), n, n.AddInt(1)), By: shape.Const(8), Mode: "m"}, b)
	same, _ := c.AppendSkeleton(nil, sizedAttrs{To: shape.Of(shape.Const(5), n, shape.Const(9)), By: shape.Const(0), Mode: "m"}, nil)
	require.Equal(t, key, same)
	for _, other := range []sizedAttrs{{To: a.To, By: a.By}, {To: a.To.With(0, n), By: a.By, Mode: "m"}, {To: shape.Of(n, n), By: a.By, Mode: "m"}, {To: a.To, By: n, Mode: "m"}} {
		not, _ := c.AppendSkeleton(nil, other, nil)
		require.NotEqual(t, key, not, other)
	}
}
