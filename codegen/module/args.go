package module

import (
	"reflect"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
	"github.com/gofx-dev/gofx/shape"
)

// attrs prints an attributes struct.
func (p *calls) attrs(n *graph.Node) jen.Code {
	t := reflect.TypeOf(n.Attrs())
	if t.PkgPath() != gosrc.Root+"op/std" && t.PkgPath() != gosrc.Root+"op" && !p.usable(t.PkgPath(), t.Name()) {
		p.foreign(n)
		return jen.Nil()
	}
	return gosrc.Literal(reflect.ValueOf(n.Attrs()), p.holes(n))
}

// holes prints the sizes in attributes of a node.
func (p *calls) holes(n *graph.Node) gosrc.Holes {
	return gosrc.Holes{
		Dim:  func(d shape.Dim) jen.Code { return p.sizes.dim(n, d) },
		Size: func(d shape.Dim) jen.Code { return p.sizes.size(n, d) },
	}
}

// argument prints a positional attribute: one expression, or one for each
// element of a variadic list. A list with one element is the element where the
// parameter takes both.
func (p *calls) argument(node *graph.Node, q api.Param, given any) []jen.Code {
	list := func(elem *jen.Statement, items []jen.Code) []jen.Code {
		if q.Variadic || len(items) == 1 && q.GoType() == "any" {
			return items
		}
		return []jen.Code{jen.Index().Add(elem).Values(items...)}
	}
	var items []jen.Code
	switch given := given.(type) {
	case array.DType:
		return []jen.Code{gosrc.DType(given)}
	case float64:
		return []jen.Code{gosrc.Float(given)}
	case op.Ints:
		for _, k := range given.Slice() {
			items = append(items, jen.Lit(k))
		}
		if len(items) == 0 && !q.Variadic {
			return []jen.Code{jen.Nil()}
		}
		return list(jen.Int(), items)
	case op.Floats:
		for _, k := range given.Slice() {
			items = append(items, gosrc.Float(k))
		}
		return list(jen.Float64(), items)
	case op.Scalar:
		return []jen.Code{number(given)}
	case shape.Dim:
		return []jen.Code{p.sizes.size(node, given)}
	case shape.Dims:
		elem := jen.Int()
		for _, d := range given.Slice() {
			if _, known := d.Int(); !known {
				elem = jen.Any()
			}
			items = append(items, p.sizes.size(node, d))
		}
		return list(elem, items)
	}
	return []jen.Code{jen.Lit(given)} // bool, int, string
}

// number prints a number argument.
func number(s op.Scalar) jen.Code {
	switch {
	case !s.Present():
		return jen.Nil()
	case s.IsFloat():
		return gosrc.Float(s.Float64())
	case s.IsInt():
		return jen.Lit(int(s.Int64()))
	}
	return jen.Lit(s.Int64() != 0)
}

// options prints the struct of the attributes that are not positional, nothing
// when all are zero.
func (p *calls) options(node *graph.Node, f *api.Func) []jen.Code {
	var values []jen.Code
	for _, a := range f.Given(node.Attrs()) {
		v := gosrc.Literal(reflect.ValueOf(a.Value), p.holes(node))
		values = append(values, jen.Id(a.GoName).Op(":").Add(v))
	}
	if len(values) == 0 {
		return nil
	}
	t := reflect.TypeOf(node.Attrs())
	home := gosrc.Home(t)
	if home == t.PkgPath() && !p.usable(home, t.Name()) {
		p.foreign(node)
	}
	return []jen.Code{jen.Qual(home, t.Name()).Values(values...)}
}

// hasSymbols reports whether attributes hold sizes that are no numbers.
func hasSymbols(o *op.Op, attrs any) bool {
	found := false
	o.Codec().Symbols(attrs, func(d shape.Dim) {
		if _, known := d.Int(); !known {
			found = true
		}
	})
	return found
}
