package pt2

import (
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// controlRules are the operators with graphs: regions of cond, while and scan. A graph of the file has all that
// it uses among its inputs, except sizes.
var controlRules = map[string]rule{
	"higher_order.cond":                       {args: positional, run: branch},
	"higher_order.while_loop":                 {args: positional, run: loop},
	"higher_order.scan":                       {args: positional, run: scan},
	"higher_order.map_impl":                   {args: positional, run: mapped},
	"higher_order.wrap_with_set_grad_enabled": {args: positional, run: gradless},
	"higher_order.wrap_with_autocast":         {args: positional, run: autocast},
}

// arg is argument i of an operator without names.
func arg(c *call, i int) argument {
	if i >= len(c.n.Inputs) {
		panic(refuse(CodeProgram, "it has "+count(len(c.n.Inputs), "argument")+", expected more"))
	}
	return c.n.Inputs[i].Arg
}

// graph is an argument that is a graph.
func (c *call) graph(i int) *graphJSON {
	a := arg(c, i)
	var g struct {
		Graph *graphJSON `json:"graph"`
	}
	if a.kind != "as_graph" {
		panic(refuse(CodeProgram, "argument "+strconv.Itoa(i)+" is "+quote(a.kind)+", expected a graph"))
	}
	if c.s.depth >= mostDepth {
		panic(refuse(CodeProgram, "graphs are nested more than "+strconv.Itoa(mostDepth)+" deep"))
	}
	if c.s.decode(a.raw, &g); g.Graph == nil {
		panic(refuse(CodeProgram, "argument "+strconv.Itoa(i)+" has no graph"))
	}
	return g.Graph
}

// operands are the members of an argument that is a list.
func (c *call) operands(i int) []*value {
	if i >= len(c.n.Inputs) {
		return nil
	}
	v := c.s.value(arg(c, i))
	if v == nil || !v.isList {
		panic(refuse(CodeProgram, "argument "+strconv.Itoa(i)+" is no list of operands"))
	}
	return v.list
}

// region begins a graph with inputs for operands: tensors, and numbers where carried says that
// rounds change them; other numbers and sizes are those outside.
func region(c *call, name string, g *graphJSON, operands []*value, types []shape.Type, seed []*graph.Node) *scope {
	if len(g.Inputs) != len(operands) {
		panic(refuse(CodeProgram, "the graph has "+count(len(g.Inputs), "input")+" for "+count(len(operands), "operand")))
	}
	r := c.s.cur.Graph().NewRegion(name)
	s := &scope{im: c.im, values: map[string]*value{}, outer: c.s, cur: r.At(), g: g, depth: c.s.depth + 1, prefix: c.s.prefix + c.n.Name + "/",
		inputs: map[*graph.Node]*graph.Node{}}
	var label goname.Labels
	for i, in := range g.Inputs {
		at := "input " + quote(s.prefix+in.name())
		if types[i].Kind() == shape.None {
			v := *operands[i]
			s.define(at, in.name(), &v)
			continue
		}
		n := s.cur.Placeholder(label.Fresh(goname.Legal(in.name(), "x")), types[i], nil)
		if operands[i].ref != nil || in.kind == "as_tensor" {
			s.define(at, in.name(), &value{ref: alias.Whole(&alias.Storage[*graph.Node]{Value: n, Of: &origin{inner: true}})})
		} else {
			s.define(at, in.name(), &value{node: n})
		}
	}
	for _, n := range seed {
		s.captured(c.s, n)
	}
	return s
}

// captured returns the value in s of a node of a graph around it.
func (s *scope) captured(of *scope, n *graph.Node) *graph.Node {
	if s == of {
		return n
	}
	outer := s.outer.captured(of, n)
	if have := s.inputs[outer]; have != nil {
		return have
	}
	s.inputs[outer] = addInput(s.cur.Graph(), outer)
	s.caught = append(s.caught, outer)
	return s.inputs[outer]
}

// addInput adds a placeholder after those there are.
func addInput(g *graph.Graph, outer *graph.Node) *graph.Node {
	if at := g.FirstAfterInputs(); at != nil {
		return g.Before(at).Placeholder(outer.Name(), outer.Type(), nil)
	}
	return g.At().Placeholder(outer.Name(), outer.Type(), nil)
}

// fill imports the nodes of a region and returns its results.
func (s *scope) fill() []*graph.Node {
	before := len(s.im.errs)
	s.im.nodes(s)
	if len(s.im.errs) > before {
		panic(stopped{})
	}
	var outs []*graph.Node
	for _, o := range s.g.Outputs {
		v := s.value(o)
		if v == nil {
			panic(refuse(CodeProgram, "a result of the graph is "+quote(o.kind)+", expected a tensor or a number"))
		}
		if v.none {
			continue
		}
		outs = append(outs, s.tensorOf(v))
	}
	return outs
}

// finish writes the output of a region.
func (s *scope) finish(outs []*graph.Node) *graph.Graph {
	st := &graph.Structure{Kind: graph.Results}
	for i := range outs {
		st.Fields = append(st.Fields, graph.Leaf(i))
	}
	s.cur.SetScope(0)
	s.cur.Output(st, outs...)
	return s.cur.Graph()
}

// typesOf are the types of operands, none for numbers that are known or follow from sizes unless all are asked for.
func typesOf(c *call, operands []*value, all bool) (types []shape.Type, nodes []*graph.Node) {
	types = make([]shape.Type, len(operands))
	for i, v := range operands {
		if v.isList || v.none {
			panic(refuse(CodeProgram, "an operand is "+v.what()+", expected a tensor or a number"))
		}
		if v.ref == nil && v.node == nil && !all {
			continue
		}
		n := c.s.scalar(v)
		types[i], nodes = n.Type(), append(nodes, n)
	}
	return types, nodes
}

// results takes a node's value apart: tensors, or numbers where the file says so.
func outcomes(c *call, n *graph.Node, count int) []*value {
	var kinds []string
	for _, o := range c.n.Outputs {
		if o.kind != "as_tensors" {
			kinds = append(kinds, o.kind)
		}
	}
	out := make([]*value, count)
	for i := range out {
		m := c.s.cur.ItemNode(n, i)
		if i < len(kinds) && strings.HasPrefix(kinds[i], "as_sym_") {
			out[i] = &value{node: m}
			continue
		}
		c.s.discovered(m)
		out[i] = fresh(m)
	}
	return out
}

// branch is cond; where the condition is known, the branch itself.
func branch(c *call) []*value {
	pred := c.s.value(arg(c, 0))
	if pred == nil {
		panic(refuse(CodeProgram, "the condition is "+quote(arg(c, 0).kind)+", expected a truth"))
	}
	if n, ok := pred.known(); ok {
		if n.Float64() != 0 {
			return inline(c, c.graph(1), c.operands(3))
		}
		return inline(c, c.graph(2), c.operands(3))
	}
	operands := c.operands(3)
	types, args := typesOf(c, operands, false)
	yes := region(c, "then", c.graph(1), operands, types, nil)
	outs := [2][]*graph.Node{yes.fill()}
	no := region(c, "else", c.graph(2), operands, types, yes.caught)
	outs[1] = no.fill()
	for _, n := range no.caught[len(yes.caught):] {
		yes.captured(c.s, n)
	}
	if len(outs[0]) != len(outs[1]) || len(outs[0]) == 0 {
		panic(refuse(CodeProgram, "the branches have "+strconv.Itoa(len(outs[0]))+" and "+count(len(outs[1]), "result")))
	}
	cond := c.s.scalar(pred)
	if cond.Type().Rank() > 0 {
		cond = nodeOf(c, c.do(std.Reshape, std.ReshapeAttrs{}, cond))
	}
	args = append(append([]*graph.Node{cond}, args...), yes.caught...)
	n := c.s.cur.Region(op.Cond, nil, []*graph.Graph{yes.finish(outs[0]), no.finish(outs[1])}, args...)
	return outcomes(c, n, len(outs[0]))
}

// loop is while_loop: a graph that tells whether to go on, one that computes the carried values,
// these values, and constants.
func loop(c *call) []*value {
	carried, constants := c.operands(2), c.operands(3)
	all := append(append([]*value{}, carried...), constants...)
	types, args := typesOf(c, carried, true)
	more, rest := typesOf(c, constants, false)
	types, args = append(types, more...), append(args, rest...)
	test := region(c, "test", c.graph(0), all, types, nil)
	goOn := test.fill()
	body := region(c, "body", c.graph(1), all, types, test.caught)
	outs := body.fill()
	for _, n := range body.caught[len(test.caught):] {
		test.captured(c.s, n)
	}
	if len(goOn) != 1 || len(outs) != len(carried) {
		panic(refuse(CodeProgram, "the condition has "+count(len(goOn), "result")+" and the body "+strconv.Itoa(len(outs))+", expected 1 and "+strconv.Itoa(len(carried))))
	}
	if goOn[0].Type().Rank() > 0 {
		goOn[0] = test.cur.Function(std.Reshape, std.ReshapeAttrs{}, goOn[0])
	}
	n := c.s.cur.Region(op.While, op.LoopAttrs{Carry: len(carried)}, []*graph.Graph{test.finish(goOn), body.finish(outs)}, append(args, body.caught...)...)
	return outcomes(c, n, len(carried))
}

// scan runs a graph for each index of the first dimension of sequences.
func scan(c *call) []*value {
	return rounds(c, c.graph(0), c.operands(1), c.operands(2), c.operands(3))
}

// mapped is scan that carries nothing.
func mapped(c *call) []*value {
	return rounds(c, c.graph(0), nil, c.operands(1), c.operands(2))
}

func rounds(c *call, g *graphJSON, carried, seqs, constants []*value) []*value {
	types, args := typesOf(c, carried, true)
	rows, seqArgs := typesOf(c, seqs, true)
	for i, t := range rows {
		if t.Rank() < 1 {
			panic(refuse(CodeProgram, "sequence "+strconv.Itoa(i)+" has no dimensions"))
		}
		rows[i] = t.WithDims(shape.Of(t.Dims().Slice()[1:]...))
	}
	more, rest := typesOf(c, constants, false)
	types = append(append(types, rows...), more...)
	args = append(append(args, seqArgs...), rest...)
	s := region(c, "body", g, append(append(append([]*value{}, carried...), seqs...), constants...), types, nil)
	outs := s.fill()
	if len(outs) < len(carried) {
		panic(refuse(CodeProgram, "the graph has "+count(len(outs), "result")+", and "+strconv.Itoa(len(carried))+" are carried"))
	}
	n := c.s.cur.Region(op.Scan, op.LoopAttrs{Carry: len(carried), Seqs: len(seqs)}, []*graph.Graph{s.finish(outs)}, append(args, s.caught...)...)
	return outcomes(c, n, len(outs))
}

// inlined writes the graph of argument i, whose operands are the arguments after it, into the graph around it.
func inlined(c *call, i int) []*value {
	g := c.graph(i)
	var operands []*value
	for k := i + 1; k < len(c.n.Inputs); k++ {
		v := c.s.value(arg(c, k))
		if v == nil {
			panic(refuse(CodeProgram, "argument "+strconv.Itoa(k)+" is "+quote(arg(c, k).kind)+", expected an operand"))
		}
		operands = append(operands, v)
	}
	return inline(c, g, operands)
}

// gradless is a graph in which gradients are on or off, its first argument. Off, what it computes counts
// as constant; what it passes on does not.
func gradless(c *call) []*value {
	on := c.s.value(arg(c, 0))
	if on == nil {
		panic(refuse(CodeProgram, "the first argument is "+quote(arg(c, 0).kind)+", expected True or False"))
	}
	outs := inlined(c, 1)
	if n, ok := on.known(); !ok || n.Float64() != 0 {
		return outs
	}
	given := map[*alias.Ref[*graph.Node]]bool{}
	for k := 2; k < len(c.n.Inputs); k++ {
		if v := c.s.value(arg(c, k)); v != nil {
			given[v.ref] = true
		}
	}
	for _, v := range outs {
		if v.ref != nil && !given[v.ref] {
			v.still = true
		}
	}
	return outs
}

func inline(c *call, g *graphJSON, operands []*value) []*value {
	if len(g.Inputs) != len(operands) {
		panic(refuse(CodeProgram, "the graph has "+count(len(g.Inputs), "input")+" for "+count(len(operands), "operand")))
	}
	s := &scope{im: c.im, values: map[string]*value{}, outer: c.s.outer, cur: c.s.cur, g: g, depth: c.s.depth + 1, prefix: c.s.prefix + c.n.Name + "/",
		inputs: c.s.inputs, caught: c.s.caught}
	for i, in := range g.Inputs {
		v := *operands[i]
		s.define("input "+quote(s.prefix+in.name()), in.name(), &v)
	}
	before := len(c.im.errs)
	c.im.nodes(s)
	c.s.caught = s.caught
	if len(c.im.errs) > before {
		panic(stopped{})
	}
	var outs []*value
	for _, o := range g.Outputs {
		v := s.value(o)
		if v == nil {
			panic(refuse(CodeProgram, "a result of the graph is "+quote(o.kind)))
		}
		copied := *v
		outs = append(outs, &copied)
	}
	return outs
}

// autocast is a graph in which element types are others; where that is switched off they are not.
func autocast(c *call) []*value {
	on := c.s.value(arg(c, 2)) // device, type, whether, cache
	if on == nil {
		panic(refuse(CodeProgram, "the third argument is "+quote(arg(c, 2).kind)+", expected True or False"))
	}
	if n, ok := on.known(); !ok || n.Float64() != 0 {
		panic(refuse(CodeOperator, "autocast is not supported: its operators choose element types by themselves").WithHint("export the model outside of torch.autocast, with its weights in the element type"))
	}
	return inlined(c, 4)
}
