package lowering

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/shape"
)

// Prepare returns a copy of the module, sharing only the arrays of its state,
// in the form that targets start from: pinned symbols and those that guards
// determine are replaced, types are inferred again, calls of modules are calls of
// functions, only the wanted outputs are left and nothing unused. Calls of
// methods stay; Node.Op gives the operator of both spellings. It is an error when
// the options do not fit (BadOption), or when graph.Lint refuses the graph: rules
// may then rely on what it has checked.
func Prepare(m *graph.Module, o Options) (*graph.Module, error) {
	if m.Graph.Output() == nil {
		return nil, diag.New(graph.NoOutput, "graph "+m.Graph.Name+" has no output node")
	}
	if err := graph.Lint(m.Graph).Err(); err != nil {
		return nil, err
	}
	if err := o.Check(m); err != nil {
		return nil, err
	}
	return prepare(m, m.Graph, nil, o)
}

// PrepareRegion returns a region of a prepared module as a module of its own:
// its inputs have the given types, and those of their sizes that are symbols
// define them.
func PrepareRegion(m *graph.Module, region *graph.Graph, inputs []shape.Type) (*graph.Module, error) {
	if region.Output() == nil || len(region.Inputs()) != len(inputs) {
		return nil, diag.New(NoRegions, "region "+region.Name+" takes "+strconv.Itoa(len(region.Inputs()))+" values, is given "+strconv.Itoa(len(inputs)))
	}
	return prepare(m, region, inputs, Options{})
}

func prepare(m *graph.Module, src *graph.Graph, inputs []shape.Type, o Options) (*graph.Module, error) {
	p := &preparer{src: src, opts: o, inputs: inputs, attrs: map[string]*graph.Node{}}
	if err := p.solve(); err != nil {
		return nil, err
	}
	g := graph.New(src.Name)
	p.dst = graph.NewModule(g)
	p.dst.Type = m.Type
	for _, q := range m.Params() {
		p.dst.SetParam(*q)
	}
	for path, b := range m.Bounds() {
		p.dst.SetBound(path, *b)
	}
	p.copier = graph.NewCopier(g, src)
	p.cursor = g.At()
	p.cursor.OnError = p.errs.Add
	for n := range src.Nodes() {
		p.copier.At(p.cursor, n)
		p.node(n)
	}
	if err := p.errs.Err(); err != nil {
		return nil, err
	}
	p.copier.Finish()
	Prune(g)
	return p.dst, nil
}

type preparer struct {
	src    *graph.Graph
	dst    *graph.Module
	opts   Options
	inputs []shape.Type // of the placeholders that are left, for regions
	solver shape.Solver
	copier *graph.Copier
	cursor *graph.Cursor
	attrs  map[string]*graph.Node // get_attr nodes made for called modules
	errs   diag.List
}

// solve enters pins and guards into the solver.
func (p *preparer) solve() error {
	g := p.src
	for _, s := range g.Symbols() {
		// Symbols of inputs come up first, so that they are the ones that stay.
		if s.Node.Opcode() == graph.Placeholder {
			p.solver.Equal(shape.Sym(s.Name), shape.Sym(s.Name), shape.Fact{})
		}
	}
	equal := func(a, b shape.Dim, why string, n *graph.Node) error {
		c := p.solver.Equal(a, b, shape.Fact{Text: why})
		if c == nil {
			return nil
		}
		e := diag.New(BadOption, "size "+c.A.String()+" must be "+c.B.String()+" ("+c.Second.Text+")").
			WithHint(c.First.Text + " does not agree with it")
		if n != nil {
			e = e.At(n.Pos())
		}
		return e
	}
	for _, s := range p.opts.symbols() {
		size := shape.Const(p.opts.Shapes[s])
		if err := equal(shape.Sym(s), size, "symbol "+s+" is pinned to "+size.String(), nil); err != nil {
			return err
		}
	}
	for _, d := range g.Guards() {
		if d.Rel != shape.EQ {
			continue
		}
		if err := equal(d.A, d.B, "the graph relies on "+d.A.String()+" = "+d.B.String(), d.Node); err != nil {
			return err
		}
	}
	return p.possible()
}

// possible refuses pins that contradict what the graph relies on.
func (p *preparer) possible() error {
	for _, d := range p.src.Guards() {
		if r := d.Bind(p.bind); d.Rel == shape.EQ || r.Truth(nil) != shape.False {
			continue
		}
		e := diag.New(BadOption, "the graph relies on "+d.String()+", which no size that is left has")
		for _, s := range p.opts.symbols() {
			e = e.WithHint("symbol " + s + " is pinned to " + strconv.Itoa(p.opts.Shapes[s]))
		}
		if d.Node != nil {
			e = e.At(d.Node.Pos())
		}
		return e
	}
	return nil
}

