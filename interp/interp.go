package interp

import (
	"context"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// Result is what a node computes: one tensor, or the members of a tuple.
type Result struct {
	T     *tensor.Tensor
	Tuple []*tensor.Tensor
}

// Hook replaces the running of a node. in has the zero Result for absent
// operands; next runs the node as usual and may be given other operands.
type Hook func(n *graph.Node, in []Result, next func(in []Result) (Result, error)) (Result, error)

// Interpreter runs a graph. The hooks, all optional, are the overridable methods
// of torch.fx's Interpreter: Node sees every node, the others those of one opcode.
type Interpreter struct {
	State *State

	Node                                                               Hook
	Placeholder, GetAttr, CallFunction, CallMethod, CallModule, Output Hook

	// Known gives values for nodes in advance: partial evaluation. Such nodes are
	// not run.
	Known map[*graph.Node]Result
}

// Run interprets the graph on the inputs, in the order of its placeholders (nil
// for one whose default is wanted), and returns the operands of its output node.
func (p *Interpreter) Run(ctx context.Context, inputs ...*tensor.Tensor) (out []*tensor.Tensor, err error) {
	defer diag.Catch(&err)
	return p.run(ctx, p.State.Module.Graph, inputs, nil)
}

// RunArrays is Run on arrays; nil stands for an input whose default is wanted.
func (p *Interpreter) RunArrays(ctx context.Context, inputs []*array.Array) ([]*array.Array, error) {
	in := make([]*tensor.Tensor, len(inputs))
	for i, a := range inputs {
		if a != nil {
			in[i] = tensor.New(a)
		}
	}
	results, err := p.Run(ctx, in...)
	if err != nil {
		return nil, err
	}
	out := make([]*array.Array, len(results))
	for i, t := range results {
		if t != nil {
			out[i] = t.Array()
		}
	}
	return out, nil
}

// frame is the run of one graph or region.
type frame struct {
	p       *Interpreter
	ctx     context.Context
	g       *graph.Graph
	inputs  []*tensor.Tensor
	entry   *guard.Entry     // the checks of what is given
	given   []*tensor.Tensor // what they are, those that have been entered
	next    int
	outer   *frame // of the graph that this one is a region of
	from    *frame // of the graph that calls this one
	symbols map[string]shape.Dim
	defines map[*graph.Node]bool
	guards  []graph.Guard
	types   map[string]shape.Type // of what defines symbols, by name
	copies  map[*graph.Node]graph.Copies
	inside  *diag.Error // of a call in a region of this graph, which has its place
}

func (p *Interpreter) run(ctx context.Context, g *graph.Graph, inputs []*tensor.Tensor, outer *frame) ([]*tensor.Tensor, error) {
	f := &frame{p: p, ctx: ctx, g: g, inputs: inputs, outer: outer}
	if outer != nil {
		f.copies = outer.copies
	} else {
		f.copies = map[*graph.Node]graph.Copies{}
	}
	return f.run()
}

func (f *frame) run() ([]*tensor.Tensor, error) {
	f.entry = f.g.Entry()
	f.guards = f.g.Needed()
	if len(f.entry.Inputs) == 0 {
		if err := f.entry.Count(len(f.inputs)); err != nil {
			return nil, err
		}
	}
	for _, s := range f.g.Symbols() {
		if f.defines == nil {
			f.defines, f.symbols, f.types = map[*graph.Node]bool{}, map[string]shape.Dim{}, map[string]shape.Type{}
		}
		f.defines[s.Node] = true
	}
	if f.outer != nil || len(f.entry.Inputs) == 0 {
		if err := f.check(nil, nil); err != nil { // over sizes of the graphs around
			return nil, err
		}
	}
	v, err := graph.Fold(f.ctx, f.g, f.visit)
	if err != nil {
		return nil, err
	}
	return v.Tuple, nil
}

func (f *frame) visit(node *graph.Node, in []Result) (value Result, err error) {
	if v, ok := f.p.Known[node]; ok {
		return v, f.define(node, v)
	}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*diag.Error)
			if !ok {
				panic(r)
			}
			if e == f.inside {
				err = e
				return
			}
			// The place that matters is where the user wrote the call.
			c := *e
			c.Pos, c.Node = node.Pos(), "" // Fold names the node
			err = &c
		}
	}()
	own := f.p.hook(node.Opcode())
	switch h := f.p.Node; {
	case h != nil:
		value, err = h(node, in, f.hooked(node, own))
	case own != nil:
		value, err = f.hooked(node, own)(in)
	default:
		value, err = f.node(node, in)
	}
	if err != nil {
		return value, err
	}
	return value, f.define(node, value)
}

// hook returns the hook of an opcode, nil when there is none.
func (p *Interpreter) hook(o graph.Opcode) Hook {
	return [...]Hook{p.Placeholder, p.GetAttr, p.CallFunction, p.CallMethod, p.CallModule, p.Output}[o]
}

// hooked returns how the node is run below the Node hook.
func (f *frame) hooked(n *graph.Node, h Hook) func([]Result) (Result, error) {
	plain := func(in []Result) (Result, error) { return f.node(n, in) }
	if h == nil {
		return plain
	}
	return func(in []Result) (Result, error) { return h(n, in, plain) }
}

