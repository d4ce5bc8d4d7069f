package cardtest

import (
	"context"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// together is how many operators share a program: few enough that one that fails hides few others.
const together = 16

// operators returns jobs of the samples of all operators that devices run.
func operators() (list []*job) {
	var ops []*op.Op
	for _, o := range op.All() {
		if !o.Structural() && !o.AdHoc && o.Path == "" {
			ops = append(ops, o)
		}
	}
	for part := range slices.Chunk(ops, together) {
		list = append(list, jobOfSamples("operators/"+part[0].Name+"-"+part[len(part)-1].Name, part))
	}
	return list
}

func jobOfSamples(name string, ops []*op.Op) *job {
	return &job{Name: name, Type: "any",
		build: func(context.Context) (*graph.Module, []*array.Array, error) {
			s, err := sampleCalls(ops)
			if err != nil {
				return nil, nil, err
			}
			return s.module(), s.in, nil
		},
		expect: func(context.Context) ([]result, error) {
			s, err := sampleCalls(ops)
			if err != nil {
				return nil, err
			}
			return s.expect()
		}}
}

// samples is a module that calls operators on their samples.
type samples struct {
	g     *graph.Graph
	c     *graph.Cursor
	in    []*array.Array
	calls []call
}

// call is one of them: a sample, and the node that calls its operator.
type call struct {
	o *op.Op
	s op.Sample
	n *graph.Node
}

// sampleCalls calls operators on all samples that devices run.
func sampleCalls(ops []*op.Op) (*samples, error) {
	g := graph.New("samples")
	s := &samples{g: g, c: g.At()}
	var failed error
	s.c.OnError = func(err error) { failed = err }
	for _, o := range ops {
		for _, sample := range o.Samples() {
			s.calls = append(s.calls, call{o: o, s: sample})
		}
	}
	operands := make([][]*graph.Node, len(s.calls))
	for i, c := range s.calls {
		operands[i] = s.operands(c.s.In)
	}
	for i := range s.calls {
		c := &s.calls[i]
		if c.n = s.c.Function(c.o, c.s.Attrs, operands[i]...); failed != nil {
			return nil, failed
		}
		if ok, _ := gpu.Supports(c.n); !ok {
			if err := g.Erase(c.n); err != nil {
				return nil, err
			}
			c.n = nil
		}
	}
	s.calls = slices.DeleteFunc(s.calls, func(c call) bool { return c.n == nil })
	return s, nil
}

// operands makes inputs of the module; nil stays nil.
func (s *samples) operands(in []*array.Array) []*graph.Node {
	args := make([]*graph.Node, len(in))
	for i, a := range in {
		if a != nil {
			args[i] = s.c.Placeholder("x"+strconv.Itoa(len(s.in)), shape.TypeOf(a), nil)
			s.in = append(s.in, a)
		}
	}
	return args
}

// module returns the module whose results are those of all calls.
func (s *samples) module() *graph.Module {
	var outs []*graph.Node
	structure := &graph.Structure{Kind: graph.Results}
	for _, c := range s.calls {
		count, tuple := c.n.Op().NumResults(c.s.Attrs)
		for i := range count {
			n := c.n
			if tuple {
				n = s.c.ItemNode(c.n, i)
			}
			structure.Fields = append(structure.Fields, graph.Leaf(len(outs)))
			outs = append(outs, n)
		}
	}
	s.c.Output(structure, outs...)
	return graph.NewModule(s.g)
}

// expect evaluates the operators.
func (s *samples) expect() (list []result, err error) {
	for _, c := range s.calls {
		want, err := c.o.Eval(&kernel.Workspace{}, c.s.Attrs, c.s.In)
		if err != nil {
			return nil, err
		}
		for _, w := range want {
			r := whole(c.o.Name+" "+c.s.Name, w)
			r.Rel, r.Abs = fxtest.ToleranceOf(c.o, c.s.Attrs, c.s.In, w)
			if u, float := fxtest.Rounding[w.DType()]; float && r.Rel > 0 { // functions of mathematics are others than ours
				r.Rel, r.Abs = r.Rel+2*u, r.Abs+2*u
			}
			list = append(list, r)
		}
	}
	return list, nil
}
