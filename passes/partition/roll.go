package partition

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/repeat"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// rolled is one group of a run, in the form in which all are alike.
type rolled struct {
	nodes []*graph.Node
	scope graph.Scope
	used  []int // nodes whose value is used outside, by place
}

// roll turns the groups of a run into calls.
func (r *reroller) roll(run repeat.Run) error {
	groups := make([]rolled, run.Count)
	most := 0
	for k := range groups {
		groups[k] = r.group(r.nodes[run.At+k*run.Period : run.At+(k+1)*run.Period])
		if n := groups[k].torn(); n != nil {
			r.c.Refuse(n, "a group would have one part of a tuple's uses")
			return nil
		}
		if len(groups[k].used) > len(groups[most].used) {
			most = k
		}
	}
	// The group whose results are those of all others gives the sub-graph.
	first := groups[most]
	for _, q := range groups {
		for _, i := range q.used {
			if !slices.Contains(first.used, i) {
				r.c.Refuse(q.nodes[i], "other groups give other results")
				return nil
			}
		}
	}
	outside := r.text(first.nodes).Outside()
	call, err := graph.Outline(nameOf(first.scope.Path), first.nodes)
	if err != nil {
		r.c.Refuse(first.nodes[0], err.Error())
		return nil
	}
	places := make([]int, call.NumArgs()) // -1 for those that only give sizes
	for i, a := range call.Args() {
		places[i] = slices.Index(outside, a)
	}
	params := r.params(groups, places, call)
	like := template{callee: call.Callee(), attrs: call.Attrs(), typ: call.Type(), params: params}
	sized := call.Args()
	for k, q := range groups {
		if k == most {
			r.put(rolled{nodes: []*graph.Node{call}, scope: first.scope}, nil, like, call.Args())
			continue
		}
		outside, args := r.text(q.nodes).Outside(), slices.Clone(sized) // calls have taken the place of groups before
		for i, at := range places {
			if at >= 0 {
				args[i] = outside[at]
			}
		}
		r.put(q, first.used, like, args)
	}
	return nil
}

// template is what the calls of one sub-graph have in common.
type template struct {
	callee *graph.Graph
	attrs  any
	typ    shape.Type
	params int // the last operands that become parameters of modules
}

// nameOf is what the sub-graph of groups in scopes such as encoder.layer.0 is called.
func nameOf(path string) string {
	name := strings.Trim(repeat.WithoutDigits(path), "._")
	name = name[strings.LastIndexByte(name, '.')+1:]
	if name == "" {
		return "block"
	}
	return name
}

// torn returns a tuple of the group that others take apart, or one of others that the
// group takes apart; nil when there is none.
func (q *rolled) torn() *graph.Node {
	for _, n := range q.nodes {
		if n.Op() == op.GetItem && !slices.Contains(q.nodes, n.Arg(0)) {
			return n
		}
		if n.Type().Kind() != shape.Tuple {
			continue
		}
		for u := range n.Users() {
			if !slices.Contains(q.nodes, u) {
				return n
			}
		}
	}
	return nil
}

// group looks at one group.
func (r *reroller) group(nodes []*graph.Node) rolled {
	q := rolled{nodes: calls(nodes)}
	q.scope.Path = common(q.nodes)
	in := map[*graph.Node]bool{}
	for _, n := range q.nodes {
		in[n] = true
		if s := n.Scope(); s.Path == q.scope.Path {
			q.scope = s
		}
	}
	for i, n := range q.nodes {
		for u := range n.Users() {
			if !in[u] {
				q.used = append(q.used, i)
				break
			}
		}
	}
	return q
}

// params is how many of the last operands are parameters of the modules that are
// called: all reads of the state, unless a group reads there what is written.
func (r *reroller) params(groups []rolled, places []int, call *graph.Node) int {
	count := 0
	for i, a := range call.Args() {
		if a.Opcode() == graph.GetAttr {
			count++
		}
		for _, q := range groups {
			if places[i] < 0 || q.nodes[0].Erased() {
				continue
			}
			b := r.text(q.nodes).Outside()[places[i]]
			if (a.Opcode() == graph.GetAttr) != (b.Opcode() == graph.GetAttr) || b.Opcode() == graph.GetAttr && (b.Live() || r.effects.WrittenState(b.Target())) {
				return 0
			}
		}
		if a.Opcode() == graph.GetAttr && (a.Live() || r.effects.WrittenState(a.Target())) {
			return 0
		}
	}
	return count
}

// put replaces a group by a call; used are the nodes that give its results, none for
// one that is a call already.
func (r *reroller) put(q rolled, used []int, like template, args []*graph.Node) {
	last := q.nodes[len(q.nodes)-1]
	c := r.g.After(last).From(q.nodes[0])
	c.SetScope(r.g.Scope(q.scope))
	values, reads := args[:len(args)-like.params], args[len(args)-like.params:]
	var call *graph.Node
	if like.params == 0 {
		call = c.Function(op.Call, like.attrs, values...)
	} else {
		call = c.Module(r.module(like, q.scope.Path, reads), values...)
	}
	call.SetType(like.typ)
	if used == nil {
		last.ReplaceUses(call, nil)
	}
	for i, at := range used {
		in := func(u *graph.Node) bool { return slices.Contains(q.nodes, u) }
		if !slices.ContainsFunc(slices.Collect(q.nodes[at].Users()), func(u *graph.Node) bool { return !in(u) }) {
			continue
		}
		by := call
		if like.callee.Output().Structure() != nil {
			by = c.ItemNode(call, i)
			by.SetType(q.nodes[at].Type())
		}
		q.nodes[at].ReplaceUses(by, func(u *graph.Node) bool { return !in(u) })
	}
	for i := len(q.nodes) - 1; i >= 0; i-- {
		if err := r.g.Erase(q.nodes[i]); err != nil {
			panic(err) // its uses are replaced
		}
	}
	for _, a := range args {
		if a.Opcode() == graph.GetAttr && a.NumUses() == 0 {
			_ = r.g.Erase(a) // one that defines a symbol stays
		}
	}
	r.c.Rewrote(last, call, "one of several groups that are the same: sub-graph "+like.callee.Name)
}

// module enters a module that runs the sub-graph on parameters, and returns its path.
func (r *reroller) module(like template, path string, reads []*graph.Node) string {
	m := r.c.Module
	if path == "" {
		path = like.callee.Name
	}
	base := path
	for i := 1; m.Bound(path) != nil; i++ {
		path = base + "_" + strconv.Itoa(i)
	}
	b := graph.Bound{Op: op.Call, Attrs: like.attrs}
	inputs := like.callee.Inputs()
	for i, a := range reads {
		b.Params = append(b.Params, a.Target())
		b.Names = append(b.Names, inputs[len(inputs)-len(reads)+i].Name())
	}
	m.SetBound(path, b)
	return path
}
