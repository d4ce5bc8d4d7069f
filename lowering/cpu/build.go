package cpu

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/count"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// value is what the builder makes of a node: the buffers of its value, one but
// for tuples; nil when that failed and was reported.
type value []int

// builder turns a legal graph into a plan: a fold over buffers.
type builder struct {
	p       *plan.Plan
	m       *graph.Module
	opts    lowering.Options
	weights map[string]int // by path and packing
	written map[int]bool   // weight buffers that are assigned
	// assigned are the paths of tensors that this graph writes, or one around it or in it.
	assigned map[string]bool
	groups   map[*graph.Node]*group
	images   map[string][]int      // by convolution, for a plan that chooses as another one did
	values   map[*graph.Node]value // what the fold has made
	names    map[string]int
	symbols  map[string]bool
	probe    prober
	inputs   int // how many the fold has seen
	errs     diag.List
}

// build makes the plan of a legal graph; assigned are the paths that graphs around it
// write, images what another plan's convolutions were chosen by, nil for none.
func build(m *graph.Module, o lowering.Options, assigned map[string]bool, images map[string][]int) (*plan.Plan, error) {
	g := m.Graph
	b := &builder{m: m, p: &plan.Plan{Name: g.Name}, opts: o, weights: map[string]int{}, written: map[int]bool{},
		assigned: map[string]bool{}, values: map[*graph.Node]value{}, names: map[string]int{}, symbols: map[string]bool{}}
	maps.Copy(b.assigned, assigned)
	b.images = images
	b.entry(g)
	if err := b.errs.Err(); err != nil {
		return nil, err
	}
	// What bodies write is a buffer of this plan too, whose executable owns it.
	for n := range inner(g) {
		if n.Op() == op.Assign && n.Arg(0) != nil && n.Arg(0).Opcode() == graph.GetAttr {
			b.p.Stateful = true
			b.written[b.weight(n.Arg(0))] = true
			b.assigned[n.Arg(0).Target()] = true
		}
	}
	b.groups = b.group(g)
	if _, err := graph.Fold(context.Background(), g, b.node); err != nil {
		return nil, err
	}
	if err := b.errs.Err(); err != nil {
		b.errs.Sort()
		return nil, b.errs
	}
	if assigned == nil {
		b.p.UpdateState()
		b.p.Hasten()
	}
	b.p.Share()
	b.p.Live()
	b.p.Place()
	if err := placed(b.p); err != nil {
		return nil, err
	}
	return b.p, b.p.Check()
}

// placed refuses a plan whose memory is an expression beyond the limits of package shape: no
// run could be laid out.
func placed(p *plan.Plan) error {
	for i := range p.Buffers {
		if k := &p.Buffers[i]; k.Kind == plan.Temp && (k.Offset.IsUnknown() || p.Arena.IsUnknown()) {
			return diag.New(lowering.UnknownSize, "the memory of "+k.Name+", "+k.Type.String()+", comes after values whose sizes together are too long for an expression").
				WithHint("pin symbols (Options.Shapes), or declare inputs with symbols of their own in the place of long expressions")
		}
	}
	return nil
}

// node makes of one node what the plan has of it. What goes wrong is collected,
// so that everything is reported.
func (b *builder) node(n *graph.Node, in []value) (value, error) {
	var v value
	switch n.Opcode() {
	case graph.Placeholder:
		b.inputs++
		v = value{b.p.Inputs[b.inputs-1]}
	case graph.GetAttr:
		v = b.state(n)
	case graph.Output:
		b.output(n, in)
	default:
		if g := b.groups[n]; g == nil {
			v = b.call(n, in)
		} else if n == g.last() {
			v = b.groupStep(g)
		} else if slices.Contains(g.results, n) && b.known(n, n.Type()) {
			v = value{b.buffer(n.Name(), plan.Temp, n.Type())} // which the step of the last fills
		}
	}
	b.values[n] = v
	return v, nil
}

// state returns the buffer of a tensor that some step reads as it is, or that is
// written; what only packed forms are made of has none.
func (b *builder) state(n *graph.Node) value {
	for u := range n.Users() {
		g := b.groups[u]
		for i, a := range u.Args() {
			if packs := g != nil && g.first != nil && (u == g.turned || slices.Contains(g.first.weights, i) && u == g.nodes[0]); a == n && !packs {
				return value{b.weight(n)}
			}
		}
	}
	return nil
}

