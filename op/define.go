package op

import (
	"reflect"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// Define makes an operator and enters it into the table that the text form's
// parser uses. Call it from a package-level variable; it panics on a record
// that is incomplete or a name that the package has used already.
func Define[A any](name string, spec Spec[A]) *Op {
	// A program has a copy of what is compiled for each type of attributes: only the functions are
	// wrapped here.
	return define(name, callerPackage(), reflect.TypeFor[A](), spec.erase())
}

// define fills the record.
func define(name, path string, attrs reflect.Type, spec *Spec[any]) *Op {
	o := &Op{
		Name: name, Path: path, Doc: spec.Doc, Ref: spec.Ref, In: spec.In, Class: spec.Class, Effect: spec.Effect,
		Mutates: spec.Mutates, ViewOf: spec.ViewOf, MayCopy: spec.MayCopy, Quant: spec.Quant, Range: spec.Range, NoFold: spec.NoFold, Narrow: spec.Narrow, ByValue: spec.ByValue, Func: spec.Func, Results: spec.Results, InPlace: spec.InPlace, Tol: spec.Tol,
		codec: codecOf(attrs), samples: spec.Samples, bad: spec.Bad, differs: spec.Differs,
		infer: spec.Infer, atMost: spec.AtMost, promote: spec.Promote, decompose: spec.Decompose, reference: spec.Reference, kernel: spec.Kernel, training: spec.Training,
		scatter: spec.Scatter, Rows: spec.Rows, Sliced: spec.Sliced, noGrad: spec.NoGrad, stops: spec.Stops, grad: spec.Grad, deriv: spec.Deriv, flops: spec.Flops, count: spec.Count,
	}
	if spec.Lift != nil {
		if t := spec.Lift.attrs(); t != attrs {
			panic(diag.Bug("op.Define " + name + ": Lift is for attributes " + t.String() + ", the operator has " + attrs.String()))
		}
		o.positions = spec.Lift.erase()
	}
	if f := spec.Expr; f != nil {
		o.expr = func(b *expr.Builder, a any, in []shape.Type) []expr.Value { return f(b, a, o.converted(b, a, in)) }
		if o.Class == Opaque {
			o.Class = Elementwise
		}
	}
	if o.decompose != nil && o.Class != Movement {
		o.differs = append(o.differs, rounded)
	}
	if problem := o.incomplete(); problem != "" {
		panic(diag.Bug("op.Define " + name + ": " + problem))
	}
	register(o)
	return o
}

// erase returns the record with functions that take attributes as any.
func (s *Spec[A]) erase() *Spec[any] {
	return &Spec[any]{
		Doc: s.Doc, Ref: s.Ref, In: s.In, Class: s.Class, Effect: s.Effect, Mutates: s.Mutates, ViewOf: s.ViewOf, MayCopy: s.MayCopy, Quant: s.Quant, Range: s.Range,
		NoFold: s.NoFold, Narrow: s.Narrow, ByValue: s.ByValue, Func: s.Func, Results: s.Results, InPlace: s.InPlace, Tol: s.Tol, Samples: s.Samples, Bad: s.Bad,
		NoGrad: s.NoGrad, Stops: s.Stops, Differs: erase(s.Differs), Lift: s.Lift,
		Infer: inferOf(s.Infer), Flops: flopsOf(s.Flops), Grad: gradOf(s.Grad), Scatter: scatterOf(s.Scatter), Rows: rowsOf(s.Rows),
		AtMost: byTypes(s.AtMost), Promote: byTypes(s.Promote), Kernel: byTypes(s.Kernel),
		Decompose: byValues(s.Decompose), Reference: byValues(s.Reference),
		Expr: byExpr(s.Expr), Deriv: byExpr(s.Deriv), Training: byAttrs(s.Training), Count: byAttrs(s.Count), Sliced: byAttrs(s.Sliced),
	}
}

// What follows wraps the functions of a record, nil for nil.

func inferOf[A any](f func(*Infer, A, []shape.Type) (shape.Type, error)) func(*Infer, any, []shape.Type) (shape.Type, error) {
	if f == nil {
		return nil
	}
	return func(c *Infer, a any, in []shape.Type) (shape.Type, error) { return f(c, a.(A), in) }
}

func flopsOf[A any](f func(A, []shape.Type, shape.Type) shape.Dim) func(any, []shape.Type, shape.Type) shape.Dim {
	if f == nil {
		return nil
	}
	return func(a any, in []shape.Type, out shape.Type) shape.Dim { return f(a.(A), in, out) }
}

func gradOf[A any](f func(Builder, A, GradCall) []Value) func(Builder, any, GradCall) []Value {
	if f == nil {
		return nil
	}
	return func(b Builder, a any, c GradCall) []Value { return f(b, a.(A), c) }
}

func scatterOf[A any](f func(Builder, A, int, Value, Value) Value) func(Builder, any, int, Value, Value) Value {
	if f == nil {
		return nil
	}
	return func(b Builder, a any, item int, base, v Value) Value { return f(b, a.(A), item, base, v) }
}

func rowsOf[A any](f func(Builder, A, Value) Value) func(Builder, any, Value) Value {
	if f == nil {
		return nil
	}
	return func(b Builder, a any, rows Value) Value { return f(b, a.(A), rows) }
}

func byTypes[A, R any](f func(A, []shape.Type) R) func(any, []shape.Type) R {
	if f == nil {
		return nil
	}
	return func(a any, in []shape.Type) R { return f(a.(A), in) }
}

func byValues[A any](f func(Builder, A, []Value) Value) func(Builder, any, []Value) Value {
	if f == nil {
		return nil
	}
	return func(b Builder, a any, in []Value) Value { return f(b, a.(A), in) }
}

func byExpr[A any](f func(*expr.Builder, A, []expr.Value) []expr.Value) func(*expr.Builder, any, []expr.Value) []expr.Value {
	if f == nil {
		return nil
	}
	return func(b *expr.Builder, a any, x []expr.Value) []expr.Value { return f(b, a.(A), x) }
}

func byAttrs[A, R any](f func(A) R) func(any) R {
	if f == nil {
		return nil
	}
	return func(a any) R { return f(a.(A)) }
}
