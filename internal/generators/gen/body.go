package main

import (
	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/op/api"
)

// body returns the statements of a function, or of the method with the same
// parameters: convert the attributes, make the call, hand out its results. engine is an
// expression of the engine that the call begins with, nil for that of its operands.
func body(f *api.Func, method bool, engine *jen.Statement) []jen.Code {
	var out []jen.Code
	attrs, sized := attributes(f, &out, engine)
	start := jen.Id("sized")
	if !sized {
		start = jen.Id("sizeArgs").Values(code(engine)...)
	}
	args := []jen.Code{jen.Qual(pkgStd, goname.Upper(f.Op.Name)), attrs, jen.Lit(method), start}
	args = append(args, operands(f)...)
	call := jen.Id("call").Call(args...)
	switch {
	case f.List:
		return append(out, jen.Return(call))
	case f.Results == nil:
		return append(out, jen.Return(call.Index(jen.Lit(0))))
	}
	var each []jen.Code
	for i := range f.Results {
		each = append(each, jen.Id("res").Index(jen.Lit(i)))
	}
	return append(out, jen.Id("res").Op(":=").Add(call), jen.Return(each...))
}

// code is the list of an expression, empty for nil.
func code(x *jen.Statement) []jen.Code {
	if x == nil {
		return nil
	}
	return []jen.Code{x}
}

// operands returns the arguments that are tensors.
func operands(f *api.Func) []jen.Code {
	var single []jen.Code
	for _, p := range f.Params {
		switch p.Kind {
		case api.Tensor:
			single = append(single, jen.Id(p.Name))
		case api.Tensors:
			if len(single) == 0 {
				return []jen.Code{jen.Id(p.Name).Op("...")}
			}
			list := jen.Append(jen.Index().Op("*").Id("Tensor").Values(single...), jen.Id(p.Name).Op("..."))
			return []jen.Code{list.Op("...")}
		}
	}
	return single
}

// attributes returns the attributes value of a call. Statements that make it go
// to out; sized tells that they declare a sizeArgs.
func attributes(f *api.Func, out *[]jen.Code, engine *jen.Statement) (value *jen.Statement, sized bool) {
	if f.AttrsType() == "" {
		return jen.Qual(pkgOp, "None").Values(), false
	}
	type set struct {
		field string
		value *jen.Statement
	}
	var fields []set
	for _, p := range f.Params {
		if p.Field != "" {
			fields = append(fields, set{p.Field, convert(f, p)})
			sized = sized || p.Kind == api.Dim || p.Kind == api.Dims
		}
	}
	if f.Form == api.Swapped {
		fields = append(fields, set{"Reverse", jen.True()})
	}
	switch {
	case sized && engine == nil:
		*out = append(*out, jen.Var().Id("sized").Id("sizeArgs"))
	case sized:
		*out = append(*out, jen.Id("sized").Op(":=").Id("sizeArgs").Values(code(engine)...))
	}
	if len(f.Options) == 0 {
		values := make([]jen.Code, len(fields))
		for i, s := range fields {
			values[i] = jen.Id(s.field).Op(":").Add(s.value)
		}
		value = jen.Id(f.AttrsType()).Values(values...)
		if !sized {
			return value, false
		}
		*out = append(*out, jen.Id("attrs").Op(":=").Add(value))
		return jen.Id("attrs"), true
	}
	record := jen.Qual(pkgStd, goname.Upper(f.Op.Name))
	if f.Form == api.With {
		*out = append(*out, jen.Id("onlyOptions").Call(record, jen.Id("attrs")))
	} else {
		*out = append(*out, jen.Id("attrs").Op(":=").Id("options").Call(record, jen.Id("opts")))
	}
	for _, name := range f.Cleared() {
		if name == "Reverse" && f.Form == api.Swapped {
			continue
		}
		zero := jen.Qual(pkgOp, "Scalar").Values()
		if name == "Reverse" {
			zero = jen.False()
		}
		fields = append(fields, set{name, zero})
	}
	for _, s := range fields {
		*out = append(*out, jen.Id("attrs").Dot(s.field).Op("=").Add(s.value))
	}
	return jen.Id("attrs"), sized
}

// convert turns a parameter into the attribute's type.
func convert(f *api.Func, p api.Param) *jen.Statement {
	id := jen.Id(p.Name)
	switch p.Kind {
	case api.Ints:
		if p.Variadic {
			return jen.Id("Ints").Call(id.Op("..."))
		}
		return jen.Id("listOf").Call(id, jen.Qual(pkgStd, goname.Upper(f.Op.Name)), jen.Lit(p.Name))
	case api.Floats:
		return jen.Qual(pkgOp, "FloatList").Call(id.Op("..."))
	case api.Scalar:
		return jen.Id("scalarOf").Call(id, jen.Qual(pkgStd, goname.Upper(f.Op.Name)))
	case api.Dim:
		return jen.Id("sized").Dot("dim").Call(id)
	case api.Dims:
		if p.Variadic {
			return jen.Id("sized").Dot("dims").Call(id)
		}
		return jen.Id("sized").Dot("list").Call(id)
	}
	return id
}
