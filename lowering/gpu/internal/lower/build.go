package lower

import (
	"context"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/internal/join"
	"github.com/gofx-dev/gofx/op"
)

// Build makes the steps of a legal graph.
func Build(m *graph.Module, info device.Info, library, tf32 bool) (*Builder, error) {
	b := &Builder{m: m, info: info, library: library, tf32: tf32, weights: map[weightKey]*Operand{}, packs: map[string]*Operand{},
		groups: map[*graph.Graph]map[*graph.Node]*join.Group{}, read: map[*graph.Node]*Operand{}}
	b.Expanded = expanded(m.Graph)
	args := make([]*Operand, len(m.Graph.Inputs()))
	for i, n := range m.Graph.Inputs() {
		dims, err := concrete(n, n.Type())
		if err != nil {
			b.errs.Add(err)
			continue
		}
		d := n.Type().DType()
		args[i] = placed(d, dims, b.add(Buffer{Kind: Input, Bytes: BytesOf(d, dims), Input: i}))
	}
	out, err := b.fold(m.Graph, args)
	if err != nil {
		return b, err
	}
	if err := b.errs.Err(); err != nil {
		return b, err
	}
	b.output(out)
	return b, nil
}

// fold lowers a graph over values, and returns its results; nil for those that were reported.
func (b *Builder) fold(g *graph.Graph, args []*Operand) ([]*Operand, error) {
	outer := b.args
	defer func() { b.args = outer }()
	b.args = map[*graph.Node]*Operand{}
	for i, n := range g.Inputs() {
		b.args[n] = args[i]
	}
	return graph.Fold(context.Background(), g, b.node)
}

// node makes of one node what the builder has of it: nil when that failed and was reported.
func (b *Builder) node(n *graph.Node, in [][]*Operand) ([]*Operand, error) {
	out, err := b.make(n, in)
	if err != nil {
		var l diag.List
		l.Add(err)
		for _, e := range l {
			if e.Node == "" {
				e.Node, e.Pos = n.Name(), n.Pos()
			}
			b.errs = append(b.errs, e)
		}
		return nil, nil
	}
	return out, nil
}

func (b *Builder) make(n *graph.Node, in [][]*Operand) ([]*Operand, error) {
	switch n.Opcode() {
	case graph.Placeholder:
		if v := b.args[n]; v != nil {
			return []*Operand{v}, nil
		}
		return nil, nil // reported
	case graph.GetAttr:
		return b.attr(n)
	case graph.Output:
		out := make([]*Operand, len(in))
		for i, v := range in {
			if n.Arg(i) == nil {
				return nil, n.Error(interp.Undefined, "result "+strconv.Itoa(i)+" is absent").WithHint("choose the outputs to compute (Options.Outputs)")
			}
			if v != nil {
				out[i] = v[0]
			}
		}
		return out, nil
	}
	args := make([]*Operand, len(in))
	for i, v := range in {
		if n.Arg(i) == nil {
			continue
		}
		if v == nil {
			return nil, nil // reported
		}
		args[i] = v[0]
	}
	switch o := n.Op(); o {
	case op.GetItem:
		k := n.Attrs().(op.GetItemAttrs).Index
		if k < 0 || k >= len(in[0]) {
			return nil, n.Error(lowering.UnknownSize, "the call has "+strconv.Itoa(len(in[0]))+" results, result "+strconv.Itoa(k)+" is wanted")
		}
		return in[0][k : k+1], nil
	case op.Dim:
		return b.size(n, args[0])
	case op.Cond, op.While, op.Scan:
		return b.control(n, args)
	}
	return b.call(n, args)
}

// find finds the groups of elementwise calls of a graph, once.
func (b *Builder) find(g *graph.Graph) {
	if b.groups[g] == nil {
		ruled := func(n *graph.Node) bool { _, ok := rules.Find(n); return ok }
		b.groups[g] = join.Find(g, join.Rules{Era: join.Eras(g), Taken: ruled, Operands: mostInputs, Nodes: mostNodes})
	}
}

// call lowers a call of an operator on arrays.
func (b *Builder) call(n *graph.Node, args []*Operand) ([]*Operand, error) {
	for _, t := range n.Type().Members() {
		if _, err := concrete(n, t); err != nil {
			return nil, err
		}
	}
	b.find(n.Graph())
	if r, ok := rules.Find(n); ok {
		c := &call{b: b, n: n, in: args}
		return r.lower(c)
	}
	if o := n.Op(); o.Scalar() {
		return b.scalar(n, args)
	} else if o.ViewOf > 0 {
		return b.viewed(n, args)
	}
	return nil, lowering.Refuse(n, TargetName, "there is no kernel for it")
}

func (b *Builder) attr(n *graph.Node) ([]*Operand, error) {
	path := n.Target()
	key := weightKey{path, n.Live()}
	if v := b.weights[key]; v != nil {
		return []*Operand{v}, nil
	}
	p := b.m.Param(path)
	if p == nil || p.Value == nil {
		return nil, n.Error(interp.NoParam, "the module has no tensor "+strconv.Quote(path))
	}
	a := p.Value
	f := Buffer{Kind: Weight, Bytes: BytesOf(a.DType(), a.Shape()), Array: a, Setup: true, Path: path}
	if n.Live() {
		f.Kind, f.Setup = Live, false
	}
	v := placed(a.DType(), a.Shape(), b.add(f))
	b.weights[key] = v
	return []*Operand{v}, nil
}

func (b *Builder) size(n *graph.Node, x *Operand) ([]*Operand, error) {
	out := array.New(array.I64)
	axis := n.Attrs().(op.AxisAttrs).Axis
	array.SetInt64At(out, 0, int64(x.Shape()[axis]))
	return []*Operand{b.constant(out)}, nil
}

// output takes the results: each in a buffer of its own, in order, written by a step.
func (b *Builder) output(out []*Operand) {
	taken := map[int]bool{}
	for _, v := range out {
		x := b.dense(v)
		if f := b.Buffers[x.Buf]; f.Kind != temporary || f.Setup || taken[x.Buf] {
			x = b.copy(x)
		}
		taken[x.Buf] = true
		b.Outputs = append(b.Outputs, x)
	}
}

// viewed lays the results over the first operand; where that needs a copy in order, over that.
func (b *Builder) viewed(n *graph.Node, args []*Operand) ([]*Operand, error) {
	x := args[n.Op().ViewOf-1]
	b.place(x)
	out, ok, err := b.lay(n, args)
	if err == nil && !ok {
		args = slices.Clone(args)
		args[n.Op().ViewOf-1] = b.copy(x)
		out, ok, err = b.lay(n, args)
	}
	if err == nil && !ok {
		err = lowering.Refuse(n, TargetName, "its layout is not that of a view")
	}
	return out, err
}

func (b *Builder) lay(n *graph.Node, args []*Operand) ([]*Operand, bool, error) {
	headers := make([]*array.Array, len(args))
	for i, v := range args {
		if v != nil {
			headers[i] = v.Header
		}
	}
	views, ok, err := n.Op().View(n.Attrs(), headers)
	out := make([]*Operand, len(views))
	for i, a := range views {
		out[i] = &Operand{Header: a, Buf: args[n.Op().ViewOf-1].Buf}
	}
	return out, ok, err
}

// expanded counts the calls of the user's graph that others stand for in g.
func expanded(g *graph.Graph) int {
	stand := map[lowering.Source]bool{}
	for n := range g.Nodes() {
		if s := lowering.SourceOf(n); n.Op() != nil && s.Node != n.Name() && s.Op != n.Op().Name {
			stand[s] = true
		}
	}
	return len(stand)
}
