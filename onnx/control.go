package onnx

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/op"
)

// controlRules are the operators with bodies: regions of cond, while and scan. A
// value that a body uses of the graphs around it becomes an operand.
var controlRules = map[string][]meaning{
	"If":          {{since: 1, control: branch}},
	"Loop":        {{since: 1, control: loop}},
	"Scan":        {{since: 8, control: scanBatch}, {since: 9, control: scan}},
	"SequenceMap": {{since: 17, control: sequenceMap}},
}

// control is a call of an operator that imports the nodes of a body.
type control struct {
	*call
	im    *importer
	scope *scope
}

// region starts a body.
func region(c *control, name string) *scope {
	s := c.scope
	b := c.region(name)
	return &scope{values: map[string]*value{}, outer: s, cur: b.cur, opsets: s.opsets, attrs: s.attrs, prefix: short(s.prefix + c.n.Name + "/"),
		depth: s.depth, bodies: s.bodies + 1}
}

// fill fills a body with the nodes of a graph and returns its results.
func fill(c *control, s *scope, g *pb.Graph) []*value {
	before := len(c.im.errs)
	c.im.initializers(s, g)
	c.im.nodes(s, g.Nodes)
	outs := make([]*value, len(g.Outputs))
	for i, o := range g.Outputs {
		if outs[i] = s.find(o.Name); outs[i] == nil {
			panic(diag.New(CodeModel, "no node of the body computes "+diag.Quote(o.Name)))
		}
	}
	if len(c.im.errs) > before || slices.ContainsFunc(outs, func(v *value) bool { return v.bad }) {
		panic(stopped{})
	}
	return outs
}

// stopped ends a node whose body has errors that are noted.
type stopped struct{}

func (c *control) graph(name string) *pb.Graph {
	a := c.attr(name, pb.AttrGraph)
	if a == nil || a.G == nil {
		panic(diag.New(CodeModel, "attribute "+name+" is missing"))
	}
	return a.G
}

// branch is cond; where the condition is known, the branch itself.
func branch(c *control) []*value {
	yes, no := c.graph("then_branch"), c.graph("else_branch")
	if v := c.value(0); v.arr != nil {
		if v.arr.Len() != 1 {
			panic(diag.New(CodeModel, "the condition has "+strconv.Itoa(v.arr.Len())+" elements"))
		}
		g := no
		if array.Int64At(v.arr, 0) != 0 {
			g = yes
		}
		return written(c, g, 0, nil)
	}
	cond := c.value(0)
	of := cond.claim
	if of != nil {
		if taken, ok := c.decide(of, c.value(0).node); ok {
			return written(c, map[bool]*pb.Graph{true: yes, false: no}[taken], 0, nil)
		}
	}
	regions, outs, flat := make([]*graph.Graph, 2), make([][]*value, 2), make([][]*value, 2)
	var captured []*value
	for i, g := range []*pb.Graph{yes, no} {
		s := region(c, []string{"then", "else"}[i])
		if why := tried(c, func() { outs[i] = fill(c, s, g) }); why != nil {
			if of == nil {
				c.im.errs = append(c.im.errs, why...)
				panic(untaken(c, cond))
			}
			return other(c, of, i, []*pb.Graph{yes, no}, why)
		}
		flat[i] = members(outs[i])
		c.im.finish(s.cur, flat[i]...)
		regions[i] = s.cur.Graph()
		for _, v := range c.im.bodies[regions[i]].captured {
			if !slices.Contains(captured, v) {
				captured = append(captured, v)
			}
		}
	}
	if len(outs[0]) != len(outs[1]) || len(outs[0]) < len(c.n.Outputs) {
		panic(diag.New(CodeModel, "the branches have "+strconv.Itoa(len(outs[0]))+" and "+strconv.Itoa(len(outs[1]))+" outputs"))
	}
	if !alike(outs[0], outs[1]) {
		if of != nil {
			panic(diag.New(CodeValue, "how many members the results have depends on whether "+of.String()).WithHint(sizesHint))
		}
		panic(c.notConstant(0)) // how many members there are follows from it
	}
	if len(flat[0]) == 0 {
		return grouped(outs[0], nil)
	}
	args := []*graph.Node{condition(c.call, c.x(0))}
	for _, v := range captured {
		args = append(args, c.im.in(c.cur, v))
	}
	for _, r := range regions {
		align(c, r, captured)
	}
	results := c.results(c.cur.Region(op.Cond, nil, regions, args...), len(flat[0]))
	if slices.ContainsFunc(results, func(v *value) bool { return !v.typ().Ranked() }) {
		if values, data, _ := c.im.followsFrom(args[0]); len(data) == 0 {
			c.im.form.decide = append(c.im.form.decide, values...)
		}
	}
	return grouped(outs[0], results)
}

// tried fills a branch. It returns the errors of the branch and removes them from the list, since
// the branch may never be taken.
func tried(c *control, fill func()) (why diag.List) {
	before := len(c.im.errs)
	defer func() {
		x := recover()
		switch e := x.(type) {
		case nil:
			return
		case stopped:
		case *diag.Error:
			c.im.errs.Add(e.At(diag.Pos{File: c.im.name + ": " + c.scope.where(c.n)}))
		default:
			panic(x)
		}
		why = slices.Clone(c.im.errs[before:])
		c.im.errs = c.im.errs[:before]
	}()
	fill()
	return nil
}

// other takes the branch that is not refused: the graph is then limited to sizes that do not take
// the refused one.
func other(c *control, of *claim, refused int, branches []*pb.Graph, why diag.List) []*value {
	c.im.counting = true // the nodes that the branch has begun
	if !c.force(of, refused == 1, c.value(0).node) {
		c.im.errs = append(c.im.errs, why...)
		panic(diag.New(CodeValue, "which branch is taken depends on whether "+of.String()+", and one is refused").WithHint(sizesHint))
	}
	return written(c, branches[1-refused], 0, nil)
}

// untaken is the error of an If that has a branch that is refused: where values of inputs decide which
// one is taken, giving them cures it.
func untaken(c *control, cond *value) any {
	if cond.node == nil {
		return stopped{}
	}
	values, data, _ := c.im.followsFrom(cond.node)
	if len(values) == 0 || len(data) > 0 {
		return stopped{}
	}
	e := diag.New(CodeValue, "which branch is taken follows from "+strings.Join(quoted(values), ", ")+", and one is refused")
	return c.im.curable(e, cond.node)
}

// align gives a region the inputs captured, in that order, after its own.
func align(c *control, g *graph.Graph, captured []*value) {
	b := c.im.bodies[g]
	var at *graph.Node
	for _, v := range slices.Backward(captured) {
		n := b.inputs[v]
		if n == nil {
			if at == nil {
				for at = g.First(); at.Opcode() == graph.Placeholder; {
					at = at.Next()
				}
			}
			cur := g.Before(at)
			outer := c.im.in(b.outer, v)
			n = cur.Placeholder(outer.Name(), outer.Type(), nil)
		} else if at != nil && n.Next() != at {
			g.MoveBefore(n, at)
		}
		at = n
	}
}

// constantBool is the value of a body's condition where it never changes: a
// constant, or the condition that comes in.
func constantBool(v, in *value) (known, yes bool) {
	switch {
	case v == in:
		return true, true
	case v.arr != nil && v.arr.Len() == 1:
		return true, array.Int64At(v.arr, 0) != 0
	}
	return false, false
}