func (p *preparer) bind(symbol string) shape.Dim { return p.solver.Resolve(shape.Sym(symbol)) }

func (p *preparer) node(n *graph.Node) {
	args := make([]*graph.Node, n.NumArgs())
	for i, a := range n.Args() {
		args[i] = p.copier.Mapped(a)
	}
	switch n.Opcode() {
	case graph.CallModule:
		p.module(n, args)
		return
	case graph.Output:
		p.output(n, args)
		return
	}
	v := p.copier.Copy(p.cursor, n, args)
	if n.Opcode() == graph.Placeholder && len(p.inputs) > 0 {
		p.regionInput(v)
		return
	}
	for _, r := range v.Regions() {
		p.region(r)
	}
	if len(v.Regions()) > 0 {
		p.errs.Add(v.Infer())
	}
	if o := n.Op(); o != nil {
		Origin.Set(v, Source{n.Name(), o.Name})
		if o.Codec().HasDims() {
			p.errs.Add(v.SetAttrs(o.Codec().Bind(n.Attrs(), p.bind)))
		}
	}
	p.settle(v, n)
}

// regionInput gives a placeholder of a region its type.
func (p *preparer) regionInput(v *graph.Node) {
	v.SetType(p.inputs[0])
	p.inputs = p.inputs[1:]
	for i, d := range v.Type().Dims().Slice() {
		if name, ok := d.IsSymbol(); ok {
			v.Graph().DefineSymbol(name, v, i)
		}
	}
}

// region replaces pinned symbols in a copied region.
func (p *preparer) region(r *graph.Graph) {
	for n := range r.Nodes() {
		for _, sub := range n.Regions() {
			p.region(sub)
		}
		if o := n.Op(); o != nil && n.Opcode() != graph.CallModule && o.Codec().HasDims() {
			p.errs.Add(n.SetAttrs(o.Codec().Bind(n.Attrs(), p.bind)))
		}
		n.SetType(n.Type().Bind(p.bind))
	}
}

// settle gives v the better known of its own type and that of the original.
func (p *preparer) settle(v, n *graph.Node) {
	t, was := v.Type().Bind(p.bind), n.Type().Bind(p.bind)
	if t.Kind() == shape.None || (t.Kind() == shape.Tensor && !t.Ranked()) {
		t = was
	}
	if t.Kind() == shape.Tensor && was.Kind() == shape.Tensor && t.Rank() == was.Rank() {
		for i := range t.Dims().Len() {
			if t.Dim(i).IsUnknown() {
				t = t.WithDims(t.Dims().With(i, was.Dim(i)))
			}
		}
	}
	v.SetType(t)
}

// module turns a call of a leaf module into a call of its operator on its
// tensors.
func (p *preparer) module(n *graph.Node, args []*graph.Node) {
	b := n.Bound()
	if b == nil {
		p.errs = append(p.errs, n.Error(interp.NoModule, "nothing is known of module "+strconv.Quote(n.Target())))
		return
	}
	for _, path := range b.Params {
		var a *graph.Node
		if path != "" {
			if a = p.attrs[path]; a == nil {
				a = p.cursor.GetAttr(path)
				p.attrs[path] = a
			}
		}
		args = append(args, a)
	}
	attrs := b.Attrs
	if attrs != nil && b.Op.Codec().HasDims() {
		attrs = b.Op.Codec().Bind(attrs, p.bind)
	}
	// The call is what the module does: listings and generated code name it.
	if b.Type != "" {
		p.cursor.SetScope(p.dst.Graph.Scope(graph.Scope{Path: n.Target(), Type: b.Type}))
	}
	v := p.cursor.Function(b.Op, attrs, args...)
	v.Rename(n.Name())
	graph.CopyMeta(v, n)
	Origin.Set(v, Source{n.Name(), b.Op.Name})
	p.copier.Map(n, v)
	p.settle(v, n)
}

func (p *preparer) output(n *graph.Node, args []*graph.Node) {
	if p.opts.Outputs == nil {
		p.copier.Copy(p.cursor, n, args)
		return
	}
	chosen := make([]*graph.Node, len(p.opts.Outputs))
	s := &graph.Structure{Kind: graph.Results}
	for i, k := range p.opts.Outputs {
		chosen[i] = args[k]
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	p.copier.Map(n, p.cursor.Output(s, chosen...))
}
