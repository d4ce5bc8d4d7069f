package kernelstyle

import (
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
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
	return s
}

// typeArgs prints element type and sizes of a buffer as arguments.
func (s *sizes) typeArgs(b *plan.Buffer) []jen.Code {
	return append([]jen.Code{gosrc.DType(b.Type.DType())}, s.dims(b.Type.Dims())...)
}

// dim prints a size as a Go expression over the symbols' variables. Floor
// division becomes a call, because Go's division rounds towards zero.
func (s *sizes) dim(d shape.Dim) *jen.Statement {
	r := dimReader{s: d.String(), g: s}
	return r.sum().code
}

// dims prints sizes as arguments.
func (s *sizes) dims(d shape.Dims) []jen.Code {
	list := make([]jen.Code, d.Len())
	for i := range list {
		list[i] = s.dim(d.At(i))
	}
	return list
}

// dimReader reads the text of a size: sums of products of numbers, symbols,
// parentheses and floor divisions, of which // binds like *, from the left.
type dimReader struct {
	s string
	i int
	g *sizes
}

// dimCode is an expression; sum tells that it must stand in parentheses to be
// part of another one.
type dimCode struct {
	code *jen.Statement
	sum  bool
}

func (d dimCode) part() *jen.Statement {
	if d.sum {
		return jen.Parens(d.code)
	}
	return d.code
}

func (r *dimReader) sum() dimCode {
	var out dimCode
	if r.next("-") {
		out = dimCode{jen.Op("-").Add(r.product().part()), true}
	} else {
		out = r.product()
	}
	for {
		sign := "+"
		switch {
		case r.next("+"):
		case r.next("-"):
			sign = "-"
		default:
			return out
		}
		out = dimCode{jen.Add(out.code).Op(sign).Add(r.product().part()), true}
	}
}

func (r *dimReader) product() dimCode {
	out := r.factor()
	for {
		switch {
		case r.next("//"):
			out = dimCode{code: fromKernel("FloorDiv").Call(out.code, r.factor().code)}
		case r.next("*"):
			out = dimCode{code: jen.Add(out.part()).Op("*").Add(r.factor().part())}
		default:
			return out
		}
	}
}

func (r *dimReader) factor() dimCode {
	if r.next("(") {
		in := r.sum()
		r.next(")")
		return in
	}
	start := r.i
	for r.i < len(r.s) && (r.s[r.i] == '_' || r.s[r.i]|0x20 >= 'a' && r.s[r.i]|0x20 <= 'z' || r.s[r.i] >= '0' && r.s[r.i] <= '9') {
		r.i++
	}
	word := r.s[start:r.i]
	if name, ok := r.g.vars[word]; ok {
		return dimCode{code: jen.Id(name)}
	}
	if n, err := strconv.Atoi(word); err == nil {
		return dimCode{code: jen.Lit(n)}
	}
	return dimCode{code: jen.Id(word)}
}

func (r *dimReader) next(token string) bool {
	for r.i < len(r.s) && r.s[r.i] == ' ' {
		r.i++
	}
	if strings.HasPrefix(r.s[r.i:], token) {
		r.i += len(token)
		return true
	}
	return false
}
