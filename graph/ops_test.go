package graph

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// Operators of the tests, so that these do not depend on the library's.
var (
	tView = op.Define("view", op.Spec[op.None]{Doc: "view is a test.", In: op.Args("x"), ViewOf: 1,
		Infer:  func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
		Kernel: func(op.None, []shape.Type) kernel.Step { return nil }})
	tNeg = op.Define("neg", op.Spec[op.None]{Doc: "neg is a test.", In: op.Args("x"),
		Expr: func(b *expr.Builder, _ op.None, x []expr.Value) []expr.Value {
			return []expr.Value{b.Sub(b.Sub(x[0], x[0]), x[0])}
		}})
	tAdd = op.Define("add", op.Spec[tAddAttrs]{Doc: "add is a test.", In: op.Args("a", "b"),
		Expr: func(b *expr.Builder, _ tAddAttrs, x []expr.Value) []expr.Value {
			return []expr.Value{b.Add(x[0], x[1])}
		}})
	tLinear = op.Define("linear", op.Spec[op.None]{Doc: "linear is a test.", In: op.Args("x", "weight", "bias?"),
		Infer: func(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
			if !in[0].Ranked() || !in[1].Ranked() {
				return shape.Unranked(in[0].DType()), nil
			}
			if _, err := c.Equal(in[0].Dim(-1), in[1].Dim(1), op.SizeMismatch, func() string {
				return "x has " + in[0].Dim(-1).String() + " features, weight expects " + in[1].Dim(1).String()
			}); err != nil {
				return shape.Type{}, err
			}
			return in[0].WithDims(in[0].Dims().With(-1, in[1].Dim(0))), nil
		},
		Kernel: func(op.None, []shape.Type) kernel.Step { return nil }})
	_ = op.Define("split", op.Spec[tSplitAttrs]{Doc: "split is a test.", In: op.Args("x"),
		Infer: func(_ *op.Infer, a tSplitAttrs, in []shape.Type) (shape.Type, error) {
			m := make([]shape.Type, a.Sizes.Len())
			for i := range m {
				m[i] = in[0].WithDims(in[0].Dims().With(0, a.Sizes.At(i)))
			}
			return shape.TupleType(m...), nil
		},
		Kernel: func(tSplitAttrs, []shape.Type) kernel.Step { return nil }})
	tNonzero = op.Define("nonzero", op.Spec[op.None]{Doc: "nonzero is a test.", In: op.Args("x"),
		Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
			return shape.TensorType(array.I64, shape.Of(shape.Unknown, shape.Const(max(in[0].Rank(), 0)))), nil
		},
		Kernel: func(op.None, []shape.Type) kernel.Step { return nil }})
	tPrint = op.Define("print", op.Spec[op.None]{Doc: "print is a test.", In: op.Args("x"), Effect: op.Effectful,
		Infer:  func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
		Kernel: func(op.None, []shape.Type) kernel.Step { return nil }})
	_ = op.Define("cat", op.Spec[op.None]{Doc: "cat is a test.", In: op.Args("xs..."),
		Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
			if len(in) == 0 {
				return shape.Type{}, nil
			}
			return in[0].WithDims(in[0].Dims().With(0, shape.Unknown)), nil
		},
		Kernel: func(op.None, []shape.Type) kernel.Step { return nil }})
	_ = op.Define("twice", op.Spec[op.None]{Doc: "twice is a test.", In: op.Args("x"),
		Decompose: func(b op.Builder, _ op.None, in []op.Value) op.Value { return b.Call(tAdd, tAddAttrs{}, in[0], in[0]) }})
	_ = op.Define("panic", op.Spec[op.None]{Doc: "panic is a test of rules that fail.", In: op.Args("x"),
		Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
			return in[0], diag.New(op.BadAttr, strings.Repeat("x", in[7].Rank()))
		},
		Kernel: func(op.None, []shape.Type) kernel.Step { return nil }})
)

type tAddAttrs struct {
	Alpha float64
	Mode  string    `fx:",enum=a|b"`
	Value op.Scalar `fx:",param"`
}

type tSplitAttrs struct{ Sizes shape.Dims }

const tPath = "github.com/gofx-dev/gofx/graph."

// text lets tests write @add for the key of a test operator.
func text(s string) string {
	for _, name := range []string{"neg", "add", "linear", "split", "nonzero", "print", "cat", "twice", "panic", "view"} {
		s = strings.ReplaceAll(s, "@"+name, tPath+name)
	}
	return s
}

// parse reads a text that must be right; "gofx 1" may be left out.
func parse(t require.TestingT, s string) *Module {
	if h, ok := t.(*testing.T); ok {
		h.Helper()
	}
	if !strings.HasPrefix(s, "gofx") {
		s = "gofx 1\n" + s
	}
	m, err := Parse([]byte(text(s)), "t.fx")
	require.NoError(t, err)
	return m
}
