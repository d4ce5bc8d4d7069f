package gpu

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/lowering/internal/join"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// builder turns a legal graph of known sizes into steps: a fold over values.
type builder struct {
	m        *graph.Module
	info     device.Info
	library  bool // of the vendor, see device.Library
	tf32     bool // products of f32 may round their operands to tf32
	buffers  []buffer
	steps    []step
	args     map[*graph.Node]*value // what the placeholders of the graph that is lowered stand for
	outputs  []*value
	weights  map[weightKey]*value
	packs    map[string]*value // what pack has made, and holds where the builder is
	expanded int               // calls, see Stats
	groups   map[*graph.Graph]map[*graph.Node]*join.Group
	read     map[*graph.Node]*value // by elementwise calls
	errs     diag.List
}

// weightKey tells a weight that is read at each run from the same as it was.
type weightKey struct {
	path string
	live bool
}

// build makes the steps of a legal graph.
func build(m *graph.Module, info device.Info, library, tf32 bool) (*builder, error) {
	b := &builder{m: m, info: info, library: library, tf32: tf32, weights: map[weightKey]*value{}, packs: map[string]*value{},
		groups: map[*graph.Graph]map[*graph.Node]*join.Group{}, read: map[*graph.Node]*value{}}
	b.expanded = expanded(m.Graph)
	args := make([]*value, len(m.Graph.Inputs()))
	for i, n := range m.Graph.Inputs() {
		dims, err := concrete(n, n.Type())
		if err != nil {
			b.errs.Add(err)
			continue
		}
		d := n.Type().DType()
		args[i] = placed(d, dims, b.add(buffer{kind: input, bytes: bytesOf(d, dims), input: i}))
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
func (b *builder) fold(g *graph.Graph, args []*value) ([]*value, error) {
	outer := b.args
	defer func() { b.args = outer }()
	b.args = map[*graph.Node]*value{}
	for i, n := range g.Inputs() {
		b.args[n] = args[i]
	}
	return graph.Fold(context.Background(), g, b.node)
}

// node makes of one node what the builder has of it: nil when that failed and was reported.
func (b *builder) node(n *graph.Node, in [][]*value) ([]*value, error) {
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

func (b *builder) make(n *graph.Node, in [][]*value) ([]*value, error) {
	switch n.Opcode() {
	case graph.Placeholder:
		if v := b.args[n]; v != nil {
			return []*value{v}, nil
		}
		return nil, nil // reported
	case graph.GetAttr:
		return b.attr(n)
	case graph.Output:
		out := make([]*value, len(in))
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
	args := make([]*value, len(in))
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
func (b *builder) find(g *graph.Graph) {
	if b.groups[g] == nil {
		ruled := func(n *graph.Node) bool { _, ok := rules.Find(n); return ok }
		b.groups[g] = join.Find(g, join.Rules{Era: join.Eras(g), Taken: ruled, Operands: mostInputs, Nodes: mostNodes})
	}
}

// call lowers a call of an operator on arrays.
func (b *builder) call(n *graph.Node, args []*value) ([]*value, error) {
	for _, t := range members(n.Type()) {
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
	return nil, lowering.Refuse(n, name, "there is no kernel for it")
}

// concrete returns the sizes of a type, which must be known and small enough to be indexed.
func concrete(n *graph.Node, t shape.Type) ([]int, error) {
	_, dims, ok := t.Concrete()
	if !ok {
		return nil, n.Error(lowering.UnknownSize, n.String()+" is "+t.String()+", expected known sizes").
			WithHint("devices compute with sizes that follow from those of the inputs")
	}
	if count, ok := array.NumElems(dims); !ok || count > source.MaxElements {
		return nil, lowering.At(n, lowering.Unsupported, n.String()+" is "+t.String()+", kernels count to "+strconv.Itoa(source.MaxElements)+" elements").
			WithHint("choose smaller sizes, or let another target run it")
	}
	return dims, nil
}

func (b *builder) add(f buffer) int {
	b.buffers = append(b.buffers, f)
	return len(b.buffers) - 1
}

// placed returns a value that lies in a buffer in order.
func placed(d array.DType, dims []int, buf int) *value {
	return &value{header: header(d, dims), buf: buf}
}

func bytesOf(d array.DType, dims []int) int { return max(source.Dense(d, dims).Len()*d.Size(), 1) }

func (b *builder) attr(n *graph.Node) ([]*value, error) {
	path := n.Target()
	key := weightKey{path, n.Live()}
	if v := b.weights[key]; v != nil {
		return []*value{v}, nil
	}
	p := b.m.Param(path)
	if p == nil || p.Value == nil {
		return nil, n.Error(interp.NoParam, "the module has no tensor "+strconv.Quote(path))
	}
	a := p.Value
	f := buffer{kind: weight, bytes: bytesOf(a.DType(), a.Shape()), array: a, setup: true, path: path}
	if n.Live() {
		f.kind, f.setup = live, false
	}
	v := placed(a.DType(), a.Shape(), b.add(f))
	b.weights[key] = v
	return []*value{v}, nil
}

// constant returns a value that the host has.
func (b *builder) constant(a *array.Array) *value {
	return placed(a.DType(), a.Shape(), b.add(buffer{kind: weight, bytes: bytesOf(a.DType(), a.Shape()), array: a, setup: true}))
}

func (b *builder) size(n *graph.Node, x *value) ([]*value, error) {
	out := array.New(array.I64)
	axis := n.Attrs().(op.AxisAttrs).Axis
	array.SetInt64At(out, 0, int64(x.shape()[axis]))
	return []*value{b.constant(out)}, nil
}

// output takes the results: each in a buffer of its own, in order, written by a step.
func (b *builder) output(out []*value) {
	taken := map[int]bool{}
	for _, v := range out {
		x := b.dense(v)
		if f := b.buffers[x.buf]; f.kind != temporary || f.setup || taken[x.buf] {
			x = b.copy(x)
		}
		taken[x.buf] = true
		b.outputs = append(b.outputs, x)
	}
}

// temp returns a new value of that type for a step to write.
func (b *builder) temp(d array.DType, dims []int) *value {
	return placed(d, dims, b.add(buffer{bytes: bytesOf(d, dims)}))
}

// result returns a new value of the type of the call's result i.
func (b *builder) result(n *graph.Node, i int) *value {
	t := members(n.Type())[i]
	_, dims, _ := t.Concrete()
	return b.temp(t.DType(), dims)
}

// emit adds a launch, which writes out and reads in. A step that reads nothing but what is
// there before any run is done once.
func (b *builder) emit(n *graph.Node, k *source.Kernel, out, in []*value) {
	s := step{kernel: k, outs: len(out), node: n, setup: !k.Status}
	if !b.indexed(n, k, out, in) {
		return
	}
	for _, v := range out {
		if v.header.Len() == 0 {
			return
		}
		s.args = append(s.args, v.buf)
		s.setup = s.setup && !b.buffers[v.buf].anew
	}
	for _, v := range in {
		s.args = append(s.args, v.buf)
		s.setup = s.setup && b.buffers[v.buf].setup
	}
	for _, k := range s.args[:s.outs] {
		b.buffers[k].setup = s.setup
	}
	b.steps = append(b.steps, s)
}

// pack lays a matrix out by a kernel, once where several calls need it so, as the steps of a
// recurrent network do.
func (b *builder) pack(n *graph.Node, k *source.Kernel, elements int, w *value) *value {
	return b.packed(n, k, source.Dense(array.F32, []int{elements}), w)
}

// packed is pack for a result of any type.
func (b *builder) packed(n *graph.Node, k *source.Kernel, out source.View, w *value) *value {
	key := fmt.Sprint(k.Name, k.Numbers, w.buf)
	if b.packs[key] == nil {
		b.packs[key] = b.temp(out.DType, out.Shape)
		b.emit(n, k, []*value{b.packs[key]}, []*value{w})
	}
	return b.packs[key]
}

// dense returns the value in a buffer, in row-major order from its start.
func (b *builder) dense(v *value) *value {
	b.place(v)
	if v.view().IsDense() {
		return v
	}
	return b.copy(v)
}

// place makes sure that a value lies in a buffer.
func (b *builder) place(v *value) {
	if v.todo != nil {
		b.compute(v)
	}
}

// copy returns a copy in order.
func (b *builder) copy(v *value) *value {
	out := b.temp(v.dtype(), v.shape())
	b.emit(nil, source.Copy(out.view(), v.view()), []*value{out}, []*value{v})
	return out
}

// viewed lays the results over the first operand; where that needs a copy in order, over that.
func (b *builder) viewed(n *graph.Node, args []*value) ([]*value, error) {
	x := args[n.Op().ViewOf-1]
	b.place(x)
	out, ok, err := b.lay(n, args)
	if err == nil && !ok {
		args = slices.Clone(args)
		args[n.Op().ViewOf-1] = b.copy(x)
		out, ok, err = b.lay(n, args)
	}
	if err == nil && !ok {
		err = lowering.Refuse(n, name, "its layout is not that of a view")
	}
	return out, err
}

func (b *builder) lay(n *graph.Node, args []*value) ([]*value, bool, error) {
	headers := make([]*array.Array, len(args))
	for i, v := range args {
		if v != nil {
			headers[i] = v.header
		}
	}
	views, ok, err := n.Op().View(n.Attrs(), headers)
	out := make([]*value, len(views))
	for i, a := range views {
		out[i] = &value{header: a, buf: args[n.Op().ViewOf-1].buf}
	}
	return out, ok, err
}

// attrsStep returns the operator's step for the call, which has what its attributes mean
// for operands of these ranks.
func attrsStep(n *graph.Node) (kernel.Step, error) { return n.Op().Step(n.Attrs(), n.OperandTypes()) }

// indexed reports whether 32 bits count the elements of a step's operands and results, those of weights and of what a rule lays
// out among them, and its work-items, with those of the last group that have nothing to do; else that is an error of the call.
func (b *builder) indexed(n *graph.Node, k *source.Kernel, values ...[]*value) bool {
	most := 0
	if items := k.Items(); items > source.MaxItems {
		most = items
	}
	for _, l := range values {
		for _, v := range l {
			most = max(most, b.buffers[v.buf].bytes/max(v.dtype().Size(), 1), v.header.Len())
		}
	}
	if most <= source.MaxElements {
		return true
	}
	msg := "a kernel counts to " + strconv.Itoa(most) + " elements, expected no more than " + strconv.Itoa(source.MaxElements)
	err := diag.New(lowering.Unsupported, msg)
	if n != nil {
		err = lowering.At(n, lowering.Unsupported, msg)
	}
	b.errs = append(b.errs, err.WithHint("windows and what is laid out around them count, too; split the call, or let the cpu target run it (lowering.Split)"))
	return false
}
