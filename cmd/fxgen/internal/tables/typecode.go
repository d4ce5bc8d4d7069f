package tables

import (
	"go/types"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/internal/effects"
)

// typeCode prints a type. hidden is asked first whether it can be printed.
func (m *maker) typeCode(t types.Type) *jen.Statement {
	switch t := t.(type) {
	case *types.Alias:
		if t.Obj().Pkg() == nil {
			return jen.Id(t.Obj().Name()) // any
		}
		return m.typeCode(types.Unalias(t))
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			return jen.Qual("unsafe", "Pointer")
		}
		return jen.Id(t.Name())
	case *types.Named:
		return m.named(t)
	case *types.Pointer:
		return jen.Op("*").Add(m.typeCode(t.Elem()))
	case *types.Slice:
		return jen.Index().Add(m.typeCode(t.Elem()))
	case *types.Array:
		return jen.Index(jen.Lit(int(t.Len()))).Add(m.typeCode(t.Elem()))
	case *types.Map:
		return jen.Map(m.typeCode(t.Key())).Add(m.typeCode(t.Elem()))
	case *types.Chan:
		switch t.Dir() {
		case types.SendOnly:
			return jen.Chan().Op("<-").Add(m.typeCode(t.Elem()))
		case types.RecvOnly:
			return jen.Op("<-").Chan().Add(m.typeCode(t.Elem()))
		}
		return jen.Chan().Parens(m.typeCode(t.Elem()))
	case *types.Signature:
		return jen.Func().Add(m.signature(t))
	case *types.Struct:
		return jen.Struct(m.fields(t)...)
	case *types.Interface:
		var list []jen.Code
		for f := range t.Methods() {
			list = append(list, jen.Id(f.Name()).Add(m.signature(f.Signature())))
		}
		return jen.Interface(list...)
	}
	panic("tables: a type " + t.String())
}

func (m *maker) named(t *types.Named) *jen.Statement {
	s := jen.Id(t.Obj().Name())
	if p := t.Obj().Pkg(); p != nil {
		m.known[p.Path()] = p.Name()
		s = jen.Qual(p.Path(), t.Obj().Name())
	}
	if t.TypeArgs().Len() == 0 {
		return s
	}
	var args []jen.Code
	for a := range t.TypeArgs().Types() {
		args = append(args, m.typeCode(a))
	}
	return s.Types(args...)
}

func (m *maker) fields(t *types.Struct) (list []jen.Code) {
	for i := range t.NumFields() {
		f := t.Field(i)
		s := m.typeCode(f.Type())
		if !f.Embedded() {
			s = jen.Id(f.Name()).Add(s)
		}
		if tag := t.Tag(i); tag != "" {
			s = s.Lit(tag)
		}
		list = append(list, s)
	}
	return list
}

func (m *maker) signature(t *types.Signature) *jen.Statement {
	var params, results []jen.Code
	for i := range t.Params().Len() {
		params = append(params, m.param(t, i))
	}
	for v := range t.Results().Variables() {
		results = append(results, m.typeCode(v.Type()))
	}
	return jen.Params(params...).Params(results...)
}

// param is the type of a parameter, as a list of parameters has it.
func (m *maker) param(t *types.Signature, i int) *jen.Statement {
	typ := t.Params().At(i).Type()
	if s, ok := typ.Underlying().(*types.Slice); ok && t.Variadic() && i == t.Params().Len()-1 {
		return jen.Op("...").Add(m.typeCode(s.Elem()))
	}
	return m.typeCode(typ)
}

// hidden returns a part of a type that the generated file cannot name, "" for none.
func (m *maker) hidden(t types.Type) string {
	foreign := func(o types.Object) bool { return o.Pkg() != nil && o.Pkg().Path() != m.pkg.PkgPath && !o.Exported() }
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		o := t.Obj()
		if foreign(o) || o.Pkg() != nil && o.Parent() != o.Pkg().Scope() || o.Pkg() != nil && o.Pkg().Path() != m.pkg.PkgPath && effects.Internal(o.Pkg().Path(), m.pkg.PkgPath) {
			return t.String()
		}
		for a := range t.TypeArgs().Types() {
			if s := m.hidden(a); s != "" {
				return s
			}
		}
		return ""
	case *types.Basic:
		if t.Kind() == types.Invalid {
			return "type that the code does not have"
		}
	case *types.Map:
		if s := m.hidden(t.Key()); s != "" {
			return s
		}
		return m.hidden(t.Elem())
	case interface{ Elem() types.Type }:
		return m.hidden(t.Elem())
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tuple.Variables() {
				if s := m.hidden(v.Type()); s != "" {
					return s
				}
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if foreign(f) {
				return t.String()
			}
			if s := m.hidden(f.Type()); s != "" {
				return s
			}
		}
	case *types.Interface:
		if t.NumEmbeddeds() > 0 && !t.IsMethodSet() {
			return t.String()
		}
		for f := range t.Methods() {
			if foreign(f) {
				return t.String()
			}
			if s := m.hidden(f.Type()); s != "" {
				return s
			}
		}
	}
	return ""
}
