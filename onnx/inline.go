package onnx

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// Bodies that are written out: branches that are known to be taken, and loops over
// sequences, which regions cannot carry.

const mostRounds = 1 << 12 // of a loop that is written out

// written fills a body into the graph itself, on the given inputs; round tells the
// names of its nodes from those of other rounds.
func written(c *control, g *pb.Graph, round int, in []*value) []*value {
	if c.im.inlined += len(g.Nodes); c.im.inlined > mostInlined {
		panic(diag.New(CodeModel, "the bodies of the model have more than "+strconv.Itoa(mostInlined)+" nodes when written out"))
	}
	if c.scope.bodies >= mostBodies {
		panic(diag.New(CodeModel, "bodies are nested more than "+strconv.Itoa(mostBodies)+" deep"))
	}
	s := *c.scope
	s.values, s.outer, s.bodies = map[string]*value{}, c.scope, c.scope.bodies+1
	s.prefix = short(c.scope.prefix + c.n.Name + "/")
	if in != nil {
		s.prefix += strconv.Itoa(round) + "/"
	}
	for i, v := range in {
		inner := *v
		inner.name = g.Inputs[i].Name
		s.values[inner.name] = &inner
		if v.arr != nil {
			s.values[inner.name] = v // one constant has one path
		}
	}
	outs := fill(c, &s, g)
	for i := range outs {
		v := *outs[i]
		outs[i] = &v
	}
	return outs
}

// members are values with those of sequences in their places, and without absent ones.
func members(list []*value) (flat []*value) {
	for _, v := range list {
		switch {
		case v.isSeq:
			flat = append(flat, v.seq...)
		case !v.none:
			flat = append(flat, v)
		}
	}
	return flat
}

// grouped is the inverse of members: flat in the form that like has.
func grouped(like, flat []*value) []*value {
	outs := make([]*value, len(like))
	for i, v := range like {
		switch n := len(v.seq); {
		case v.isSeq:
			outs[i] = &value{seq: flat[:n:n], isSeq: true}
			flat = flat[n:]
		case v.none:
			outs[i] = &value{none: true}
		default:
			outs[i], flat = flat[0], flat[1:]
		}
	}
	return outs
}

// alike reports whether two lists of values have the same form.
func alike(a, b []*value) bool {
	return slices.EqualFunc(a, b, func(x, y *value) bool {
		return x.isSeq == y.isSeq && x.none == y.none && len(x.seq) == len(y.seq)
	})
}

// never reports whether a Loop is known not to run.
func never(c *control) bool {
	known := func(i int) bool { return c.has(i) && c.in[i].arr != nil && c.in[i].arr.Len() == 1 }
	return known(0) && array.Int64At(c.in[0].arr, 0) <= 0 || known(1) && array.Int64At(c.in[1].arr, 0) == 0
}

// notRun are the results of a Loop that does not run: the values that it would
// carry, and no results of rounds; their types are those of a body that is not
// kept.
func notRun(c *control, g *pb.Graph, carry int) []*value {
	outs := make([]*value, carry, len(g.Outputs)-1)
	for i := range outs {
		v := *c.value(2 + i)
		outs[i] = &v
	}
	if len(g.Outputs) == carry+1 {
		return outs
	}
	s := region(c, "body")
	s.values[g.Inputs[0].Name] = &value{name: g.Inputs[0].Name, arr: array.Scalar(int64(0))}
	s.values[g.Inputs[1].Name] = &value{name: g.Inputs[1].Name, arr: array.Scalar(true)}
	for i, v := range c.in[2:] {
		s.values[g.Inputs[2+i].Name] = v
	}
	for _, v := range fill(c, s, g)[1+carry:] {
		t := v.typ()
		dims, ok := dimsOf(t)
		if !ok || t.DType() == array.Invalid {
			panic(diag.New(CodeValue, "a Loop that does not run has the result "+diag.Quote(v.name)+" of each round, and its sizes are not known"))
		}
		zero := op.Int(0)
		if t.DType() == array.Bool {
			zero = op.BoolScalar(false)
		}
		size := shape.Of(append([]shape.Dim{shape.Const(0)}, dims...)...)
		outs = append(outs, &value{node: c.cur.Function(std.Full, std.FullAttrs{Size: size, Value: zero, DType: t.DType()})})
	}
	return outs
}

