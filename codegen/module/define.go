package module

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// define emits the statement of a call whose expression is given; the results
// become the values of the node or of the getitem nodes that take it apart.
func (p *writer) define(n *graph.Node, rhs *jen.Statement, static bool, depth int) {
	s := &stmt{rhs: rhs, scope: n.Scope(), typ: gosrc.TypeComment(n.Type())}
	if static && p.anchor != nil && n.NumUses() == 0 {
		s.rhs = gosrc.From("tensor", "On").Call(p.ref(p.anchor), rhs)
		static = false
	}
	v := p.local(hintOf(n), tensorType())
	s.defs = []*goVar{v}
	p.values[n] = value{v: v, static: static, depth: depth}
	p.emit(s)
}

// tuple is a call with several results.
type tuple struct {
	items  map[int]value
	static bool
	depth  int
}

// several emits the statement of a call that returns its results one by one.
func (p *writer) several(n *graph.Node, rhs *jen.Statement, count int, static bool, depth int) {
	members := &tuple{items: map[int]value{}, static: static, depth: depth}
	p.tuples[n] = members
	line := &stmt{rhs: rhs, defs: make([]*goVar, count), scope: n.Scope(), typ: gosrc.TypeComment(n.Type())}
	for u := range n.Users() {
		i, ok := itemIndex(u, n)
		if !ok || i < 0 || i >= count {
			continue
		}
		if _, known := members.items[i]; !known {
			v := p.local(itemName(n, u, i), tensorType())
			line.defs[i] = v
			members.items[i] = value{v: v, static: static, depth: depth}
		}
	}
	p.emit(line)
}

// list emits the statement of a call that returns a list; from is the index of
// the list's first element among the results.
func (p *writer) list(node *graph.Node, rhs *jen.Statement, static bool, depth int) {
	members := &tuple{items: map[int]value{}, static: static, depth: depth}
	p.tuples[node] = members
	used := map[int]*graph.Node{}
	var order []int
	for u := range node.Users() {
		if i, ok := itemIndex(u, node); ok && used[i] == nil {
			used[i] = u
			order = append(order, i)
		}
	}
	line := &stmt{rhs: rhs, scope: node.Scope(), typ: gosrc.TypeComment(node.Type())}
	if len(order) == 1 {
		v := p.local(itemName(node, used[order[0]], order[0]), tensorType())
		if members := node.Type(); members.Kind() == shape.Tuple && order[0] < members.Len() {
			line.typ = gosrc.TypeComment(members.Member(order[0]))
		}
		line.rhs = rhs.Index(jen.Lit(order[0]))
		line.defs = []*goVar{v}
		members.items[order[0]] = value{v: v, static: static, depth: depth}
		p.emit(line)
		return
	}
	v := p.local(hintOf(node), jen.Index().Add(tensorType()))
	line.defs = []*goVar{v}
	p.emit(line)
	p.elements(members, v, order, 0)
}

// elements makes the elements of a list variable results, from the given one on.
func (p *writer) elements(t *tuple, v *goVar, order []int, from int) {
	for _, i := range order {
		t.items[i] = value{static: t.static, depth: t.depth, code: func() *jen.Statement { return p.ref(v).Index(jen.Lit(i - from)) }}
	}
}

// itemName names a member of a tuple: as its node is named, unless that name only
// says that it is a member.
func itemName(tuple, item *graph.Node, i int) string {
	if !strings.HasPrefix(item.Name(), op.GetItem.Name) {
		return item.Name()
	}
	if r := tuple.Op().Results; i < len(r) && r[i] != "..." && !tuple.Op().AdHoc {
		return r[i]
	}
	return tuple.Name()
}

func itemIndex(u, tuple *graph.Node) (int, bool) {
	if u.Op() != op.GetItem || u.Arg(0) != tuple {
		return 0, false
	}
	return u.Attrs().(op.GetItemAttrs).Index, true
}

func (p *writer) getItem(node *graph.Node) {
	t := p.tuples[node.Arg(0)]
	i, _ := itemIndex(node, node.Arg(0))
	v, ok := value{}, false
	if t != nil {
		v, ok = t.items[i]
	}
	if !ok {
		if len(p.errs) == 0 {
			p.errs.Add(node.Error(diag.Code(WholeTuple), "getitem of something that has no member "+gosrc.TypeComment(node.Arg(0).Type())))
		}
		v = value{code: func() *jen.Statement { return jen.Nil() }}
	}
	p.values[node] = v
}
