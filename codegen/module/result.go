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

// results builds the printed function's results: with the captured function's Go
// types if they are known and can be named, else with types of its own.
type results struct {
	*writer
	*packages
	fn      string            // the function
	want    []reflect.Type    // its results, where they are known
	structs map[string]string // generated types by their text
	decls   []jen.Code        // and their declarations
	types   []jen.Code
	exprs   []jen.Code
}

// output fixes the result types of the function and the expressions of its return
// statement.
func (p *results) output(out *graph.Node) {
	structure := out.Structure()
	fields := []*graph.Structure{structure}
	switch {
	case structure == nil && out.NumArgs() == 1:
		fields = []*graph.Structure{graph.Leaf(0)}
	case structure == nil:
		fields = nil
		for i := range out.NumArgs() {
			fields = append(fields, graph.Leaf(i))
		}
	case structure.Kind == graph.Results:
		fields = structure.Fields
	}
	for i, f := range fields {
		var want reflect.Type
		if i < len(p.want) {
			want = p.want[i]
		}
		typ, expr := p.result(out, f, want)
		p.types = append(p.types, typ)
		p.exprs = append(p.exprs, expr)
	}
}

var (
	tensorPtr = reflect.TypeFor[*tensor.Tensor]()
	anyType   = reflect.TypeFor[any]()
)

// result returns the type and the expression of one part of the results. want is
// its Go type where that is known.
func (p *results) result(out *graph.Node, structure *graph.Structure, want reflect.Type) (typ, expr *jen.Statement) {
	switch {
	case structure.Kind == graph.LeafValue:
		return tensorType(), p.write(p.value(out.Arg(structure.Index)))
	case structure.Kind == graph.NoValue && (want == nil || want == tensorPtr):
		return tensorType(), jen.Nil()
	}
	if want != nil {
		if code, ok := p.typeOf(want); ok {
			if expr, ok := p.exact(out, structure, want); ok {
				return code(), expr
			}
		}
	}
	switch structure.Kind {
	case graph.StructOf:
		return p.structResult(out, structure)
	case graph.MapOf:
		elem, exprs := p.elementsOf(out, structure)
		typ := jen.Map(jen.String()).Add(elem)
		return typ, typ.Clone().CustomFunc(gosrc.Multiline(), func(g *jen.Group) {
			for i, e := range exprs {
				g.Add(jen.Lit(structure.Keys[i]).Op(":").Add(e))
			}
		})
	}
	elem, exprs := p.elementsOf(out, structure)
	typ = jen.Index().Add(elem)
	return typ, typ.Clone().Values(exprs...)
}

// elementsOf returns the common type of the parts, any where they have none.
func (p *results) elementsOf(out *graph.Node, s *graph.Structure) (elem *jen.Statement, exprs []jen.Code) {
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
func (p *results) exact(out *graph.Node, structure *graph.Structure, typ reflect.Type) (expr *jen.Statement, ok bool) {
	switch {
	case structure.Kind == graph.LeafValue:
		return p.write(p.value(out.Arg(structure.Index))), typ == tensorPtr || typ == anyType
	case structure.Kind == graph.NoValue:
		return jen.Nil(), typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Interface
	case typ.Kind() == reflect.Pointer:
		expr, ok = p.exact(out, structure, typ.Elem())
		return jen.Op("&").Add(expr), ok && typ.Elem().Kind() == reflect.Struct
	}
	code, named := p.typeOf(typ)
	if !named {
		return nil, false
	}
	var parts []jen.Code
	part := func(f *graph.Structure, typ reflect.Type, key *jen.Statement) {
		e, fits := p.exact(out, f, typ)
		ok = ok && fits
		if key != nil {
			e = key.Op(":").Add(e)
		}
		parts = append(parts, e)
	}
	ok = true
	switch {
	case structure.Kind == graph.SliceOf && typ.Kind() == reflect.Slice, structure.Kind == graph.SliceOf && typ.Kind() == reflect.Array && typ.Len() == len(structure.Fields):
		for _, f := range structure.Fields {
			part(f, typ.Elem(), nil)
		}
	case structure.Kind == graph.MapOf && typ.Kind() == reflect.Map:
		for i, f := range structure.Fields {
			part(f, typ.Elem(), jen.Lit(structure.Keys[i]))
		}
	case structure.Kind == graph.StructOf && typ.Kind() == reflect.Struct:
		for i, f := range structure.Fields {
			sf, found := typ.FieldByName(structure.Keys[i])
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
func (p *results) structResult(out *graph.Node, structure *graph.Structure) (typ, expr *jen.Statement) {
	path, name := gosrc.SplitType(structure.Type)
	plain := !slices.ContainsFunc(structure.Fields, func(f *graph.Structure) bool { return f.Kind != graph.LeafValue && f.Kind != graph.NoValue })
	if plain && p.usable(path, name) && !slices.ContainsFunc(structure.Keys, func(k string) bool { return !gosrc.Exported(k) }) {
		typ = jen.Qual(path, name)
		return typ, typ.Clone().ValuesFunc(func(g *jen.Group) {
			for i, f := range structure.Fields {
				if f.Kind == graph.LeafValue {
					g.Id(structure.Keys[i]).Op(":").Add(p.write(p.value(out.Arg(f.Index))))
				}
			}
		})
	}
	keys := goname.NewSet()
	var fields, values []jen.Code
	text := ""
	for i, f := range structure.Fields {
		key := keys.Upper(structure.Keys[i])
		t, e := p.result(out, f, nil)
		fields = append(fields, jen.Id(key).Add(t))
		values = append(values, jen.Id(key).Op(":").Add(e))
		text += key + " " + t.GoString() + "\n"
	}
	id := structure.Type + "\n" + text
	if p.structs[id] == "" {
		if !token.IsIdentifier(name) && !token.IsKeyword(name) {
			name = p.fn + "Result"
		}
		p.structs[id] = p.packages.decls.Upper(name)
		p.decls = append(p.decls, jen.Comment(p.structs[id]+" is a result of "+p.fn+"."), jen.Type().Id(p.structs[id]).Struct(fields...), jen.Line())
	}
	return jen.Id(p.structs[id]), jen.Id(p.structs[id]).Values(values...)
}
