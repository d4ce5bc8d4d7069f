package importer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
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
	*rule.Call
	im    *importer
	scope *scope
}

// region starts a body.
func region(c *control, name string) *scope {
	s := c.scope
	b := c.Region(name)
	return &scope{values: map[string]*rule.Datum{}, outer: s, cur: b.Cursor, opsets: s.opsets, attrs: s.attrs, prefix: modelfile.Short(s.prefix + c.Node.Name + "/"),
		depth: s.depth, bodies: s.bodies + 1}
}

// fill fills a body with the nodes of a graph and returns its results.
func fill(c *control, s *scope, g *pb.Graph) []*rule.Datum {
	before := len(c.im.errs)
	c.im.initializers(s, g)
	c.im.nodes(s, g.Nodes)
	outs := make([]*rule.Datum, len(g.Outputs))
	for i, o := range g.Outputs {
		if outs[i] = s.find(o.Name); outs[i] == nil {
			panic(diag.New(spec.CodeModel, "no node of the body computes "+diag.Quote(o.Name)))
		}
	}
	if len(c.im.errs) > before || slices.ContainsFunc(outs, func(v *rule.Datum) bool { return v.Bad }) {
		panic(stopped{})
	}
	return outs
}

// stopped ends a node whose body has errors that are noted.
type stopped struct{}

func (c *control) graph(name string) *pb.Graph {
	a := c.Attr(name, pb.AttrGraph)
	if a == nil || a.G == nil {
		panic(diag.New(spec.CodeModel, "attribute "+name+" is missing"))
	}
	return a.G
}

// branch is cond; where the condition is known, the branch itself.
func branch(c *control) []*rule.Datum {
	yes, no := c.graph("then_branch"), c.graph("else_branch")
	if v := c.Value(0); v.Arr != nil {
		if v.Arr.Len() != 1 {
			panic(diag.New(spec.CodeModel, "the condition has "+strconv.Itoa(v.Arr.Len())+" elements"))
		}
		g := no
		if array.Int64At(v.Arr, 0) != 0 {
			g = yes
		}
		return written(c, g, 0, nil)
	}
	cond := c.Value(0)
	of := cond.Claim
	if of != nil {
		if taken, ok := c.Decide(of, c.Value(0).Node); ok {
			return written(c, map[bool]*pb.Graph{true: yes, false: no}[taken], 0, nil)
		}
	}
	regions, outs, flat := make([]*graph.Graph, 2), make([][]*rule.Datum, 2), make([][]*rule.Datum, 2)
	var captured []*rule.Datum
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
		c.im.Finish(s.cur, flat[i]...)
		regions[i] = s.cur.Graph()
		for _, v := range c.im.Bodies[regions[i]].Captured {
			if !slices.Contains(captured, v) {
				captured = append(captured, v)
			}
		}
	}
	if len(outs[0]) != len(outs[1]) || len(outs[0]) < len(c.Node.Outputs) {
		panic(diag.New(spec.CodeModel, "the branches have "+strconv.Itoa(len(outs[0]))+" and "+strconv.Itoa(len(outs[1]))+" outputs"))
	}
	if !alike(outs[0], outs[1]) {
		if of != nil {
			panic(diag.New(spec.CodeValue, "how many members the results have depends on whether "+of.String()).WithHint(rule.SizesHint))
		}
		panic(c.NotConstant(0)) // how many members there are follows from it
	}
	if len(flat[0]) == 0 {
		return grouped(outs[0], nil)
	}
	args := []*graph.Node{rule.Condition(c.Call, c.X(0))}
	for _, v := range captured {
		args = append(args, c.im.Node(c.Cursor, v))
	}
	for _, r := range regions {
		align(c, r, captured)
	}
	results := c.Results(c.Cursor.Region(op.Cond, nil, regions, args...), len(flat[0]))
	if slices.ContainsFunc(results, func(v *rule.Datum) bool { return !v.Type().Ranked() }) {
		if values, data, _ := c.im.FollowsFrom(args[0]); len(data) == 0 {
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
			c.im.errs.Add(e.At(diag.Pos{File: c.im.Name + ": " + c.scope.where(c.Node)}))
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
func other(c *control, of *rule.Claim, refused int, branches []*pb.Graph, why diag.List) []*rule.Datum {
	c.im.counting = true // the nodes that the branch has begun
	if !c.Force(of, refused == 1, c.Value(0).Node) {
		c.im.errs = append(c.im.errs, why...)
		panic(diag.New(spec.CodeValue, "which branch is taken depends on whether "+of.String()+", and one is refused").WithHint(rule.SizesHint))
	}
	return written(c, branches[1-refused], 0, nil)
}

// untaken is the error of an If that has a branch that is refused: where values of inputs decide which
// one is taken, giving them cures it.
func untaken(c *control, cond *rule.Datum) any {
	if cond.Node == nil {
		return stopped{}
	}
	values, data, _ := c.im.FollowsFrom(cond.Node)
	if len(values) == 0 || len(data) > 0 {
		return stopped{}
	}
	e := diag.New(spec.CodeValue, "which branch is taken follows from "+strings.Join(rule.Quoted(values), ", ")+", and one is refused")
	return c.im.Curable(e, cond.Node)
}

// align gives a region the inputs captured, in that order, after its own.
func align(c *control, g *graph.Graph, captured []*rule.Datum) {
	b := c.im.Bodies[g]
	var at *graph.Node
	for _, v := range slices.Backward(captured) {
		n := b.Placeholders[v]
		if n == nil {
			if at == nil {
				for at = g.First(); at.Opcode() == graph.Placeholder; {
					at = at.Next()
				}
			}
			cur := g.Before(at)
			outer := c.im.Node(b.Outer, v)
			n = cur.Placeholder(outer.Name(), outer.Type(), nil)
		} else if at != nil && n.Next() != at {
			g.MoveBefore(n, at)
		}
		at = n
	}
}

// constantBool is the value of a body's condition where it never changes: a
// constant, or the condition that comes in.
func constantBool(v, in *rule.Datum) (known, yes bool) {
	switch {
	case v == in:
		return true, true
	case v.Arr != nil && v.Arr.Len() == 1:
		return true, array.Int64At(v.Arr, 0) != 0
	}
	return false, false
}
