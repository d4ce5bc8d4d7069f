package main

import (
	"bytes"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/internal/generators/opsrc"
	"github.com/gofx-dev/gofx/op/api"
)

const (
	module   = "github.com/gofx-dev/gofx/"
	pkgStd   = module + "op/std"
	pkgOp    = module + "op"
	pkgArray = module + "array"
)

// decl is one declaration with its comment.
type decl struct {
	doc  []string
	code *jen.Statement
}

// family is a generated file: the Go functions of the operators of one file of op/std.
type family struct{ types, funcs []decl }

// add declares a function with its methods, and names the attributes struct of its
// operator, so that model code needs no import but tensor. The struct stands in the
// family of the first operator with it.
func (m *family) add(f *api.Func, structs map[string]opsrc.Struct) {
	if t := f.AttrsType(); t != "" && f.Form == api.Plain {
		if s, ok := structs[t]; ok {
			m.types = append(m.types, decl{docOfStruct(f.Op, s), jen.Type().Id(t).Op("=").Qual(pkgStd, t)})
			delete(structs, t)
		}
	}
	m.funcs = append(append(append(m.funcs, function(f)), methods(f)...), maker(f)...)
}

// maker declares the method of Maker for a function without operands.
func maker(f *api.Func) []decl {
	if slices.ContainsFunc(f.Params, func(p api.Param) bool { return p.Operand != "" }) {
		return nil
	}
	code := jen.Func().Params(jen.Id("m").Id("Maker")).Id(f.Name).Params(params(f, f.Params)...).Add(results(f))
	doc := f.Name + " is [" + f.Name + "] in m's engine."
	return []decl{{wrap(doc), code.Block(body(f, false, jen.Id("m").Dot("e"))...)}}
}

func function(f *api.Func) decl {
	return decl{docOf(f, false), jen.Func().Id(f.Name).Params(params(f, f.Params)...).Add(results(f)).Block(body(f, false, nil)...)}
}

func methods(f *api.Func) []decl {
	if !f.Method {
		return nil
	}
	x := f.Params[0].Name
	method := func(name string) *jen.Statement {
		return jen.Func().Params(jen.Id(x).Op("*").Id("Tensor")).Id(name).Params(params(f, f.Params[1:])...)
	}
	out := []decl{{docOf(f, true), method(f.Name).Add(results(f)).Block(body(f, true, nil)...)}}
	if f.InPlace != "" {
		out = append(out, decl{docInPlace(f), method(f.InPlace).Op("*").Id("Tensor").Block(
			jen.Return(jen.Id("assign").Call(jen.Id(x), jen.Id(x).Dot(f.Name).Call(forward(f)...), jen.Lit(f.Op.Name+"_"))),
		)})
	}
	return out
}

func render(decls []decl) ([]byte, error) {
	f := jen.NewFilePathName(module+"tensor", "tensor")
	f.HeaderComment(strings.TrimSpace(header))
	f.ImportNames(map[string]string{pkgStd: "std", pkgOp: "op", pkgArray: "array"})
	for _, d := range decls {
		for _, line := range d.doc {
			if line != "" && line[0] != '\t' {
				line = " " + line
			}
			f.Comment("//" + line)
		}
		f.Add(d.code)
		f.Line()
	}
	var b bytes.Buffer
	err := f.Render(&b)
	return b.Bytes(), err
}

// forward passes a method's parameters on.
func forward(f *api.Func) []jen.Code {
	var out []jen.Code
	for _, p := range f.Params[1:] {
		c := jen.Id(p.Name)
		if p.Variadic {
			c.Op("...")
		}
		out = append(out, c)
	}
	switch {
	case f.Form == api.With:
		out = append(out, jen.Id("attrs"))
	case len(f.Options) > 0:
		out = append(out, jen.Id("opts").Op("..."))
	}
	return out
}

func params(f *api.Func, list []api.Param) []jen.Code {
	var out []jen.Code
	for i, p := range list {
		c := jen.Id(p.Name)
		// "a, b *Tensor" reads better than "a *Tensor, b *Tensor".
		if i+1 == len(list) || !sameType(p, list[i+1]) {
			c.Add(goType(p))
		}
		out = append(out, c)
	}
	switch {
	case f.Form == api.With:
		out = append(out, jen.Id("attrs").Id(f.AttrsType()))
	case len(f.Options) > 0:
		out = append(out, jen.Id("opts").Op("...").Id(f.AttrsType()))
	}
	return out
}

// sameType reports whether two neighbours may share one type in the source.
func sameType(a, b api.Param) bool { return !a.Variadic && a.GoType() == b.GoType() }

func goType(p api.Param) *jen.Statement {
	if p.Kind == api.DType {
		return jen.Qual(pkgArray, "DType")
	}
	return jen.Id(p.GoType())
}

func results(f *api.Func) *jen.Statement {
	switch {
	case f.List:
		return jen.Index().Op("*").Id("Tensor")
	case f.Results == nil:
		return jen.Op("*").Id("Tensor")
	}
	var names []jen.Code
	for _, r := range f.Results {
		names = append(names, jen.Id(r))
	}
	names[len(names)-1].(*jen.Statement).Op("*").Id("Tensor")
	return jen.Params(names...)
}
