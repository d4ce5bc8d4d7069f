package importer

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/onnx/internal/standard"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// Bodies that are written out: branches that are known to be taken, and loops over
// sequences, which regions cannot carry.

const mostRounds = 1 << 12 // of a loop that is written out

// written fills a body into the graph itself, on the given inputs; round tells the
// names of its nodes from those of other rounds.
func written(c *control, g *pb.Graph, round int, in []*rule.Datum) []*rule.Datum {
	if c.im.inlined += len(g.Nodes); c.im.inlined > mostInlined {
		panic(diag.New(spec.CodeModel, "the bodies of the model have more than "+strconv.Itoa(mostInlined)+" nodes when written out"))
	}
	if c.scope.bodies >= rule.MostBodies {
		panic(diag.New(spec.CodeModel, "bodies are nested more than "+strconv.Itoa(rule.MostBodies)+" deep"))
	}
	s := *c.scope
	s.values, s.outer, s.bodies = map[string]*rule.Datum{}, c.scope, c.scope.bodies+1
	s.prefix = modelfile.Short(c.scope.prefix + c.Node.Name + "/")
	if in != nil {
		s.prefix += strconv.Itoa(round) + "/"
	}
	for i, v := range in {
		inner := *v
		inner.Name = g.Inputs[i].Name
		s.values[inner.Name] = &inner
		if v.Arr != nil {
			s.values[inner.Name] = v // one constant has one path
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
func members(list []*rule.Datum) (flat []*rule.Datum) {
	for _, v := range list {
		switch {
		case v.IsSeq:
			flat = append(flat, v.Seq...)
		case !v.None:
			flat = append(flat, v)
		}
	}
	return flat
}

// grouped is the inverse of members: flat in the form that like has.
func grouped(like, flat []*rule.Datum) []*rule.Datum {
	outs := make([]*rule.Datum, len(like))
	for i, v := range like {
		switch n := len(v.Seq); {
		case v.IsSeq:
			outs[i] = &rule.Datum{Seq: flat[:n:n], IsSeq: true}
			flat = flat[n:]
		case v.None:
			outs[i] = &rule.Datum{None: true}
		default:
			outs[i], flat = flat[0], flat[1:]
		}
	}
	return outs
}

// alike reports whether two lists of values have the same form.
func alike(a, b []*rule.Datum) bool {
	return slices.EqualFunc(a, b, func(x, y *rule.Datum) bool {
		return x.IsSeq == y.IsSeq && x.None == y.None && len(x.Seq) == len(y.Seq)
	})
}

// never reports whether a Loop is known not to run.
func never(c *control) bool {
	known := func(i int) bool { return c.Has(i) && c.In[i].Arr != nil && c.In[i].Arr.Len() == 1 }
	return known(0) && array.Int64At(c.In[0].Arr, 0) <= 0 || known(1) && array.Int64At(c.In[1].Arr, 0) == 0
}

// notRun are the results of a Loop that does not run: the values that it would
// carry, and no results of rounds; their types are those of a body that is not
// kept.
func notRun(c *control, g *pb.Graph, carry int) []*rule.Datum {
	outs := make([]*rule.Datum, carry, len(g.Outputs)-1)
	for i := range outs {
		v := *c.Value(2 + i)
		outs[i] = &v
	}
	if len(g.Outputs) == carry+1 {
		return outs
	}
	s := region(c, "body")
	s.values[g.Inputs[0].Name] = &rule.Datum{Name: g.Inputs[0].Name, Arr: array.Scalar(int64(0))}
	s.values[g.Inputs[1].Name] = &rule.Datum{Name: g.Inputs[1].Name, Arr: array.Scalar(true)}
	for i, v := range c.In[2:] {
		s.values[g.Inputs[2+i].Name] = v
	}
	for _, v := range fill(c, s, g)[1+carry:] {
		t := v.Type()
		dims, ok := rule.DimsOf(t)
		if !ok || t.DType() == array.Invalid {
			panic(diag.New(spec.CodeValue, "a Loop that does not run has the result "+diag.Quote(v.Name)+" of each round, and its sizes are not known"))
		}
		zero := op.Int(0)
		if t.DType() == array.Bool {
			zero = op.BoolScalar(false)
		}
		size := shape.Of(append([]shape.Dim{shape.Const(0)}, dims...)...)
		outs = append(outs, &rule.Datum{Node: c.Cursor.Function(std.Full, std.FullAttrs{Size: size, Value: zero, DType: t.DType()})})
	}
	return outs
}

// structured reports whether a Loop carries or reads sequences and optionals.
func structured(c *control, g *pb.Graph) bool {
	is := func(v *rule.Datum) bool { return v != nil && (v.IsSeq || v.None) }
	if slices.ContainsFunc(c.In, is) {
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
func unroll(c *control, g *pb.Graph, carry int) []*rule.Datum {
	limit := mostRounds + 1
	if c.Has(0) {
		list := c.Ints(0)
		if len(list) != 1 {
			panic(diag.New(spec.CodeModel, "the number of rounds has "+strconv.Itoa(len(list))+" elements, expected one"))
		}
		limit = min(limit, list[0])
	}
	if c.Has(1) {
		c.Constant(1)
	}
	goOn := &rule.Datum{Arr: array.Scalar(true)}
	carried := c.In[2:]
	rounds := make([][]*rule.Datum, len(g.Outputs)-1-carry)
	for i := 0; i < limit; i++ {
		if i == mostRounds {
			panic(diag.New(spec.CodeOperator, "a Loop over sequences runs more than "+strconv.Itoa(mostRounds)+" rounds"))
		}
		in := append([]*rule.Datum{{Arr: array.Scalar(int64(i))}, goOn}, carried...)
		outs := written(c, g, i, in)
		carried = outs[1 : 1+carry]
		for k, v := range outs[1+carry:] {
			rounds[k] = append(rounds[k], standard.Member(v))
		}
		if goOn = outs[0]; goOn.Arr == nil || goOn.Arr.Len() != 1 {
			e := diag.New(spec.CodeValue, "the condition of a Loop over sequences is not known before the model runs")
			if goOn.Node != nil {
				e = c.im.Curable(e, goOn.Node)
			}
			panic(e)
		}
		if array.Int64At(goOn.Arr, 0) == 0 {
			break
		}
	}
	outs := slices.Clone(carried)
	for _, list := range rounds {
		outs = append(outs, standard.Derive(c.Call, list, func(c *rule.Call) []op.Value {
			return c.One(std.Stack, std.DimAttrs{}, c.Xs()...)
		})...)
	}
	return outs
}

// sequenceMap writes the body out for each member.
func sequenceMap(c *control) []*rule.Datum {
	g := c.graph("body")
	count := len(standard.MembersOf(c.Call, 0))
	if len(g.Inputs) != len(c.In) || len(g.Outputs) < len(c.Node.Outputs) {
		panic(diag.New(spec.CodeModel, "the body has "+strconv.Itoa(len(g.Inputs))+" inputs for "+strconv.Itoa(len(c.In))+" operands"))
	}
	outs := make([][]*rule.Datum, len(g.Outputs))
	for k := range count {
		in := make([]*rule.Datum, len(c.In))
		for i := range c.In {
			if in[i] = c.Value(i); in[i].IsSeq {
				if len(in[i].Seq) != count {
					panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" has "+strconv.Itoa(len(in[i].Seq))+" members, the first "+strconv.Itoa(count)))
				}
				in[i] = in[i].Seq[k]
			}
		}
		for i, v := range written(c, g, k, in) {
			outs[i] = append(outs[i], standard.Member(v))
		}
	}
	results := make([]*rule.Datum, len(outs))
	for i := range outs {
		results[i] = standard.Sequence(outs[i])[0]
	}
	return results
}
