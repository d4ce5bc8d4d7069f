package op

import "github.com/gofx-dev/gofx/op/expr"

// Unary defines an elementwise operator of one operand without attributes: the
// whole of it is one line. It computes in its operand's element type; use Define
// for anything more.
func Unary(name, doc string, f func(b *expr.Builder, x expr.Value) expr.Value) *Op {
	return Define(name, Spec[None]{Doc: doc, In: Args("x"),
		Expr: func(b *expr.Builder, _ None, x []expr.Value) []expr.Value { return []expr.Value{f(b, x[0])} }})
}

// Binary defines an elementwise operator of two operands without attributes,
// which broadcast and promote as PyTorch's do.
func Binary(name, doc string, f func(b *expr.Builder, x, y expr.Value) expr.Value) *Op {
	return Define(name, Spec[None]{Doc: doc, In: Args("x", "other"),
		Expr: func(b *expr.Builder, _ None, x []expr.Value) []expr.Value { return []expr.Value{f(b, x[0], x[1])} }})
}
