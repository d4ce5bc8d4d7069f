// Package userop stands for a user's package with operators of its own: an
// elementwise operator is one line, and every engine runs it.
package userop

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
)

// Swoosh is x·sigmoid(x-1).
var Swoosh = op.Unary("swoosh", "swoosh returns x·sigmoid(x-1).", func(b *expr.Builder, x expr.Value) expr.Value {
	return b.Mul(x, b.Sigmoid(b.Sub(x, b.Const(x.DType(), 1))))
})

// Hypot is sqrt(x²+y²).
var Hypot = op.Binary("hypot", "hypot returns sqrt(x²+other²).", func(b *expr.Builder, x, y expr.Value) expr.Value {
	return b.Sqrt(b.Add(b.Mul(x, x), b.Mul(y, y)))
})