// known reports whether the type of a value can be computed when the graph is
// entered, and records an error when it cannot.
func (b *builder) known(n *graph.Node, t shape.Type) bool {
	ok := t.Kind() == shape.Tensor && t.Ranked() && t.DType() != array.Invalid
	for i := 0; ok && i < t.Rank(); i++ {
		ok = b.computable(t.Dim(i))
	}
	if !ok {
		hint := "capture the graph with types of the inputs, or pin symbols (Options.Shapes)"
		switch o := n.Op(); {
		case n.Opcode() == graph.Placeholder:
			hint = "say what the input is, as in fx.Input(\"x\", \"f32[N,8]\") or, for fxgen, -input 'x=f32[N,8]'"
		case t.Kind() == shape.Tensor && !t.Ranked() && !slices.ContainsFunc(n.OperandTypes(), func(t shape.Type) bool { return !t.Ranked() }):
			hint = "which axes it has depends on sizes that are letters here: name the axis in the call, state what they are (x.Size(1).MustDiffer(1)), give the inputs fixed sizes, or say of an .onnx file which sizes it is for (fxgen: -shape NAME=2,3)"
			if o == op.Cond {
				hint = "its branches give results of other ranks: where sizes decide which one runs, say which sizes an .onnx file is for (fxgen: -shape NAME=2,3) or give the inputs fixed ones, else interpret the graph"
			}
		case o != nil && o.AdHoc:
			hint = `declare what the Go function returns: tensor.Wrap(f, tensor.Signature("f32[N,K] -> f32[N]")), or a TypeRule method of the module`
		}
		b.errs = append(b.errs, n.Error(lowering.UnknownSize, n.String()+" is "+t.String()+", expected a type that follows from the inputs' sizes").WithHint(hint))
	}
	return ok
}

// buffer adds a buffer with a name of its own.
func (b *builder) buffer(name string, kind plan.Kind, t shape.Type) int {
	unique := name
	for b.names[unique] > 0 {
		unique = name + "_" + strconv.Itoa(b.names[name]+1)
		b.names[name]++
	}
	b.names[unique]++
	b.p.Buffers = append(b.p.Buffers, plan.Buffer{Name: unique, Kind: kind, Type: t})
	b.probe.dense(t)
	return len(b.p.Buffers) - 1
}

// weight returns the buffer of a parameter.
func (b *builder) weight(n *graph.Node) int {
	path := n.Target()
	if k, ok := b.weights[path]; ok {
		return k
	}
	k := b.tensor(n)
	b.p.Buffers[k].Path = path
	b.weights[path] = k
	return k
}

// tensor adds a buffer for a parameter.
func (b *builder) tensor(n *graph.Node) int {
	path := n.Target()
	p := b.m.Param(path)
	if p == nil {
		b.errs = append(b.errs, n.Error(interp.NoParam, "the module has no tensor "+strconv.Quote(path)))
		return b.buffer(n.Name(), plan.Weight, shape.TensorType(array.F32, shape.ConstDims(0)))
	}
	t := p.TypeOf()
	if !b.known(n, t) {
		t = shape.TensorType(array.F32, shape.ConstDims(0))
	}
	at := b.buffer(n.Name(), plan.Weight, t)
	if p.Value != nil && p.Value.DType().IsInt() && !b.assigned[path] {
		b.p.Buffers[at].Below = below(p.Value)
	}
	return at
}

// below returns a number that is greater than all integers of an array of indices, 0 where one is
// negative.
func below(a *array.Array) (n int) {
	if d := a.DType(); d != array.I32 && d != array.I64 {
		return 0
	}
	for _, v := range array.Data[int64](array.Cast(array.Contiguous(a), array.I64)) {
		if v < 0 || v >= math.MaxInt {
			return 0
		}
		n = max(n, int(v)+1)
	}
	return n
}

// packed returns the buffer of a parameter as k lays it out.
func (b *builder) packed(n *graph.Node, k kernel.Packer) int {
	path := n.Target()
	key := path + "\x00" + plan.KernelName(k)
	if at, ok := b.weights[key]; ok {
		return at
	}
	at := b.tensor(n)
	b.p.Buffers[at].Path, b.p.Buffers[at].Pack = path, k
	b.weights[key] = at
	return at
}

