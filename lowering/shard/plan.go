package shard

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/count"
	"github.com/gofx-dev/gofx/kernel"
)

// Laid holds the layouts of a node's results in the graph of a plan, one for each member of a
// tuple. Values of which nothing is cut have none.
var Laid = graph.NewKey[[]Split]("laid")

// Computation holds the layouts in which a call has its operands, and its results once parts of
// sums are combined: exchanges bring operands into these, and results from these into those of Laid.
// Operands that are absent have none.
type Computation struct{ In, Out []Split }

// Computed is the computation of nodes that have Laid, in the graph of a plan.
var Computed = graph.NewKey[Computation]("computed")

// Tensor is an input, a weight or an output of a plan.
type Tensor struct {
	Name  string // "" for outputs
	DType array.DType
	Dims  []int
	Split Split // as long as Dims
	Local []int // the sizes of a partition's part
}

// Bytes are those of a partition's part.
func (v Tensor) Bytes() int64 {
	n := int64(v.DType.Bits())
	for _, d := range v.Local {
		n *= int64(d)
	}
	return (n + 7) / 8
}

// Work is what one partition does for a call.
type Work struct {
	Node  *graph.Node // of the plan's graph
	Flops int64
	Bytes int64 // of operands and results, each once; none for those that are views
	// Axes are those along which the call is computed in parts, and Cuts how.
	Axes []string
	Cuts []kernel.Cut
}

// Plan is a graph with the layout of every value.
type Plan struct {
	Mesh Mesh
	// Module is a prepared copy of the author's, of operators that can be computed in parts
	// where there are such; Laid has the layouts of its nodes.
	Module *graph.Module
	// Inputs and Weights are the graph's placeholders, and what it reads of the module's
	// state in the order of first uses.
	Inputs, Weights, Outputs []Tensor
	// Exchanges are in the order of the calls that they are for.
	Exchanges []Exchange
	Work      []Work
}

// Split returns the layout of a node of the plan's graph, of its first result where it has
// several.
func (p *Plan) Split(n *graph.Node) Split {
	if list, ok := Laid.Get(n); ok {
		return list[0]
	}
	return make(Split, n.Type().Rank())
}

// plan writes down what was found.
func (p *propagation) plan() *Plan {
	m := p.layout.Mesh
	out := &Plan{Mesh: m, Module: p.module}
	for _, t := range p.inputs {
		out.Inputs = append(out.Inputs, t.value(m, t.name[len("input "):]))
	}
	for _, path := range p.paths {
		t := p.weights[path]
		if p.stored[path] != nil {
			t = p.stored[path]
		}
		out.Weights = append(out.Weights, t.value(m, path))
	}
	for _, n := range p.module.Graph.Output().Args() {
		for _, t := range p.values[n] {
			out.Outputs = append(out.Outputs, t.value(m, ""))
		}
	}
	out.Exchanges = p.brought()
	done := map[gathered]bool{}
	for _, c := range p.calls {
		axes := p.settled(c)
		out.Exchanges = append(out.Exchanges, p.exchanges(c, axes, done)...)
		out.Work = append(out.Work, p.work(c, axes))
		p.lay(c, axes)
	}
	return out
}

// lay writes layouts to the node of a call of which something is cut: there the partitioner is
// to do as the plan says.
func (p *propagation) lay(c *call, axes []int) {
	cut := false
	var list []Split
	for _, t := range c.out {
		list = append(list, t.text(p.layout.Mesh))
		cut = cut || list[len(list)-1].Cuts()
	}
	for _, t := range c.in {
		cut = cut || t != nil && t.text(p.layout.Mesh).Cuts()
	}
	if !cut {
		return
	}
	Laid.Set(c.node, list)
	var how Computation
	for i, t := range c.in {
		var s Split
		if t != nil {
			s = t.at(p.layout.Mesh, wanted(c, axes, len(t.dims), func(cut *kernel.Cut) int { return cut.In[i] }))
		}
		how.In = append(how.In, s)
	}
	for i, t := range c.out {
		how.Out = append(how.Out, t.at(p.layout.Mesh, p.made(c, i, axes).split))
	}
	Computed.Set(c.node, how)
}

// work counts what a partition does for a call.
func (p *propagation) work(c *call, axes []int) Work {
	w := Work{Node: c.node}
	n, _ := count.Flops(c.node).Int()
	w.Flops = int64(n)
	for j, k := range axes {
		if k >= 0 {
			w.Flops /= int64(p.layout.Mesh[k].Size)
			w.Axes, w.Cuts = append(w.Axes, p.layout.Mesh[k].Name), append(w.Cuts, c.cuts[j])
		}
	}
	if o := c.node.Op(); o != nil && o.ViewOf > 0 && !o.MayCopy {
		return w
	}
	for i, t := range c.in {
		if t != nil {
			w.Bytes += t.bytes(p.layout.Mesh, wanted(c, axes, len(t.dims), func(cut *kernel.Cut) int { return cut.In[i] }))
		}
	}
	for i, t := range c.out {
		w.Bytes += t.bytes(p.layout.Mesh, wanted(c, axes, len(t.dims), func(cut *kernel.Cut) int { return cut.Out[i] }))
	}
	return w
}

// at returns a layout with names.
func (t *tensor) at(m Mesh, split []int) Split {
	u := *t
	u.split = split
	return u.text(m)
}

func (t *tensor) value(m Mesh, name string) Tensor {
	s := t.text(m)
	return Tensor{Name: name, DType: t.dtype, Dims: t.dims, Split: s, Local: m.Local(t.dims, s)}
}

// Totals are sums of a plan, for one partition.
type Totals struct {
	Inputs, Weights, Outputs int64 // bytes
	Flops                    int64
	// Sent are the bytes of exchanges by kind, and Exchanges their number.
	Sent      map[Kind]int64
	Exchanges int
}

// Totals sums the plan up.
func (p *Plan) Totals() Totals {
	t := Totals{Sent: map[Kind]int64{}, Exchanges: len(p.Exchanges)}
	for _, v := range p.Inputs {
		t.Inputs += v.Bytes()
	}
	for _, v := range p.Weights {
		t.Weights += v.Bytes()
	}
	for _, v := range p.Outputs {
		t.Outputs += v.Bytes()
	}
	for _, w := range p.Work {
		t.Flops += w.Flops
	}
	for _, e := range p.Exchanges {
		t.Sent[e.Kind] += e.Bytes
	}
	return t
}