func (f *frame) node(n *graph.Node, in []Result) (Result, error) {
	switch n.Opcode() {
	case graph.Placeholder:
		return f.input(n)
	case graph.GetAttr:
		t := f.p.State.Tensor(n.Target())
		if t == nil {
			return Result{}, n.Error(NoParam, "the module has no tensor "+strconv.Quote(n.Target()))
		}
		if err := checkParam(n, t.Type()); err != nil {
			return Result{}, err
		}
		return Result{T: t}, nil
	case graph.Output:
		out := make([]*tensor.Tensor, len(in))
		for i, v := range in {
			if n.Arg(i) != nil && v.T == nil {
				return Result{}, n.Error(Undefined, "result "+strconv.Itoa(i)+" is not a tensor")
			}
			out[i] = v.T
		}
		return Result{Tuple: out}, nil
	case graph.CallModule:
		if n.Op() != op.Call {
			return f.module(n, in)
		}
		for _, path := range n.Bound().Params {
			in = append(in[:len(in):len(in)], Result{T: f.p.State.Tensor(path)})
		}
	}
	return f.call(n, in)
}

// input takes the next input and checks it against the placeholder's type. What is wrong with
// those that follow is reported too, unless hooks may give them.
func (f *frame) input(node *graph.Node) (Result, error) {
	value := f.argument(f.next, node)
	f.next++
	if f.next == len(f.entry.Inputs) {
		if err := f.entry.Count(len(f.inputs)); err != nil {
			return Result{}, err
		}
	}
	i := slices.Index(f.g.Inputs(), node)
	if err := f.entry.Inputs[i].Refuse(valueOf(value)); err == nil {
		return Result{T: value}, nil
	} else if i != f.next-1 || f.p.Node != nil || f.p.Placeholder != nil {
		return Result{}, err
	}
	at := func(k int) guard.Argument {
		if k < i {
			return f.at(k)
		}
		return valueOf(f.argument(k, f.g.Inputs()[k]))
	}
	return Result{}, f.entry.Types(&guard.Given{At: at})
}

// argument is what is given for a placeholder, or its default; nil for neither.
func (f *frame) argument(i int, node *graph.Node) *tensor.Tensor {
	if i < len(f.inputs) && f.inputs[i] != nil {
		return f.inputs[i]
	}
	if d, ok := node.Default().(*array.Array); ok {
		return tensor.New(d)
	}
	return nil
}

// call runs a call_function or call_method node.
func (f *frame) call(node *graph.Node, in []Result) (Result, error) {
	operator := node.Op()
	attrs := node.Attrs()
	if operator == nil || !operator.Codec().Accepts(attrs) {
		return Result{}, node.Error(graph.BadOperator, "call without an operator, or with attributes of another")
	}
	if operator == op.Call {
		return f.sub(node, in)
	}
	if err := operator.CheckRequired(len(in), func(i int) bool { return node.Arg(i) != nil }); err != nil {
		return Result{}, err
	}
	if len(node.Regions()) > 0 || operator == op.Cond || operator == op.While || operator == op.Scan {
		if err := node.CheckControl(); err != nil {
			return Result{}, err
		}
	}
	if operator.Codec().HasDims() {
		attrs = operator.Codec().Bind(attrs, f.symbol)
	}
	switch operator {
	case op.GetItem:
		i := attrs.(op.GetItemAttrs).Index
		if i < 0 || i >= len(in[0].Tuple) {
			return Result{}, node.Error(Undefined, "the operand has "+strconv.Itoa(len(in[0].Tuple))+" members, member "+strconv.Itoa(i)+" is wanted")
		}
		return Result{T: in[0].Tuple[i]}, nil
	case op.Cond, op.While, op.Scan:
		return f.regions(node, in)
	}
	args := make([]*tensor.Tensor, len(in))
	for i, v := range in {
		if args[i] = v.T; v.T == nil && node.Arg(i) != nil {
			return Result{}, node.Error(Undefined, "operand "+node.Arg(i).String()+" is not a tensor")
		}
	}
	switch operator {
	case op.Assign:
		if _, err := node.Assigned(); err != nil {
			return Result{}, err
		}
		return Result{T: args[0].AssignInPlace(args[1])}, nil
	case op.Dim:
		return Result{T: tensor.Scalar(int64(args[0].Dim(attrs.(op.AxisAttrs).Axis)))}, nil
	}
	if node.Opcode() == graph.CallMethod {
		return wrap(operator, attrs, tensor.ApplyMethod(operator, attrs, args...)), nil
	}
	return wrap(operator, attrs, tensor.Apply(operator, attrs, args...)), nil
}

func wrap(o *op.Op, attrs any, out []*tensor.Tensor) Result {
	if _, tuple := o.NumResults(attrs); tuple {
		return Result{Tuple: out}
	}
	return Result{T: out[0]}
}

// module runs a call_module node from what the graph module knows of the leaf.
func (f *frame) module(n *graph.Node, in []Result) (Result, error) {
	b, leaf := n.Bound(), f.p.State.Leaf(n.Target())
	if b == nil || b.Op == nil || leaf == nil {
		return Result{}, n.Error(NoModule, "nothing is known of module "+strconv.Quote(n.Target()))
	}
	args := make([]*tensor.Tensor, len(in))
	for i, v := range in {
		args[i] = v.T
	}
	out, err := leaf.call(args)
	if err != nil {
		return Result{}, err
	}
	return wrap(b.Op, b.Attrs, out), nil
}