// structured reports whether a Loop carries or reads sequences and optionals.
func structured(c *control, g *pb.Graph) bool {
	is := func(v *value) bool { return v != nil && (v.isSeq || v.none) }
	if slices.ContainsFunc(c.in, is) {
		return true
	}
	own := map[string]bool{}
	for _, v := range g.Inputs {
		own[v.Name] = true
	}
	return slices.ContainsFunc(g.Nodes, func(n *pb.Node) bool {
		for _, o := range n.Outputs {
			own[o] = true
		}
		return slices.ContainsFunc(n.Inputs, func(name string) bool { return !own[name] && is(c.scope.find(name)) })
	})
}

// unroll writes the rounds of a Loop out.
func unroll(c *control, g *pb.Graph, carry int) []*value {
	limit := mostRounds + 1
	if c.has(0) {
		list := c.ints(0)
		if len(list) != 1 {
			panic(diag.New(CodeModel, "the number of rounds has "+strconv.Itoa(len(list))+" elements, expected one"))
		}
		limit = min(limit, list[0])
	}
	if c.has(1) {
		c.constant(1)
	}
	goOn := &value{arr: array.Scalar(true)}
	carried := c.in[2:]
	rounds := make([][]*value, len(g.Outputs)-1-carry)
	for i := 0; i < limit; i++ {
		if i == mostRounds {
			panic(diag.New(CodeOperator, "a Loop over sequences runs more than "+strconv.Itoa(mostRounds)+" rounds"))
		}
		in := append([]*value{{arr: array.Scalar(int64(i))}, goOn}, carried...)
		outs := written(c, g, i, in)
		carried = outs[1 : 1+carry]
		for k, v := range outs[1+carry:] {
			rounds[k] = append(rounds[k], member(v))
		}
		if goOn = outs[0]; goOn.arr == nil || goOn.arr.Len() != 1 {
			e := diag.New(CodeValue, "the condition of a Loop over sequences is not known before the model runs")
			if goOn.node != nil {
				e = c.im.curable(e, goOn.node)
			}
			panic(e)
		}
		if array.Int64At(goOn.arr, 0) == 0 {
			break
		}
	}
	outs := slices.Clone(carried)
	for _, list := range rounds {
		outs = append(outs, derive(c.call, list, func(c *call) []op.Value {
			return c.one(std.Stack, std.DimAttrs{}, c.xs()...)
		})...)
	}
	return outs
}

// sequenceMap writes the body out for each member.
func sequenceMap(c *control) []*value {
	g := c.graph("body")
	count := len(membersOf(c.call, 0))
	if len(g.Inputs) != len(c.in) || len(g.Outputs) < len(c.n.Outputs) {
		panic(diag.New(CodeModel, "the body has "+strconv.Itoa(len(g.Inputs))+" inputs for "+strconv.Itoa(len(c.in))+" operands"))
	}
	outs := make([][]*value, len(g.Outputs))
	for k := range count {
		in := make([]*value, len(c.in))
		for i := range c.in {
			if in[i] = c.value(i); in[i].isSeq {
				if len(in[i].seq) != count {
					panic(diag.New(CodeModel, "input "+strconv.Itoa(i)+" has "+strconv.Itoa(len(in[i].seq))+" members, the first "+strconv.Itoa(count)))
				}
				in[i] = in[i].seq[k]
			}
		}
		for i, v := range written(c, g, k, in) {
			outs[i] = append(outs[i], member(v))
		}
	}
	results := make([]*value, len(outs))
	for i := range outs {
		results[i] = sequence(outs[i])[0]
	}
	return results
}
