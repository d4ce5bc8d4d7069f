package count

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Flops returns the floating-point operations of a node over the graph's symbols, as
// operators count them: the parameters of a called module are operands. A call of a
// sub-graph counts what that computes for its operands, a scan its body once for each
// slice, a cond the branch that computes more, a while its body as often as the symbol
// that Turns names says. It is Unknown where types are, and 0 for what is no call.
// Those of a graph are the sum over its Nodes; what is inside of them is counted there.
func Flops(n *graph.Node) shape.Dim { return count(n, flops) }

// Bytes returns the bytes that a node reads and writes when it runs on its own: a call
// its operands, the parameters of a called module included, and its results. What runs
// inside it is counted as Flops counts it. It is Unknown where types are, and 0 for what
// moves nothing: views, getitem, and what is no call.
func Bytes(n *graph.Node) shape.Dim { return count(n, bytes) }

func flops(n *graph.Node) shape.Dim {
	o := n.Op()
	if o == nil {
		return shape.Const(0)
	}
	return o.Flops(n.Attrs(), n.OperandTypes(), n.Type())
}

func bytes(n *graph.Node) shape.Dim {
	o := n.Op()
	if o == nil || o.Structural() && o != op.Assign || o.ViewOf > 0 && !o.MayCopy {
		return shape.Const(0)
	}
	total := n.Type().Bytes()
	if n.Type().Kind() == shape.None {
		total = shape.Unknown
	}
	for i, t := range n.OperandTypes() {
		if t.Kind() == shape.None && n.Arg(i) != nil {
			return shape.Unknown
		}
		total = total.Add(t.Bytes())
	}
	return total
}

// Turns is the symbol in Flops and Bytes that stands for how often the while of that
// name runs its body, which only a run tells.
func Turns(loop string) string { return "turns_" + loop }

// count sums what own says of a node and of what runs inside it.
func count(n *graph.Node, own func(*graph.Node) shape.Dim) shape.Dim {
	if len(n.Bodies()) == 0 {
		return own(n)
	}
	c := counter{own: own, sums: map[*graph.Graph]shape.Dim{}}
	return c.node(n)
}

// counter sums over graphs, each once.
type counter struct {
	own  func(*graph.Node) shape.Dim
	sums map[*graph.Graph]shape.Dim
}

func (c *counter) sum(g *graph.Graph) shape.Dim {
	if sum, ok := c.sums[g]; ok {
		return sum
	}
	c.sums[g] = shape.Unknown // of a graph that comes to call itself
	sum := shape.Const(0)
	for n := range g.Nodes() {
		sum = sum.Add(c.node(n))
	}
	c.sums[g] = sum
	return sum
}

func (c *counter) node(n *graph.Node) shape.Dim {
	bodies := n.Bodies()
	if len(bodies) == 0 {
		return c.own(n)
	}
	if n.CheckControl() != nil {
		return shape.Unknown
	}
	types, times := n.OperandTypes(), shape.Const(1)
	switch o := n.Op(); o {
	case op.Cond:
		return most(c.body(bodies[0], types[1:]), c.body(bodies[1], types[1:]))
	case op.While:
		if knows(n.Graph(), Turns(n.Name())) || !shape.ValidSymbol(Turns(n.Name())) {
			return shape.Unknown
		}
		steady(bodies[1], types)
		turns := shape.Sym(Turns(n.Name()))
		tests := c.body(bodies[0], types).Mul(turns.AddInt(1))
		return tests.Add(c.body(bodies[1], types).Mul(turns))
	case op.Scan:
		a := n.Attrs().(op.LoopAttrs)
		times = types[a.Carry].Dim(0)
		for i := a.Carry; i < a.Carry+a.Seqs; i++ {
			if t := types[i]; t.Ranked() {
				types[i] = t.WithDims(t.Dims().Sub(1, t.Rank()))
			}
		}
		steady(bodies[0], types[:a.Carry])
	}
	return c.body(bodies[0], types).Mul(times)
}

// body is what a graph counts in one run on operands of these types, over the sizes of
// the graph around it.
func (c *counter) body(g *graph.Graph, operands []shape.Type) shape.Dim {
	inputs := map[*graph.Node]shape.Type{}
	for i, in := range g.Inputs() {
		if i < len(operands) {
			inputs[in] = operands[i]
		}
	}
	return c.sum(g).Bind(func(name string) shape.Dim {
		s, own := g.Symbol(name)
		if !own {
			return shape.Sym(name) // of a graph around it, or the turns of a loop
		}
		if t := inputs[s.Node]; t.Ranked() && s.Axis < t.Rank() {
			return t.Dim(s.Axis)
		}
		return shape.Unknown // found inside
	})
}

// knows reports whether the graph, or one around it, has the symbol.
func knows(g *graph.Graph, name string) bool {
	for ; ; g = g.Parent().Graph() {
		if _, ok := g.Symbol(name); ok || g.Parent() == nil {
			return ok
		}
	}
}

// steady forgets the sizes of carried values that a turn of the body changes.
func steady(body *graph.Graph, carried []shape.Type) {
	in, out := body.Inputs(), body.Output()
	for i, t := range carried {
		if !t.Ranked() || i >= out.NumArgs() {
			continue
		}
		before, after, dims := in[i].Type(), out.Arg(i).Type(), t.Dims()
		for k := range dims.Len() {
			if !before.Ranked() || !after.Ranked() || !before.Dim(k).Same(after.Dim(k)) {
				dims = dims.With(k, shape.Unknown)
			}
		}
		carried[i] = t.WithDims(dims)
	}
}

// most is the greater of two counts; Unknown where that depends on sizes.
func most(a, b shape.Dim) shape.Dim {
	switch {
	case a.Same(b) || shape.AtLeast(a, b).Truth() == shape.True:
		return a
	case shape.AtLeast(b, a).Truth() == shape.True:
		return b
	}
	return shape.Unknown
}
