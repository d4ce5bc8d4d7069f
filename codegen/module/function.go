package module

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/gosrc"
)

// functions prints the generated function and the parts that it calls: defaults of
// inputs, statements with the model's scopes and types in comments, results.
type functions struct{ *printer }

// statements prints the statements of a body: a comment where the scope changes,
// with an empty line before it, and the type of each value at the end of its
// line.
func statements(list []*stmt, top bool) []jen.Code {
	list = prune(list)
	var out []jen.Code
	for i, line := range list {
		if top && (i == 0 || line.scope != list[i-1].scope) {
			if i > 0 {
				out = append(out, jen.Line())
			}
			if text := gosrc.ScopeComment(line.scope); text != "" {
				out = append(out, jen.Comment("// "+text))
			}
		}
		out = append(out, line.code())
	}
	return out
}

// code prints a statement.
func (s *stmt) code() jen.Code {
	line := jen.Null()
	used := false
	var names []jen.Code
	for _, v := range s.defs {
		if v == nil || v.uses == 0 {
			names = append(names, jen.Id("_"))
			continue
		}
		used = true
		names = append(names, jen.Id(v.name))
	}
	switch {
	case used:
		line = jen.List(names...).Op(":=").Add(s.rhs)
	case s.alone || len(names) == 0:
		line.Add(s.rhs)
	default:
		line = jen.List(names...).Op("=").Add(s.rhs)
	}
	if s.typ != "" {
		line.Comment("// " + s.typ)
	}
	return line
}

// print prints a unit and its parts.
func (p functions) print(file *jen.File, u *unit) {
	for _, line := range u.doc {
		if strings.HasPrefix(line, "\t") {
			file.Comment("//" + line) // gofmt leaves it alone
			continue
		}
		file.Comment("// " + line)
	}
	file.Add(p.mainFunc(u))
	for _, part := range u.parts {
		if part.name != "" {
			file.Line()
			file.Comment("// " + part.doc)
			file.Add(p.partFunc(part))
		}
	}
}

// mainFunc prints the function of a unit: the statements themselves, or calls of
// the parts.
func (p functions) mainFunc(u *unit) jen.Code {
	body := u.defaults
	for _, piece := range u.parts {
		if piece.name == "" {
			body = append(body, statements(piece.list, true)...)
			continue
		}
		call := p.prefix(piece.name).CallFunc(func(g *jen.Group) {
			if p.self != nil && !p.method {
				g.Id(p.self.name)
			}
			for _, v := range piece.in {
				g.Id(v.name)
			}
		})
		if len(piece.out) > 0 {
			var names []jen.Code
			for _, v := range piece.out {
				names = append(names, jen.Id(v.name))
			}
			call = jen.List(names...).Op(":=").Add(call)
		}
		body = append(body, call)
	}
	if len(body) > 12 {
		body = append(body, jen.Line())
	}
	if len(u.exprs) > 0 {
		body = append(body, jen.Return(u.exprs...))
	}
	return p.header(u.name).Params(p.signature(u.params)...).Add(resultList(u.types)).Block(body...)
}

// partFunc prints one part as a function.
func (p functions) partFunc(q *part) jen.Code {
	body := statements(q.list, true)
	var names, types []jen.Code
	for _, v := range q.out {
		names = append(names, jen.Id(v.name))
		types = append(types, v.typ)
	}
	if len(names) > 0 {
		body = append(body, jen.Return(names...))
	}
	return p.header(q.name).Params(p.signature(q.in)...).Add(resultList(types)).Block(body...)
}

// header starts a function or a method of the generated type.
func (p functions) header(name string) *jen.Statement {
	if p.method {
		return jen.Func().Params(jen.Id("m").Add(p.receiver)).Id(name)
	}
	return jen.Func().Id(name)
}

func (p functions) prefix(name string) *jen.Statement {
	if p.method {
		return jen.Id("m").Dot(name)
	}
	return jen.Id(name)
}

// signature lists parameters, those of one type together.
func (p functions) signature(vars []*goVar) []jen.Code {
	if p.self != nil && !p.method {
		vars = append([]*goVar{p.self}, vars...)
	}
	var list []jen.Code
	for i, v := range vars {
		c := jen.Id(v.name)
		if i+1 == len(vars) || vars[i+1].typ.GoString() != v.typ.GoString() {
			c.Add(v.typ)
		}
		list = append(list, c)
	}
	return list
}

func resultList(types []jen.Code) jen.Code {
	switch len(types) {
	case 0:
		return jen.Null()
	case 1:
		return types[0]
	}
	return jen.Params(types...)
}

// defaults gives inputs that are nil their default values.
func (p functions) defaults() []jen.Code {
	var lines []jen.Code
	for i, n := range p.m.Graph.Inputs() {
		lit := defaultLit(n)
		if lit == nil {
			continue
		}
		x := jen.Id(p.params[i].name)
		value := gosrc.From("tensor", "Scalar").Call(lit.elem.Clone().Call(lit.items...))
		if dims := n.Default().(*array.Array).Shape(); len(dims) > 0 {
			value = gosrc.From("tensor", "FromSlice").CallFunc(func(g *jen.Group) {
				g.Add(jen.Index().Add(lit.elem).Values(lit.items...))
				for _, d := range dims {
					g.Lit(d)
				}
			})
		}
		lines = append(lines, jen.If(x.Clone().Op("==").Nil()).Block(x.Clone().Op("=").Add(value)))
	}
	return lines
}