func (b *builder) call(n *graph.Node, operands []value) value {
	in := make([]int, n.NumArgs())
	types := make([]shape.Type, n.NumArgs())
	for i, a := range n.Args() {
		in[i] = -1
		if a == nil {
			continue
		}
		v := operands[i]
		if v == nil {
			return nil
		}
		if n.Op() == op.GetItem {
			k := n.Attrs().(op.GetItemAttrs).Index
			if k >= 0 && k < len(v) {
				return v[k : k+1]
			}
			b.errs = append(b.errs, n.Error(lowering.UnknownSize, a.String()+" has "+strconv.Itoa(len(v))+" members, member "+strconv.Itoa(k)+" is wanted"))
			return nil
		}
		in[i], types[i] = v[0], b.p.Buffers[v[0]].Type
	}
	switch o := n.Op(); {
	case o == op.Assign:
		return b.assign(n, in)
	case o == op.Dim:
		return b.dim(n, types[0])
	case o == op.Cond || o == op.While || o == op.Scan:
		return b.control(n, in, types)
	case o == op.Call:
		return b.rest(n, in)
	case o.AdHoc:
		return b.compute(n, &host{n.Op()}, in)
	default:
		k, reads, err := b.step(n, types)
		if err != nil {
			return b.fail(n, err)
		}
		in = in[:min(reads, len(in))]
		if o.ByValue {
			return b.sized(n, k, in)
		}
		return b.compute(n, k, in)
	}
}

func (b *builder) fail(n *graph.Node, err error) value {
	var l diag.List
	l.Add(err)
	for _, e := range l {
		c := *e
		c.Node = n.Name()
		if c.Op == "" && n.Op() != nil {
			c.Op = n.Op().Name
		}
		b.errs = append(b.errs, c.At(n.Pos()))
	}
	return nil
}

// compute adds the step of a call and the buffers of its results. Results that
// are views of the first operand take no memory.
func (b *builder) compute(n *graph.Node, k kernel.Step, in []int) value {
	out := value{}
	for i, t := range n.Type().Members() {
		if !b.known(n, t) {
			return nil
		}
		hint := n.Name()
		if i > 0 {
			hint += "_" + strconv.Itoa(i)
		}
		out = append(out, b.buffer(hint, plan.Temp, t))
	}
	st := b.source(n)
	st.In, st.Out = in, out
	st.Kernel, st.Sizes = sizedStep(k)
	for _, f := range st.Sizes {
		if !b.computable(f.Size) {
			return b.fail(n, n.Error(lowering.UnknownSize, n.String()+" needs the size "+f.Size.String()+", expected one that follows from the inputs' sizes").
				WithHint("interpret the graph, or pin symbols (Options.Shapes)"))
		}
	}
	if len(in) > 0 && in[0] >= 0 && b.mayAlias(n, in[0]) && b.probe.view(&st, b.typeOf) {
		st.View = true
		for _, o := range out {
			b.p.Buffers[o].Kind, b.p.Buffers[o].Of = plan.View, b.root(in[0])
		}
	}
	b.p.Steps = append(b.p.Steps, st)
	return out
}

func (b *builder) typeOf(buffer int) shape.Type { return b.p.Buffers[buffer].Type }

// mayAlias reports whether a result may lie in its operand's memory: always when
// that is the operator's meaning, else only where nothing overwrites it.
func (b *builder) mayAlias(n *graph.Node, operand int) bool {
	return n.Op().ViewOf > 0 || !b.written[b.root(operand)]
}

func (b *builder) root(k int) int {
	if b.p.Buffers[k].Kind == plan.View {
		return b.p.Buffers[k].Of
	}
	return k
}

// source returns a step that knows where it comes from.
func (b *builder) source(n *graph.Node) plan.Step {
	s := lowering.SourceOf(n)
	st := plan.Step{Nodes: []string{s.Node}, Op: s.Op, Scope: n.Scope(), Pos: n.Pos(), Flops: count.Flops(n)}
	if o := n.Op(); o != nil && o.Name != s.Op {
		st.Part = o.Name
	}
	return st
}

