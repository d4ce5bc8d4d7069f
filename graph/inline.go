package graph

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Inline replaces a call of a sub-graph by the nodes of that, and returns what now
// gives its results; the call and the getitem nodes that take it apart are erased.
// It is the inverse of Outline: the sub-graph stays, for other calls
// (Module.DropUnused). Positions are kept, scopes are put below that of the call,
// and symbols that the sub-graph finds itself keep their names where these are free.
func Inline(call *Node) (results []*Node, err error) {
	if call.Op() != op.Call {
		return nil, call.Error(BadCall, call.String()+" is no call of a sub-graph")
	}
	if e := call.CheckCall(); e != nil {
		return nil, e
	}
	sub, g := call.Callee(), call.g
	if sub == nil {
		return nil, call.Error(BadCall, "the graph belongs to no module, expected one with the sub-graph")
	}
	outs := sub.Output().Args()
	given := [][]*Node{{call}} // what gives result i so far
	if sub.Output().typ.Kind() == shape.Tuple {
		if given, err = call.items(len(outs)); err != nil {
			return nil, err
		}
	}
	defer diag.Catch(&err)
	c := g.Before(call)
	args := call.Args()
	if b := call.Bound(); b != nil {
		written := g.mod.writes()
		for _, path := range b.Params {
			read := c.GetAttr(path)
			read.SetLive(written[path])
			args = append(args, read)
		}
	}
	in := &inliner{c: c, src: sub, to: make(map[*Node]*Node, sub.count), size: map[string]shape.Dim{}, named: true, base: call.Scope().Path}
	for i, r := range outs {
		in.export(r, given[i])
	}
	results = in.all(sub.Inputs(), args)
	for i, old := range given {
		for _, n := range old {
			results[i].keep(n)
			n.ReplaceUses(results[i], nil)
			if n != call {
				if err := g.Erase(n); err != nil {
					return nil, err
				}
			}
		}
	}
	g.symbols.guardTable.move(call, nil)
	return results, g.Erase(call)
}

// writes returns the paths of the tensors that any node of the module writes.
func (m *Module) writes() map[string]bool {
	written := map[string]bool{}
	for g := range m.Graphs() {
		for path := range g.writes() {
			written[path] = true
		}
	}
	return written
}

// items returns the getitem nodes of a call by result.
func (n *Node) items(count int) ([][]*Node, error) {
	items := make([][]*Node, count)
	for u := range n.Users() {
		a, ok := u.attrs.(op.GetItemAttrs)
		if u.op != op.GetItem || !ok || a.Index < 0 || a.Index >= count {
			return nil, u.Error(BadCall, u.String()+" uses "+n.String()+" as a whole, expected getitem of one of its "+strconv.Itoa(count)+" results")
		}
		items[a.Index] = append(items[a.Index], u)
	}
	return items, nil
}

// export says what the symbols that are sizes of result r are called by the caller,
// who may have defined them by the nodes that give the result.
func (in *inliner) export(r *Node, given []*Node) {
	if r.opcode == Placeholder {
		return
	}
	for _, s := range in.src.SymbolsOf(r) {
		for _, n := range given {
			for _, t := range in.c.g.SymbolsOf(n) {
				if _, known := in.size[s.Name]; !known && t.Axis == s.Axis {
					in.size[s.Name] = shape.Sym(t.Name)
				}
			}
		}
	}
}

// keep gives n what the type of old says beyond its own.
func (n *Node) keep(old *Node) {
	if t, ok := n.g.agree(old.typ, n.typ); ok {
		n.typ = t
	}
}
