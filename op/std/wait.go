package std

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Wait is x itself. It stands where a schedule blocks until whoever computes x
// elsewhere has done so (passes/schedule), which is why passes neither remove it nor move it.
//
//gofx:torch x.view_as(x)
var Wait = op.Define("wait", op.Spec[op.None]{
	Doc: "wait is x, once whatever computes it elsewhere has done so.", In: op.Args("x"),
	Class: op.Movement, Effect: op.Effectful, ViewOf: 1, Quant: op.QuantShared, Narrow: true,
	Infer:   func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
	Kernel:  reshapeStep[op.None],
	Scatter: func(_ op.Builder, _ op.None, _ int, _, v op.Value) op.Value { return v },
	Samples: waitSamples,
	Bad:     waitBad,
})