// assign copies a value into a weight, which then is the value of the call too.
func (b *builder) assign(n *graph.Node, in []int) value {
	w := b.root(in[0])
	if n.Arg(0).Opcode() != graph.GetAttr {
		b.errs = append(b.errs, n.Error(lowering.NotBuffer, n.Arg(0).String()+" is assigned, expected a get_attr of a buffer").
			WithHint("only state of the model can be written"))
		return nil
	}
	if have, want := b.p.Buffers[in[1]].Type, b.p.Buffers[w].Type; !have.Same(want) {
		b.errs = append(b.errs, n.Error(lowering.NotBuffer, "the value is "+have.String()+", expected "+want.String()))
		return nil
	}
	v := in[1]
	if b.root(v) == w {
		// The value lies in the buffer itself, in another order perhaps.
		v = b.buffer(n.Name()+"_value", plan.Temp, b.p.Buffers[w].Type)
		b.copy(n, v, in[1])
	}
	b.copy(n, w, v)
	return value{w}
}

func (b *builder) copy(n *graph.Node, to, from int) {
	st := b.source(n)
	st.Kernel, st.In, st.Out = &kernel.Copy{}, []int{from}, []int{to}
	b.p.Steps = append(b.p.Steps, st)
}

// dim makes a size a value.
func (b *builder) dim(n *graph.Node, t shape.Type) value {
	axis, err := op.Axis(n.Attrs().(op.AxisAttrs).Axis, t.Rank())
	if err != nil {
		return b.fail(n, err)
	}
	k := &kernel.Full{}
	return b.compute(n, op.WithSizes(k, op.Size(&k.IntValue, t.Dim(axis))), nil)
}

// output gives every result memory of its own: the value's where the step that
// computes it can write there, else that of a copy. Results that are made in inputs are
// copied there in the end, when everything has been read; Plan.UpdateState spares what copies it can.
func (b *builder) output(n *graph.Node, in []value) {
	b.p.Structure = n.Structure()
	into := map[int]int{}
	for _, p := range b.opts.Into {
		into[p.Result] = b.p.Inputs[p.Input]
	}
	var last [][2]int
	for i, a := range n.Args() {
		if a == nil {
			b.errs = append(b.errs, n.Error(interp.Undefined, "result "+strconv.Itoa(i)+" is absent").WithHint("choose the outputs to compute (Options.Outputs)"))
			continue
		}
		v := in[i]
		if len(v) != 1 {
			if v != nil {
				b.errs = append(b.errs, n.Error(interp.Undefined, "result "+strconv.Itoa(i)+" is a tuple, expected a tensor"))
			}
			continue
		}
		to, ok := into[i]
		if !ok {
			to = b.result(n, v[0])
		} else if from, ok := b.update(n, i, to, v[0]); ok {
			last = append(last, [2]int{to, from})
		}
		b.p.Outputs = append(b.p.Outputs, to)
	}
	for _, c := range last {
		b.copy(n, c[0], c[1])
	}
}

// result returns the buffer of a result whose value lies in buffer k.
func (b *builder) result(n *graph.Node, k int) int {
	if b.p.Buffers[k].Kind == plan.Temp {
		b.p.Buffers[k].Kind = plan.Output
		return k
	}
	out := b.buffer("out_"+b.p.Buffers[k].Name, plan.Output, b.p.Buffers[k].Type)
	b.copy(n, out, k)
	return out
}

// update returns the buffer from which result i, the value in buffer k, is to be copied to input to, if it
// is: k, or a copy where that lies in an input that a result is made in.
func (b *builder) update(n *graph.Node, i, to, k int) (from int, ok bool) {
	have, want := &b.p.Buffers[k], &b.p.Buffers[to]
	if have.Late || !have.Type.Same(want.Type) {
		b.errs = append(b.errs, n.Error(lowering.BadOption, "result "+strconv.Itoa(i)+" is "+have.Type.String()+", the input that it is to be made in, "+strconv.Quote(want.Name)+", is "+want.Type.String()).
			WithHint("name an input of the same type in Options.Into"))
		return 0, false
	}
	if k == to {
		return 0, false // it lies there
	}
	if b.p.Buffers[b.root(k)].Updated {
		from = b.buffer(n.Name()+"_"+have.Name, plan.Temp, have.Type)
		b.copy(n, from, k)
		return from, true
	}
	return k, true
}
