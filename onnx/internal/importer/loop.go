package importer

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// loopBody is the body of a Loop in a region of its own.
type loopBody struct {
	s       *scope
	iter    *rule.Datum
	carried []*rule.Datum
	args    []*graph.Node // initial values of the carried values
	outs    []*rule.Datum // the condition, the carried values, results of the round
	known   bool          // the condition is the same for all rounds
	once    bool          // and false: there is one at most
}

// mostSettled is how often a body is filled until the types of its carried values hold.
const mostSettled = 4

// loopBodyOf fills a region whose carried values have types that hold in every round: a size that a round
// changes is not known.
func loopBodyOf(c *control, g *pb.Graph) *loopBody {
	l := filledBody(c, g, nil)
	for range mostSettled {
		types, changed := l.settled(c)
		if !changed {
			break
		}
		c.im.counting = true // previous content
		l = filledBody(c, g, types)
	}
	return l
}

// settled are the types of the carried values, without the sizes that a round changes. Where the sizes of
// the run are known and say that it does not, the graph relies on that.
func (l *loopBody) settled(c *control) (types []shape.Type, changed bool) {
	g := l.s.cur.Graph()
	for i, v := range l.carried {
		before, after := v.Node.Type(), l.outs[1+i].Type()
		if after.Kind() != shape.Tensor || !before.Ranked() || l.rowsOf(i) != nil { // rows become results of the rounds
			types = append(types, before)
			continue
		}
		if after.Rank() != before.Rank() {
			types, changed = append(types, shape.Unranked(before.DType())), true
			continue
		}
		dims := before.Dims()
		for axis, d := range dims.Slice() {
			if d.IsUnknown() || keeps(c, g, d, after.Dim(axis)) {
				continue
			}
			dims, changed = dims.With(axis, shape.Unknown), true
		}
		types = append(types, before.WithDims(dims))
	}
	return types, changed
}

// keeps reports whether a size is the same after a round, or the sizes of the run decide that it is.
func keeps(c *control, g *graph.Graph, before, after shape.Dim) bool {
	if after.IsUnknown() {
		return false
	}
	if equal, known := g.CompareDims(before, after); known {
		return equal
	}
	same, known := c.Decide(&rule.Claim{Rel: shape.Equality(before, after)}, nil)
	return same && known
}

// filledBody fills a region. Its first inputs are the carried values and the round; it
// runs only where its condition is true, which it is a constant in it for that. types, unless nil, are
// those of the carried values.
func filledBody(c *control, g *pb.Graph, types []shape.Type) *loopBody {
	l := &loopBody{s: region(c, "body"), iter: &rule.Datum{Name: g.Inputs[0].Name}}
	b := l.s.cur.Graph()
	own := c.im.Bodies[b]
	cond := &rule.Datum{Name: g.Inputs[1].Name, Arr: array.Scalar(true)}
	l.s.values[cond.Name] = cond
	for i, in := range g.Inputs[2:] {
		x := c.X(2 + i).(*graph.Node)
		t := x.Type()
		if types != nil {
			t = types[i]
		}
		v := &rule.Datum{Name: in.Name, Node: own.Input(goname.Legal(in.Name, "x"), t)}
		l.args, l.carried = append(l.args, x), append(l.carried, v)
		l.s.values[v.Name] = v
	}
	l.iter.Node = own.Input("i", shape.TensorType(array.I64, shape.Dims{}))
	l.s.values[l.iter.Name] = l.iter
	l.outs = fill(c, l.s, g)
	known, yes := constantBool(l.outs[0], cond)
	l.known, l.once = known, known && !yes
	return l
}

// loop is scan over a range if the number of rounds is known beforehand, else while,
// followed by a scan if each round has results.
func loop(c *control) []*rule.Datum {
	g := c.graph("body")
	carry := len(c.In) - 2
	if carry < 0 || len(g.Inputs) != carry+2 || len(g.Outputs) < carry+1 {
		panic(diag.New(spec.CodeModel, "the body has "+strconv.Itoa(len(g.Inputs))+" inputs and "+strconv.Itoa(len(g.Outputs))+" outputs"))
	}
	c.Write()
	for i := range 2 {
		if c.Has(i) && c.In[i].Arr != nil {
			c.Number(i) // each has one value
		}
	}
	switch {
	case never(c):
		return notRun(c, g, carry)
	case structured(c, g):
		return unroll(c, g, carry)
	}
	startsTrue := !c.Has(1) || c.In[1].Arr != nil
	l := loopBodyOf(c, g)
	rows := takeAppended(c, l)
	switch {
	case l.once && startsTrue && (!c.Has(0) || c.In[0].Arr != nil): // a Loop of no rounds is gone by now
		return appendLists(c, runRounds(c, l, c.Do(std.Arange, std.ArangeAttrs{End: shape.Const(1)})), rows)
	case l.known && !l.once && !c.Has(0):
		panic(diag.New(spec.CodeModel, "the Loop has no number of rounds, and its condition is always true"))
	case l.known && !l.once && startsTrue && c.In[0].Node == nil:
		return appendLists(c, runRounds(c, l, c.Do(std.Arange, std.ArangeAttrs{End: c.Dim(0).Max(rule.Zero)})), rows)
	case len(l.outs) == 1+len(l.carried) && !l.once:
		return while(c, l, startsTrue)[:carry]
	}
	if l.known {
		return appendLists(c, runRounds(c, l, upTo(c, limit(c, startsTrue, l.once))), rows)
	}
	// The results of a round follow from its incoming values alone: the rounds are
	// counted first, by the part of the body that determines the condition (dce leaves no
	// more), and run again for their results.
	c.im.counting = true
	count := while(c, l, startsTrue)[len(l.carried)].Node
	l = loopBodyOf(c, g)
	rows = takeAppended(c, l)
	return appendLists(c, runRounds(c, l, upTo(c, count)), rows)
}

