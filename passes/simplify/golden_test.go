package simplify_test

import (
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

func TestGoldens(t *testing.T) {
	for _, p := range []passes.Pass{simplify.DCE, simplify.CSE, simplify.Functionalize, simplify.ConstFold, simplify.Decompose, simplify.Identity, simplify.Algebra, simplify.Normalise} {
		t.Run(p.Name, func(t *testing.T) { passtest.Golden(t, "testdata/"+p.Name, p) })
	}
}

// An operator whose result's size depends on data.
var _ = op.Define("nonzero", op.Spec[op.None]{
	Doc: "nonzero is a test of data-dependent sizes.", In: op.Args("x"),
	Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		return shape.TensorType(array.I64, shape.Of(shape.Unknown, shape.Const(max(in[0].Rank(), 0)))), nil
	},
	Kernel: func(op.None, []shape.Type) kernel.Step { return nil },
})

// An operator whose result differs from call to call.
var _ = op.Define("draw", op.Spec[op.None]{
	Doc: "draw is a test of random operators without a key.", In: op.Args("x"), Effect: op.Random,
	Infer:  func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
	Kernel: func(op.None, []shape.Type) kernel.Step { return nil },
})
