package module

import (
	"strings"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
)

// part is a run of statements; with a name it becomes a function of its own.
type part struct {
	list    []*stmt
	name    string
	doc     string
	in, out []*goVar
}

// splitter cuts a long body into functions along the scopes of the model, so that
// a trace, which looks through calls, still records the same.
type splitter struct {
	max   int // statements of a function
	fn    string
	decls *goname.Set
	self  *goVar
}

// split cuts a body, and finds the operands and results of each part.
func (p *splitter) split(b *body) []*part {
	b.list = prune(b.list)
	if len(b.list) <= p.max {
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
// then further inside parts that are still too long, and by number when scopes
// do not help.
func (p *splitter) cut(list []*stmt, depth int) [][]*stmt {
	if len(list) <= p.max {
		return [][]*stmt{list}
	}
	if depth > 16 {
		return append([][]*stmt{list[:p.max]}, p.cut(list[p.max:], depth)...)
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
func (p *splitter) merge(lists [][]*stmt) [][]*stmt {
	const short = 8
	var out [][]*stmt
	for _, l := range lists {
		k := len(out) - 1
		if k >= 0 && (len(l) < short || len(out[k]) < short) && len(out[k])+len(l) <= p.max {
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
func (p *splitter) nameParts(parts []*part) {
	for _, piece := range parts {
		common := piece.list[0].scope.Path
		for _, s := range piece.list {
			for common != "" && s.scope.Path != common && !strings.HasPrefix(s.scope.Path, common+".") {
				cut := strings.LastIndexByte(common, '.')
				common = common[:max(cut, 0)]
			}
		}
		hint := common
		if hint == "" {
			hint = "part"
		}
		piece.name = p.decls.Lower(p.fn + "_" + hint)
		piece.doc = gosrc.CommentLine(piece.name + " is a part of " + p.fn + ".")
		if common != "" {
			piece.doc = gosrc.CommentLine(piece.name + " is the part of " + p.fn + " in " + common + ".")
		}
	}
}

// connect finds the values that each part takes from earlier parts, and those
// that later parts and the results take from it.
func (p *splitter) connect(parts []*part, results []*goVar) {
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
