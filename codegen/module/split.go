package module

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
)

// part is a run of statements; with a name it becomes a function of its own.
type part struct {
	list    []*stmt
	name    string
	doc     string
	in, out []*goVar
}

// split cuts a long body into functions along the scopes of the model, so that a
// trace, which looks through calls, still records the same.
func (p *printer) split(b *body) []*part {
	b.list = prune(b.list)
	if len(b.list) <= p.MaxStatements {
		return []*part{{list: b.list}}
	}
	var parts []*part
	for _, list := range p.cut(b.list, 0) {
		parts = append(parts, &part{list: list})
	}
	p.nameParts(parts)
	p.connect(parts, b.pending)
	return parts
}

// prune removes statements without which nothing is lost.
func prune(list []*stmt) []*stmt {
	var kept []*stmt
	for i := len(list) - 1; i >= 0; i-- {
		s := list[i]
		if s.dropped && s.defs[0].uses == 0 {
			for _, v := range s.uses {
				v.uses--
			}
			continue
		}
		kept = append(kept, s)
	}
	for i, k := 0, len(kept)-1; i < k; i, k = i+1, k-1 {
		kept[i], kept[k] = kept[k], kept[i]
	}
	return kept
}

// cut divides statements where the first depth+1 words of the scope change,
// further inside what is still too long, and by number when scopes do not help.
func (p *printer) cut(list []*stmt, depth int) [][]*stmt {
	if len(list) <= p.MaxStatements {
		return [][]*stmt{list}
	}
	if depth > 16 {
		return append([][]*stmt{list[:p.MaxStatements]}, p.cut(list[p.MaxStatements:], depth)...)
	}
	var out [][]*stmt
	start := 0
	for i := 1; i <= len(list); i++ {
		if i < len(list) && prefix(list[i].scope, depth+1) == prefix(list[start].scope, depth+1) {
			continue
		}
		out = append(out, p.cut(list[start:i], depth+1)...)
		start = i
	}
	return p.merge(out)
}

// merge joins short neighbours, so that a few statements make no function.
func (p *printer) merge(lists [][]*stmt) [][]*stmt {
	const short = 8
	var out [][]*stmt
	for _, l := range lists {
		k := len(out) - 1
		if k >= 0 && (len(l) < short || len(out[k]) < short) && len(out[k])+len(l) <= p.MaxStatements {
			out[k] = append(out[k][:len(out[k]):len(out[k])], l...)
			continue
		}
		out = append(out, l)
	}
	return out
}

// prefix returns the first words of a scope's path.
func prefix(s graph.Scope, words int) string {
	parts := strings.Split(s.Path, ".")
	return strings.Join(parts[:min(words, len(parts))], ".")
}

// nameParts names each part after the scope that most of it belongs to.
func (p *printer) nameParts(parts []*part) {
	for _, q := range parts {
		common := q.list[0].scope.Path
		for _, s := range q.list {
			for common != "" && s.scope.Path != common && !strings.HasPrefix(s.scope.Path, common+".") {
				cut := strings.LastIndexByte(common, '.')
				common = common[:max(cut, 0)]
			}
		}
		hint := common
		if hint == "" {
			hint = "part"
		}
		q.name = p.decls.Lower(p.Func + "_" + hint)
		q.doc = gosrc.CommentLine(q.name + " is a part of " + p.Func + ".")
		if common != "" {
			q.doc = gosrc.CommentLine(q.name + " is the part of " + p.Func + " in " + common + ".")
		}
	}
}

// connect finds what each part takes from the parts before it and what later
// ones, and the results, take from it.
func (p *printer) connect(parts []*part, results []*goVar) {
	home := map[*goVar]*part{}
	for _, q := range parts {
		for _, s := range q.list {
			for _, v := range s.defs {
				if v != nil {
					home[v] = q
				}
			}
		}
	}
	exported := map[*goVar]bool{}
	export := func(v *goVar) {
		if from := home[v]; from != nil && !exported[v] {
			exported[v] = true
			from.out = append(from.out, v)
		}
	}
	for _, q := range parts {
		taken := map[*goVar]bool{}
		for _, s := range q.list {
			for _, v := range s.uses {
				if home[v] != q && !taken[v] && v != p.self {
					taken[v] = true
					q.in = append(q.in, v)
					export(v)
				}
			}
		}
	}
	for _, v := range results {
		export(v)
	}
}

// lines prints statements: a comment where the scope changes, with an empty line
// before it, and the type of each value beside it.
func (p *printer) lines(list []*stmt, top bool) []jen.Code {
	list = prune(list)
	var out []jen.Code
	for i, s := range list {
		if top && (i == 0 || s.scope != list[i-1].scope) {
			if i > 0 {
				out = append(out, jen.Line())
			}
			if text := gosrc.ScopeComment(s.scope); text != "" {
				end := i
				for end+1 < len(list) && list[end+1].scope == s.scope {
					end++
				}
				out = append(out, jen.Comment("// "+strings.TrimSpace(text+" "+list[end].typ)))
			}
		}
		out = append(out, s.code())
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

// mainFunc prints the generated function: the statements themselves, or calls of
// the parts.
func (p *printer) mainFunc(parts []*part) jen.Code {
	lines := p.defaults()
	for _, q := range parts {
		if q.name == "" {
			lines = append(lines, p.lines(q.list, true)...)
			continue
		}
		call := p.prefix(q.name).CallFunc(func(g *jen.Group) {
			if p.self != nil && !p.method {
				g.Id(p.self.name)
			}
			for _, v := range q.in {
				g.Id(v.name)
			}
		})
		if len(q.out) > 0 {
			var names []jen.Code
			for _, v := range q.out {
				names = append(names, jen.Id(v.name))
			}
			call = jen.List(names...).Op(":=").Add(call)
		}
		lines = append(lines, call)
	}
	if len(lines) > 12 {
		lines = append(lines, jen.Line())
	}
	lines = append(lines, jen.Return(p.results...))
	return p.header(p.Func).Params(p.signature(p.params)...).Add(resultList(p.resultTypes)).Block(lines...)
}

// partFunc prints one part as a function.
func (p *printer) partFunc(q *part) jen.Code {
	lines := p.lines(q.list, true)
	var names, types []jen.Code
	for _, v := range q.out {
		names = append(names, jen.Id(v.name))
		types = append(types, v.typ)
	}
	if len(names) > 0 {
		lines = append(lines, jen.Return(names...))
	}
	return p.header(q.name).Params(p.signature(q.in)...).Add(resultList(types)).Block(lines...)
}

// header starts a function or a method of the generated type.
func (p *printer) header(name string) *jen.Statement {
	if p.method {
		return jen.Func().Params(jen.Id("m").Add(p.receiver)).Id(name)
	}
	return jen.Func().Id(name)
}

func (p *printer) prefix(name string) *jen.Statement {
	if p.method {
		return jen.Id("m").Dot(name)
	}
	return jen.Id(name)
}

// signature lists parameters, those of one type together.
func (p *printer) signature(vars []*goVar) []jen.Code {
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