// limit is the number of rounds that the operands allow, or one where they allow more.
func limit(c *control, startsTrue, once bool) op.Value {
	number := func(n int64) op.Value { return c.Do(std.Full, std.FullAttrs{Value: op.Int(n), DType: array.I64}) }
	var n op.Value
	switch {
	case !c.Has(0):
		n = number(1)
	case once:
		n = c.Do(std.Minimum, nil, rule.Condition(c.Call, c.X(0)), number(1))
	default:
		n = rule.Condition(c.Call, c.X(0))
	}
	if !startsTrue {
		n = c.Do(std.Mul, nil, n, c.Do(std.Cast, std.CastAttrs{DType: array.I64}, rule.Condition(c.Call, c.X(1))))
	}
	return n
}

// upTo counts from 0 to a number that is known when the model runs.
func upTo(c *control, n op.Value) op.Value {
	number := func(n int) op.Value { return c.Do(std.Full, std.FullAttrs{Value: op.Int(int64(n)), DType: array.I64}) }
	return c.Do(std.Range, nil, number(0), n, number(1))
}

// runRounds runs a body for each number of a sequence.
func runRounds(c *control, l *loopBody, seq op.Value) []*rule.Datum {
	b := l.s.cur.Graph()
	c.im.Finish(l.s.cur, l.outs[1:]...)
	args := append(slices.Clone(l.args), seq.(*graph.Node))
	for _, v := range c.im.Bodies[b].Captured {
		args = append(args, c.im.Node(c.Cursor, v))
	}
	n := c.Cursor.Region(op.Scan, op.LoopAttrs{Carry: len(l.args), Seqs: 1}, []*graph.Graph{b}, args...)
	return c.Results(n, len(l.outs)-1)
}

// while runs a body as long as its condition holds, and at most as often as a count says.
// It returns the carried values, followed by the number of rounds.
func while(c *control, l *loopBody, startsTrue bool) []*rule.Datum {
	s, iter, carried, args, outs := l.s, l.iter, l.carried, l.args, l.outs[:1+len(l.carried)]
	// Carried are the values, the round and the condition, in this order.
	b := s.cur.Graph()
	cur := c.Cursor
	own := c.im.Bodies[b]
	own.Input("go", shape.TensorType(array.Bool, shape.Dims{}))
	next := s.cur.Function(std.Add, std.AddAttrs{Other: op.Int(1)}, iter.Node)
	last := s.cur.Function
	goOn := c.im.Node(s.cur, outs[0])
	if goOn.Type().Rank() > 0 {
		goOn = last(std.Reshape, std.ReshapeAttrs{}, goOn)
	}
	if c.Has(0) {
		limit := c.im.Node(s.cur, c.In[0])
		if limit.Type().Rank() > 0 {
			limit = last(std.Reshape, std.ReshapeAttrs{}, limit)
		}
		goOn = last(std.LogicalAnd, nil, goOn, last(std.Lt, nil, next, limit))
	}
	c.im.Finish(s.cur, append(slices.Clone(outs[1:]), &rule.Datum{Node: next}, &rule.Datum{Node: goOn})...)
	// The captured inputs precede the inputs added last: order them.
	order(c, b)
	first := cur.Function(std.Full, std.FullAttrs{Value: op.Int(0), DType: array.I64})
	start := cur.Function(std.Full, std.FullAttrs{Value: op.BoolScalar(true), DType: array.Bool})
	if !startsTrue {
		start = rule.Condition(c.Call, c.X(1))
	}
	if c.Has(0) {
		limit := c.X(0).(*graph.Node)
		if limit.Type().Rank() > 0 {
			limit = cur.Function(std.Reshape, std.ReshapeAttrs{}, limit)
		}
		start = cur.Function(std.LogicalAnd, nil, start, cur.Function(std.Lt, nil, first, limit))
	}
	args = append(args, first, start)
	for _, v := range own.Captured {
		args = append(args, c.im.Node(cur, v))
	}
	test := cur.Graph().NewRegion("test")
	tc := test.At()
	var flag *graph.Node
	for i, a := range args {
		n := tc.Placeholder(a.Name(), a.Type(), nil)
		if i < len(carried) {
			n.SetType(carried[i].Node.Type()) // which holds in every round
		}
		if i == len(carried)+1 {
			flag = n
		}
	}
	tc.Output(nil, flag)
	n := cur.Region(op.While, op.LoopAttrs{Carry: len(carried) + 2}, []*graph.Graph{test, b}, args...)
	return c.Results(n, len(carried)+2)[:len(carried)+1]
}

// order puts the inputs of a loop's body into the order of the operands.
func order(c *control, b *graph.Graph) {
	own := c.im.Bodies[b]
	at := b.FirstAfterInputs()
	for _, v := range own.Captured {
		b.MoveBefore(own.Placeholders[v], at)
	}
}
