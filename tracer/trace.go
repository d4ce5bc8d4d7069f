package tracer

import (
	"context"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// trace is the engine of one capture.
type trace struct {
	ctx      context.Context
	p        *Tracer
	root     any
	mod      *graph.Module
	cur      *graph.Cursor
	frames   int
	maxNodes int
	nodes    int
	ended    bool
	entry    diag.Pos
	busy     atomic.Bool

	errs  diag.List
	seen  map[place]int
	said  map[mistake]bool
	notes map[string]bool

	params  map[any]*graph.Param   // by tensor.ID
	modules map[tensor.Key]modInfo // by identity
	lifted  map[liftKey]*graph.Node
	recipes map[liftKey]*graph.Node // by recipe group
	consts  int

	scope   graph.ScopeID
	region  *region
	views   map[any][]any // tensor ID → IDs of views of it
	viewOf  map[any]any
	stale   map[any]diag.Pos
	written map[any]*graph.Node // buffers assigned during the trace
	owners  []owner
	before  map[string]*tensor.Tensor // the root's tensors when the trace began, by path
	grew    bool                      // the model filled fields of the root
}

// owner is a tensor of the root and the version of its storage when the trace
// began.
type owner struct {
	t       *tensor.Tensor
	path    string
	version uint64
}

type place struct {
	pos  diag.Pos
	code diag.Code
}

type mistake struct {
	place
	op string
}

type modInfo struct {
	path, selector string
}

type liftKey struct {
	g  *graph.Graph
	id any
}

// item is the value of a proxy that stands for one member of a tuple; its
// getitem node is made at the first use.
type item struct {
	tuple *graph.Node
	index int
	node  *graph.Node
}

const defaultMaxNodes = 4 << 20

func newTrace(ctx context.Context, p *Tracer, name string, root any) *trace {
	g := graph.New(name)
	t := &trace{ctx: ctx, p: p, mod: graph.NewModule(g), cur: g.At(), frames: p.Frames, maxNodes: p.MaxNodes,
		seen: map[place]int{}, said: map[mistake]bool{}, notes: map[string]bool{}, params: map[any]*graph.Param{}, modules: map[tensor.Key]modInfo{},
		lifted: map[liftKey]*graph.Node{}, recipes: map[liftKey]*graph.Node{}, views: map[any][]any{}, viewOf: map[any]any{},
		stale: map[any]diag.Pos{}, written: map[any]*graph.Node{}}
	if t.frames == 0 {
		t.frames = diag.MaxFrames
	}
	if t.maxNodes == 0 {
		t.maxNodes = defaultMaxNodes
	}
	t.cur.OnError = func(err error) { t.report(err) }
	if root != nil {
		t.walk(root)
	}
	return t
}

// walk enters every tensor and sub-module of the root under its first path.
func (t *trace) walk(root any) {
	t.root, t.before = root, tensorsOf(root)
	tensor.Walk(root, func(it tensor.Item) bool {
		if it.Tensor != nil {
			if _, known := t.params[it.Tensor.ID()]; known || it.Tensor.Engine() != nil {
				return false
			}
			it.Tensor.MarkParam()
			p := graph.Param{Path: it.Path, Value: it.Tensor.Array(), Buffer: it.Buffer, Selector: selector(it)}
			t.mod.SetParam(p)
			t.params[it.Tensor.ID()] = t.mod.Param(it.Path)
			t.owners = append(t.owners, owner{it.Tensor, it.Path, p.Value.Storage().Version()})
			return false
		}
		k := tensor.ModuleKey(it.Module)
		if _, known := t.modules[k]; !known {
			t.modules[k] = modInfo{it.Path, selector(it)}
		}
		return true
	})
}

// selector returns the Go expression of an item below the root m, "" when there
// is none.
func selector(it tensor.Item) string {
	if it.Selector == "" && it.Path != "" {
		return ""
	}
	return "m" + it.Selector
}

// report records a mistake, once for each place and code, and ends a trace that
// makes the same one too often.
func (t *trace) report(err error) {
	var l diag.List
	l.Add(err)
	for _, e := range l {
		if e.Pos.File == "" {
			e = e.At(diag.Here())
		}
		k := place{e.Pos, e.Code}
		k.pos.Func = ""
		if said := (mistake{k, e.Op}); !t.said[said] {
			t.said[said] = true
			t.errs = append(t.errs, e)
		}
		if t.seen[k]++; t.seen[k] == 64 {
			t.errs = append(t.errs, (&diag.Error{Code: Brake, Msg: "the mistake above was made 64 times; the trace was ended",
				Hint: "a loop may depend on data; use tensor.While or tensor.Scan"}).At(e.Pos))
			panic(stop{})
		}
	}
}

// reportEntry reports a mistake of the traced function's signature.
func (t *trace) reportEntry(e *diag.Error) { t.report(e.At(t.entry)) }

// enter guards against overlapping calls from two goroutines.
func (t *trace) enter() {
	if t.ended {
		panic((&diag.Error{Code: Ended, Msg: "a traced value is used after its trace has ended",
			Hint: "do not keep traced tensors in globals or fields"}).At(diag.Here()))
	}
	if !t.busy.CompareAndSwap(false, true) {
		panic((&diag.Error{Code: Overlap, Msg: "two goroutines use one trace at the same time",
			Hint: "trace from one goroutine; start others only outside the model"}).At(diag.Here()))
	}
	if t.frames > 0 {
		t.cur.SetPos(t.cur.Graph().Position(2, t.frames))
	}
}

func (t *trace) leave() { t.busy.Store(false) }

// Call implements tensor.Engine.
func (t *trace) Call(c *tensor.Call) []*tensor.Tensor {
	t.enter()
	defer t.leave()
	if t.p.OnCall != nil {
		return t.p.OnCall(c, t.record)
	}
	return t.record(c)
}

// node returns the node of a tensor in the current graph, lifting concrete ones;
// nil when its value is unusable, which has been reported.
func (t *trace) node(x *tensor.Tensor, what string) *graph.Node {
	if pos, bad := t.stale[x.ID()]; bad {
		t.report(&diag.Error{Code: StaleView, Op: what, Msg: "the tensor shares memory with one that was written in place",
			Hint: "use the in-place call's result, or replace the in-place call by an ordinary one", Related: []diag.Related{{Pos: pos, Msg: "written here"}}})
		return nil
	}
	if x.Engine() == nil {
		return t.lift(x)
	}
	var n *graph.Node
	switch v := x.Value().(type) {
	case *graph.Node:
		n = v
	case *item:
		if v.node == nil {
			v.node = t.itemNode(v)
		}
		n = v.node
	}
	if n == nil {
		return nil
	}
	return t.inRegion(n)
}

// itemNode makes a getitem node right behind the tuple's other members.
func (t *trace) itemNode(v *item) *graph.Node {
	after := v.tuple
	for after.Next() != nil && after.Next().Op() == op.GetItem && after.Next().Arg(0) == v.tuple {
		after = after.Next()
	}
	c := v.tuple.Graph().After(after)
	c.From(v.tuple)
	c.OnError = t.cur.OnError
	return c.ItemNode(v.tuple, v.index)
}

// lift brings a concrete tensor into the graph: parameter by identity, else the
// recipe that made it from parameters, else a constant of the module.
func (t *trace) lift(x *tensor.Tensor) *graph.Node {
	g := t.cur.Graph()
	if w := t.written[x.ID()]; w != nil && w.Graph() == g {
		return w
	}
	k := liftKey{g, x.ID()}
	if n := t.lifted[k]; n != nil {
		return n
	}
	var n *graph.Node
	if p := t.params[x.ID()]; p != nil {
		n = t.cur.GetAttr(p.Path)
	} else if c, index, group, ok := x.Recipe(); ok && (len(c.Args) > 0 || c.Op.Class != op.Opaque) {
		n = t.replay(c, index, group)
	} else {
		n = t.constant(x)
	}
	t.lifted[k] = n
	return n
}

// replay records the call that made a tensor, once for all of its results.
func (t *trace) replay(c *tensor.Call, index int, group any) *graph.Node {
	k := liftKey{t.cur.Graph(), group}
	call := t.recipes[k]
	if call == nil {
		args := make([]*graph.Node, len(c.Args))
		for i, a := range c.Args {
			if a != nil {
				args[i] = t.lift(a)
			}
		}
		call = t.cur.Function(c.Op, c.Attrs, args...)
		t.recipes[k] = call
		t.recorded(call, c)
	}
	if _, tuple := c.Op.NumResults(c.Attrs); tuple {
		return t.itemNode(&item{tuple: call, index: index})
	}
	return call
}

func (t *trace) constant(x *tensor.Tensor) *graph.Node {
	path := t.mod.FreshPath(constantPath + strconv.Itoa(t.consts))
	t.consts++
	t.mod.SetParam(graph.Param{Path: path, Value: x.Array(), Buffer: true})
	t.params[x.ID()] = t.mod.Param(path)
	return t.cur.GetAttr(path)
}

// Type implements tensor.Engine.
func (t *trace) Type(x *tensor.Tensor) shape.Type {
	switch v := x.Value().(type) {
	case *graph.Node:
		if v != nil {
			return v.Type()
		}
	case *item:
		if v.node != nil {
			return v.node.Type()
		}
		if tt := v.tuple.Type(); tt.Kind() == shape.Tuple && v.index < tt.Len() {
			return tt.Member(v.index)
		}
	}
	return shape.Type{}
}

// Observe implements tensor.Engine: data cannot be had while tracing.
func (t *trace) Observe(x *tensor.Tensor, what string) *array.Array {
	if what == "String" {
		return nil
	}
	ty := t.Type(x)
	zero := array.New(array.F32)
	if ty.Kind() == shape.None && x.Value() != nil && t.isPoison(x) {
		return zero // its own mistake was reported
	}
	if what == "Rank" {
		t.report(&diag.Error{Code: UnknownRank, Op: what, Msg: "the rank of the tensor is not known while tracing",
			Hint: "give the input a type, such as f32[N,3,224,224]"})
		return zero
	}
	if what == "DType" {
		t.report(&diag.Error{Code: UnknownDType, Op: what, Msg: "the element type of the tensor is not known while tracing",
			Hint: "give the input a type, such as f32[N,3,224,224]"})
		return zero
	}
	t.report(&diag.Error{Code: DataRead, Op: strings.ToLower(what), Msg: "the model reads the data of a traced tensor (" + what + "), which exists only at run time",
		Hint: "keep the computation in tensors; branch with tensor.Cond, loop with tensor.While, or wrap the function with tensor.Wrap"})
	if d, dims, ok := ty.Concrete(); ok {
		if n, ok := array.NumElems(dims); ok && n <= 1<<20 && what != "Item" {
			return array.New(d, dims...)
		}
	}
	return zero
}

func (t *trace) isPoison(x *tensor.Tensor) bool {
	n, ok := x.Value().(*graph.Node)
	return ok && (n == nil || n.Type().Kind() == shape.None)
}

// Size implements tensor.Sizer.
func (t *trace) Size(x *tensor.Tensor, axis int) shape.Dim {
	t.enter()
	defer t.leave()
	n := t.node(x, "Size")
	if n == nil {
		return shape.Unknown
	}
	if d := n.Type().Dim(axis); !d.IsUnknown() {
		return d
	}
	return n.Graph().NewSymbol(n, axis)
}

// Leaf implements tensor.Leafer.
func (t *trace) Leaf(m any, b *tensor.Bound, in []*tensor.Tensor) ([]*tensor.Tensor, bool) {
	info := t.moduleInfo(m)
	if t.p.IsLeaf != nil && !t.p.IsLeaf(m, info.path, true) {
		return nil, false
	}
	t.enter()
	defer t.leave()
	c := &tensor.Call{Op: b.Op, Attrs: b.Attrs, Args: in}
	args := make([]*graph.Node, len(in))
	for i, x := range in {
		if x == nil {
			continue
		}
		if args[i] = t.node(x, b.Op.Name); args[i] == nil {
			return t.poison(c), true
		}
	}
	if !t.bind(info, m, b) {
		return nil, false
	}
	n := t.cur.Module(info.path, args...)
	t.recorded(n, c)
	return t.results(n, b.Op, b.Attrs), true
}

// bind stores what the leaf does; false when its tensors are themselves traced,
// so that the call must be recorded as a function.
func (t *trace) bind(info modInfo, m any, b *tensor.Bound) bool {
	gb := graph.Bound{Op: b.Op, Attrs: b.Attrs, Names: b.Names, Selector: info.selector}
	if ty := reflect.TypeOf(m); ty.Kind() == reflect.Pointer {
		gb.Type = ty.Elem().PkgPath() + "." + ty.Elem().Name()
	}
	for i, p := range b.Params {
		if p == nil {
			gb.Params = append(gb.Params, "")
			continue
		}
		if p.Engine() != nil || t.written[p.ID()] != nil {
			return false
		}
		q := t.params[p.ID()]
		if q == nil {
			// The tensor was not found by the walk: a computed weight is recorded as
			// the function call that it is; one of a module outside the root gets a path.
			if _, _, _, computed := p.Recipe(); computed {
				return false
			}
			path := t.mod.FreshPath(info.path + "." + b.Names[i])
			t.mod.SetParam(graph.Param{Path: path, Value: p.Array()})
			q = t.mod.Param(path)
			t.params[p.ID()] = q
		}
		gb.Params = append(gb.Params, q.Path)
	}
	if old := t.mod.Bound(info.path); old == nil {
		t.mod.SetBound(info.path, gb)
	} else if !sameBound(old, &gb) {
		return false // its settings changed during the trace
	}
	return true
}

// moduleInfo returns the path of a module; one outside the root gets a fresh one.
func (t *trace) moduleInfo(m any) modInfo {
	k := tensor.ModuleKey(m)
	if info, ok := t.modules[k]; ok {
		return info
	}
	base := tensor.FieldName(reflect.Indirect(reflect.ValueOf(m)).Type().Name())
	used := map[string]bool{}
	for _, i := range t.modules {
		used[i.path] = true
	}
	path := base
	for i := 1; used[path]; i++ {
		path = base + "_" + strconv.Itoa(i)
	}
	info := modInfo{path: path}
	t.modules[k] = info
	return info
}

// Enter implements tensor.Scoper.
func (t *trace) Enter(m any, in []*tensor.Tensor) ([]*tensor.Tensor, func(), bool) {
	info := t.moduleInfo(m)
	if t.p.IsLeaf != nil && t.p.IsLeaf(m, info.path, false) {
		return t.userLeaf(m, info, in), nil, true
	}
	outer := t.scope
	ty := reflect.Indirect(reflect.ValueOf(m)).Type()
	t.scope = t.cur.Graph().Scope(graph.Scope{Path: info.path, Type: ty.PkgPath() + "." + ty.Name()})
	t.cur.SetScope(t.scope)
	return nil, func() {
		t.scope = outer
		t.cur.SetScope(outer)
	}, false
}

// userLeaf records a call of a user's module as one node of an ad-hoc operator.
func (t *trace) userLeaf(m any, info modInfo, in []*tensor.Tensor) []*tensor.Tensor {
	t.enter()
	defer t.leave()
	args := make([]*graph.Node, len(in))
	operands := make([]op.Operand, len(in))
	for i, x := range in {
		operands[i] = op.Operand{Name: "x" + strconv.Itoa(i), Optional: true}
		if x != nil {
			args[i] = t.node(x, "leaf")
		}
	}
	old := t.mod.Bound(info.path)
	if old == nil {
		ty := reflect.Indirect(reflect.ValueOf(m)).Type()
		forward := reflect.ValueOf(m).MethodByName("Forward")
		o := op.NewAdHoc(ty.PkgPath(), ty.Name()+".Forward", operands, false, false, func(a []*array.Array) ([]*array.Array, error) {
			return tensor.OnArrays(func(ts []*tensor.Tensor) []*tensor.Tensor { return callForward(forward, ts) }, a)
		})
		if k := forward.Type().NumOut(); k != 1 {
			o.Results = make([]string, k)
			for i := range o.Results {
				o.Results[i] = "r" + strconv.Itoa(i)
			}
		}
		t.mod.SetBound(info.path, graph.Bound{Op: o, Attrs: op.None{}, Type: ty.PkgPath() + "." + ty.Name(), Selector: info.selector})
		old = t.mod.Bound(info.path)
	}
	n := t.cur.Module(info.path, args...)
	t.recorded(n, &tensor.Call{Op: old.Op, Attrs: old.Attrs, Args: in})
	return t.results(n, old.Op, old.Attrs)
}

func callForward(forward reflect.Value, in []*tensor.Tensor) []*tensor.Tensor {
	args := make([]reflect.Value, len(in))
	for i, x := range in {
		args[i] = reflect.ValueOf(x)
	}
	var out []*tensor.Tensor
	for _, r := range forward.Call(args) {
		if x, ok := r.Interface().(*tensor.Tensor); ok {
			out = append(out, x)
		}
	}
	return out
}
