package kernelstyle

import (
	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// sizes prints sizes: Go expressions over the variables of the plan's symbols.
type sizes struct{ vars map[string]string }

func newSizes(m *model, n *names) sizes {
	s := sizes{vars: map[string]string{}}
	for i, x := range m.Symbols {
		s.vars[x.Name] = n.symbols[i]
	}
	for i, x := range m.Same {
		s.vars[x.Name] = n.same[i]
	}
	return s
}

// typeArgs prints element type and sizes of a buffer as arguments.
func (s *sizes) typeArgs(b *plan.Buffer) []jen.Code {
	dims := s.dims
	if b.Late { // nothing yet
		dims = func(d shape.Dims) []jen.Code { return gosrc.Ints(make([]int, d.Len())) }
	}
	return append([]jen.Code{gosrc.DType(b.Type.DType())}, dims(b.Type.Dims())...)
}

// dim prints a size as a Go expression over the symbols' variables.
func (s *sizes) dim(d shape.Dim) *jen.Statement {
	c, ok := shape.Fold(d, intArith{s.vars})
	if !ok {
		panic(diag.Bug("codegen: a plan with an unknown size"))
	}
	return c.code
}

// dims prints sizes as arguments.
func (s *sizes) dims(d shape.Dims) []jen.Code {
	list := make([]jen.Code, d.Len())
	for i := range list {
		list[i] = s.dim(d.At(i))
	}
	return list
}

// intArith prints sizes as Go expressions over ints. Floor division is a call,
// because Go's division rounds towards zero.
type intArith struct {
	variables map[string]string // of the symbols
}

// intCode is an expression; sum tells that it must stand in parentheses to be a
// factor of another one.
type intCode struct {
	code *jen.Statement
	sum  bool
}

func (c intCode) factor() *jen.Statement {
	if c.sum {
		return jen.Parens(c.code)
	}
	return c.code
}

func (intArith) Const(n int64) intCode { return intCode{code: jen.Lit(int(n))} }

func (a intArith) Symbol(name string) intCode {
	if v, ok := a.variables[name]; ok {
		name = v
	}
	return intCode{code: jen.Id(name)}
}

func (intArith) Neg(x intCode) intCode { return intCode{jen.Op("-").Add(x.factor()), true} }

func (intArith) Add(x, y intCode) intCode { return intCode{jen.Add(x.code).Op("+").Add(y.code), true} }

func (intArith) Sub(x, y intCode) intCode {
	return intCode{jen.Add(x.code).Op("-").Add(y.factor()), true}
}

func (intArith) Mul(x, y intCode) intCode {
	return intCode{code: jen.Add(x.factor()).Op("*").Add(y.factor())}
}

func (intArith) Min(x, y intCode) intCode { return intCode{code: jen.Id("min").Call(x.code, y.code)} }

func (intArith) FloorDiv(x, y intCode) intCode {
	return intCode{code: fromKernel("FloorDiv").Call(x.code, y.code)}
}
