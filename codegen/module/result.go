package module

import (
	"go/token"
	"reflect"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/tensor"
)

// output fixes the result types of the function and returns the expressions of
// its return statement.
func (p *printer) output(out *graph.Node) []jen.Code {
	s := out.Structure()
	fields := []*graph.Structure{s}
	switch {
	case s == nil && out.NumArgs() == 1:
		fields = []*graph.Structure{graph.Leaf(0)}
	case s == nil:
		fields = nil
		for i := range out.NumArgs() {
			fields = append(fields, graph.Leaf(i))
		}
	case s.Kind == graph.Results:
		fields = s.Fields
	}
	var exprs []jen.Code
	for i, f := range fields {
		var want reflect.Type
		if i < len(p.Results) {
			want = p.Results[i]
		}
		typ, expr := p.result(out, f, want)
		p.resultTypes = append(p.resultTypes, typ)
		exprs = append(exprs, expr)
	}
	return exprs
}

var (
	tensorPtr = reflect.TypeFor[*tensor.Tensor]()
	anyType   = reflect.TypeFor[any]()
)

// result returns the type and the expression of one part of the results. want is
// its Go type where that is known.
func (p *printer) result(out *graph.Node, s *graph.Structure, want reflect.Type) (typ, expr *jen.Statement) {
	switch {
	case s.Kind == graph.LeafValue:
		return tensorType(), p.write(p.value(out.Arg(s.Index)))
	case s.Kind == graph.NoValue && (want == nil || want == tensorPtr):
		return tensorType(), jen.Nil()
	}
	if want != nil {
		if code, ok := p.typeOf(want); ok {
			if expr, ok := p.exact(out, s, want); ok {
				return code(), expr
			}
		}
	}
	switch s.Kind {
	case graph.StructOf:
		return p.structResult(out, s)
	case graph.MapOf:
		elem, exprs := p.elementsOf(out, s)
		typ := jen.Map(jen.String()).Add(elem)
		return typ, typ.Clone().CustomFunc(gosrc.Multiline(), func(g *jen.Group) {
			for i, e := range exprs {
				g.Add(jen.Lit(s.Keys[i]).Op(":").Add(e))
			}
		})
	}
	elem, exprs := p.elementsOf(out, s)
	typ = jen.Index().Add(elem)
	return typ, typ.Clone().Values(exprs...)
}

// elementsOf returns the common type of the parts, any where they have none.
func (p *printer) elementsOf(out *graph.Node, s *graph.Structure) (elem *jen.Statement, exprs []jen.Code) {
	for i, f := range s.Fields {
		t, e := p.result(out, f, nil)
		exprs = append(exprs, e)
		if i == 0 {
			elem = t
		} else if t.GoString() != elem.GoString() {
			elem = jen.Any()
		}
	}
	if elem == nil {
		elem = tensorType()
	}
	return elem, exprs
}

// exact builds a value of a Go type that the model returns; ok is false where
// the type and the structure disagree.
func (p *printer) exact(out *graph.Node, s *graph.Structure, t reflect.Type) (expr *jen.Statement, ok bool) {
	switch {
	case s.Kind == graph.LeafValue:
		return p.write(p.value(out.Arg(s.Index))), t == tensorPtr || t == anyType
	case s.Kind == graph.NoValue:
		return jen.Nil(), t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface
	case t.Kind() == reflect.Pointer:
		expr, ok = p.exact(out, s, t.Elem())
		return jen.Op("&").Add(expr), ok && t.Elem().Kind() == reflect.Struct
	}
	code, named := p.typeOf(t)
	if !named {
		return nil, false
	}
	var parts []jen.Code
	part := func(f *graph.Structure, t reflect.Type, key *jen.Statement) {
		e, fits := p.exact(out, f, t)
		ok = ok && fits
		if key != nil {
			e = key.Op(":").Add(e)
		}
		parts = append(parts, e)
	}
	ok = true
	switch {
	case s.Kind == graph.SliceOf && t.Kind() == reflect.Slice, s.Kind == graph.SliceOf && t.Kind() == reflect.Array && t.Len() == len(s.Fields):
		for _, f := range s.Fields {
			part(f, t.Elem(), nil)
		}
	case s.Kind == graph.MapOf && t.Kind() == reflect.Map:
		for i, f := range s.Fields {
			part(f, t.Elem(), jen.Lit(s.Keys[i]))
		}
	case s.Kind == graph.StructOf && t.Kind() == reflect.Struct:
		for i, f := range s.Fields {
			sf, found := t.FieldByName(s.Keys[i])
			if !found {
				return nil, false
			}
			part(f, sf.Type, jen.Id(sf.Name))
		}
	default:
		return nil, false
	}
	return code().Values(parts...), ok
}

// structResult builds a struct of the user's type where all of its fields are
// tensors, else of a generated type.
func (p *printer) structResult(out *graph.Node, s *graph.Structure) (typ, expr *jen.Statement) {
	path, name := gosrc.SplitType(s.Type)
	plain := !slices.ContainsFunc(s.Fields, func(f *graph.Structure) bool { return f.Kind != graph.LeafValue && f.Kind != graph.NoValue })
	if plain && p.usable(path, name) && !slices.ContainsFunc(s.Keys, func(k string) bool { return !gosrc.Exported(k) }) {
		typ = jen.Qual(path, name)
		return typ, typ.Clone().ValuesFunc(func(g *jen.Group) {
			for i, f := range s.Fields {
				if f.Kind == graph.LeafValue {
					g.Id(s.Keys[i]).Op(":").Add(p.write(p.value(out.Arg(f.Index))))
				}
			}
		})
	}
	keys := goname.NewSet()
	var fields, values []jen.Code
	text := ""
	for i, f := range s.Fields {
		key := keys.Upper(s.Keys[i])
		t, e := p.result(out, f, nil)
		fields = append(fields, jen.Id(key).Add(t))
		values = append(values, jen.Id(key).Op(":").Add(e))
		text += key + " " + t.GoString() + "\n"
	}
	id := s.Type + "\n" + text
	if p.structs[id] == "" {
		if !token.IsIdentifier(name) && !token.IsKeyword(name) {
			name = p.Func + "Result"
		}
		p.structs[id] = p.decls.Upper(name)
		p.types = append(p.types, jen.Comment(p.structs[id]+" is a result of "+p.Func+"."), jen.Type().Id(p.structs[id]).Struct(fields...), jen.Line())
	}
	return jen.Id(p.structs[id]), jen.Id(p.structs[id]).Values(values...)
}
