package debug

import (
	"context"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// Observation is what a node computed in a run.
type Observation struct {
	Name  string
	Gives string // the captured value that it gives; see passes.CapturedName
	Made  string // the rewrite that made it, "" for what was captured
	Op    string
	Text  string // the call without its name, type and place
	Scope string
	Pos   diag.Pos
	Args  []string // names of the operands
	// Result is 0 for a value within the graph, else the number of the result from 1.
	Result int
	Array  *array.Array `json:"-"`
}

// Values runs a graph and returns what its calls give, in the order of the graph, and
// then its results. Those in regions and sub-graphs are not among them; tuples have no
// array. Calls are results of the graph while they are observed, so that an engine
// computes them one by one; the results come from a run of the graph as it is.
func Values(ctx context.Context, m *graph.Module, in []*array.Array, engine EngineFor) ([]Observation, error) {
	nodes := calls(m.Graph)
	list := make([]Observation, 0, len(nodes)+1)
	for _, n := range nodes {
		list = append(list, valueOf(n))
	}
	var results, arrays []*array.Array
	var err error
	if engine == nil {
		results, arrays, err = interpreted(ctx, m, in, nodes)
	} else if results, err = engine.run(ctx, m, in); err == nil {
		arrays, err = engine.values(ctx, m, in, nodes...)
	}
	if err != nil {
		return nil, err
	}
	for i, a := range arrays {
		list[i].Array = a
	}
	for i, a := range results {
		if n := m.Graph.Output().Arg(i); n != nil && a != nil {
			v := valueOf(n)
			v.Result, v.Array = i+1, a
			list = append(list, v)
		}
	}
	return list, nil
}

func calls(g *graph.Graph) (list []*graph.Node) {
	for n := range g.Nodes() {
		if n.Opcode().IsCall() {
			list = append(list, n)
		}
	}
	return list
}

func valueOf(n *graph.Node) Observation {
	v := Observation{Name: n.Name(), Gives: passes.CapturedName(n), Scope: n.Scope().Path, Pos: n.Pos(), Op: n.Opcode().String()}
	if o, ok := passes.Made.Get(n); ok {
		v.Made = o.String()
	}
	if o := n.Op(); o != nil {
		v.Op = o.Key()
		v.Text = o.Key()
		if a := n.Attrs(); a != nil {
			v.Text += o.Codec().Print(a)
		}
	}
	for _, a := range n.Args() {
		name := "_"
		if a != nil {
			name = a.Name()
		}
		v.Args = append(v.Args, name)
	}
	return v
}

// interpreted runs a copy of the graph and listens.
func interpreted(ctx context.Context, m *graph.Module, in []*array.Array, nodes []*graph.Node) (results, values []*array.Array, err error) {
	at := make(map[string]int, len(nodes))
	for i, n := range nodes {
		at[n.Name()] = i
	}
	m = graph.Clone(m)
	values = make([]*array.Array, len(nodes))
	p := interp.Interpreter{State: interp.NewState(m)}
	p.Node = func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		v, err := next(in)
		if i, ok := at[n.Name()]; ok && err == nil && n.Graph() == m.Graph && v.T != nil {
			values[i] = array.Clone(v.T.Array()) // what writes in place do not change any more
		}
		return v, err
	}
	results, err = p.RunArrays(ctx, in)
	return results, values, err
}

// Observe runs the part of a graph that computes a value, by the name of its node, and
// returns that alone.
func Observe(ctx context.Context, m *graph.Module, in []*array.Array, engine EngineFor, name string) (*array.Array, error) {
	n := m.Graph.Find(name)
	if n == nil {
		return nil, diag.New(NotComparable, "graph "+m.Graph.Name+" has no value %"+name)
	}
	out, err := engine.values(ctx, m, in, n)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// values computes nodes as the results of a graph of their own; tuples are left out.
func (f EngineFor) values(ctx context.Context, m *graph.Module, in []*array.Array, nodes ...*graph.Node) ([]*array.Array, error) {
	list, at := make([]*array.Array, len(nodes)), []int(nil)
	var tensors []*graph.Node
	for i, n := range nodes {
		if n.Type().Kind() != shape.Tuple {
			at, tensors = append(at, i), append(tensors, n)
		}
	}
	if len(tensors) == 0 {
		return list, nil
	}
	part, err := graph.Extract(m.Graph.Inputs(), tensors)
	if err != nil {
		return nil, err
	}
	out, err := f.run(ctx, part, in)
	if err == nil && len(out) != len(tensors) {
		err = diag.New(EngineDiffers, strconv.Itoa(len(out))+" results, expected "+strconv.Itoa(len(tensors)))
	}
	if err != nil {
		return nil, err
	}
	for i, a := range out {
		list[at[i]] = a
	}
	return list, nil
}
