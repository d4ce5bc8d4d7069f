package tracer

import (
	"context"
	"go/token"
	"reflect"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
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
	returned bool // the model's code
	entry    diag.Pos
	use      usage

	errs  diag.List
	seen  map[place]int
	said  map[mistake]bool
	notes map[string]bool

	params  map[any]*graph.Param    // by tensor.ID
	modules map[tensor.Key]modInfo  // by identity
	recipes map[liftKey]*graph.Node // by recipe group
	consts  int

	scope  graph.ScopeID
	region *region
	spans  []*span     // of all regions
	pos    graph.PosID // of the call that is being recorded
	what   string      // its name

	start      uint64                          // the moment at which the trace began
	refs       map[any]*alias.Ref[*graph.Node] // of eager tensors, by tensor.ID
	eagerViews map[viewKey][]*alias.Ref[*graph.Node]
	storages   map[*array.Storage][]*alias.Storage[*graph.Node]
	held       []*memory
	owners     []owner
	before     map[string]*tensor.Tensor // the root's tensors when the trace began, by path
	grew       bool                      // the model filled fields of the root
}

// owner is a storage of the model's state and its version when it entered.
type owner struct {
	s       *alias.Storage[*graph.Node]
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
	embedded       bool // the path is that of the module around it, or of the root
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
		recipes: map[liftKey]*graph.Node{}, start: array.Now(), refs: map[any]*alias.Ref[*graph.Node]{},
		eagerViews: map[viewKey][]*alias.Ref[*graph.Node]{}, storages: map[*array.Storage][]*alias.Storage[*graph.Node]{}}
	if t.frames == 0 {
		t.frames = diag.MaxFrames
	}
	if t.maxNodes == 0 {
		t.maxNodes = defaultMaxNodes
	}
	t.cur.OnError = func(err error) { t.report(err) }
	if root != nil {
		t.within(func() { t.walk(root) })
	}
	return t
}

// walk enters every tensor and sub-module of the root under its first path.
func (t *trace) walk(root any) {
	t.root, t.before = root, tensorsOf(root)
	taken := map[string]bool{"": true}
	tensor.Walk(root, func(it tensor.Item) bool {
		if it.Tensor != nil {
			if _, known := t.params[it.Tensor.ID()]; known || t.isTraced(it.Tensor) {
				return false
			}
			it.Tensor.MarkParam()
			t.mod.SetParam(graph.Param{Path: t.p.path(it), Value: it.Tensor.Value().(*array.Array), Buffer: it.Buffer, Selector: t.p.selector(it)})
			t.params[it.Tensor.ID()] = t.mod.Param(t.p.path(it))
			t.storage(it.Tensor)
			return false
		}
		k := tensor.ModuleKey(it.Module)
		if _, known := t.modules[k]; !known {
			path := t.p.path(it)
			t.modules[k] = modInfo{path, t.p.selector(it), taken[path]}
			taken[path] = true
		}
		return true
	})
}

// path returns the path of an item of the root.
func (p *Tracer) path(it tensor.Item) string {
	if p.Below != "" && it.Path != "" {
		return p.Below + "." + it.Path
	}
	return p.Below + it.Path
}

// selector returns the Go expression of an item below the root m, "" when there
// is none.
func (p *Tracer) selector(it tensor.Item) string {
	if it.Selector == "" && it.Path != "" || p.Below != "" {
		return ""
	}
	return "m" + it.Selector
}

// report records a mistake, once for each place and code, and ends a trace that
// makes the same one too often.
func (t *trace) report(err error) {
	var l diag.List
	l.Add(err)
	for _, fault := range l {
		if fault.Pos.File == "" {
			if t.returned {
				fault = fault.At(t.entry) // the model's code does not run any more
			} else {
				fault = fault.At(diag.Here())
			}
		}
		if fault.Code == op.OperandCount {
			fault = t.withNil(fault)
		}
		k := place{fault.Pos, fault.Code}
		k.pos.Func = ""
		if said := (mistake{k, fault.Op}); !t.said[said] {
			t.said[said] = true
			t.errs = append(t.errs, fault)
		}
		if t.seen[k]++; t.seen[k] == 64 {
			t.errs = append(t.errs, (&diag.Error{Code: Brake, Msg: "the mistake above was made 64 times; the trace was ended",
				Hint: "a loop may depend on data; use tensor.While or tensor.Scan"}).At(fault.Pos))
			t.halt()
		}
	}
}

// reportEntry reports a mistake of the traced function's signature.
func (t *trace) reportEntry(e *diag.Error) { t.report(e.At(t.entry)) }

// Call implements tensor.Engine.
func (t *trace) Call(c *tensor.Call) []*tensor.Tensor {
	if !t.enter() {
		return t.poison(c)
	}
	defer t.leave()
	if t.p.OnCall != nil {
		return t.p.OnCall(c, t.record)
	}
	return t.record(c)
}

// node returns the node of a tensor in the current graph, bringing concrete ones
// in; nil when its value is unusable, which has been reported. what names the
// call that uses it.
func (t *trace) node(value *tensor.Tensor, what string) *graph.Node {
	t.what = what
	var n *graph.Node
	switch v := value.Value().(type) {
	case *alias.Ref[*graph.Node]:
		return v.Read(t)
	case *array.Array:
		return t.eagerRef(value).Read(t)
	case *item:
		n = t.itemOf(v)
	case *graph.Node:
		n = v
	}
	if n == nil {
		return nil
	}
	if n.Graph() != t.cur.Graph() && t.inLoop() {
		return t.ref(value).Read(t) // the body may write to it yet
	}
	return t.inRegion(n)
}

func (t *trace) itemOf(v *item) *graph.Node {
	if v.node == nil {
		v.node = t.itemNode(v.tuple, v.index)
	}
	return v.node
}

// itemNode makes a getitem node right behind the tuple's other members.
func (t *trace) itemNode(tuple *graph.Node, index int) *graph.Node {
	after := tuple
	for after.Next() != nil && after.Next().Op() == op.GetItem && after.Next().Arg(0) == tuple {
		after = after.Next()
	}
	c := tuple.Graph().After(after)
	c.From(tuple)
	c.OnError = t.cur.OnError
	return c.ItemNode(tuple, index)
}

// Type implements tensor.Engine.
func (t *trace) Type(x *tensor.Tensor) shape.Type {
	if !t.take() {
		return shape.Type{}
	}
	defer t.leave()
	return t.typeOf(x)
}

func (t *trace) typeOf(x *tensor.Tensor) shape.Type {
	switch v := x.Value().(type) {
	case *array.Array:
		return shape.TypeOf(v)
	case *alias.Ref[*graph.Node]:
		if ty, ok := v.Type(); ok {
			return ty
		}
		if it := memoryOf(v.Storage).item; it != nil && v.IsWhole() {
			return it.typ()
		}
		if n := t.node(x, "Type"); n != nil {
			return n.Type()
		}
	case *graph.Node:
		if v != nil {
			return v.Type()
		}
	case *item:
		return v.typ()
	}
	return shape.Type{}
}

func (v *item) typ() shape.Type {
	if v.node != nil {
		return v.node.Type()
	}
	if t := v.tuple.Type(); t.Kind() == shape.Tuple && v.index < t.Len() {
		return t.Member(v.index)
	}
	return shape.Type{}
}

// Observe implements tensor.Engine: data cannot be had while tracing.
func (t *trace) Observe(x *tensor.Tensor, what string) *array.Array {
	zero := array.New(array.F32)
	if !t.take() {
		return zero
	}
	defer t.leave()
	if what == "String" {
		return nil
	}
	ty := t.typeOf(x)
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
	switch v := x.Value().(type) {
	case *graph.Node:
		return v == nil || v.Type().Kind() == shape.None
	case *alias.Ref[*graph.Node]:
		return true
	}
	return false
}

// Size implements tensor.Sizer.
func (t *trace) Size(x *tensor.Tensor, axis int) shape.Dim {
	if !t.enter() {
		return shape.Unknown
	}
	defer t.leave()
	if n := t.origin(x); n != nil { // a symbol of its graph is known in regions too
		if d := n.Type().Dim(axis); !d.IsUnknown() {
			return d
		}
		return n.Graph().NewSymbol(n, axis)
	}
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
func (t *trace) Leaf(m any, bound *tensor.Bound, in []*tensor.Tensor) ([]*tensor.Tensor, bool) {
	call := &tensor.Call{Op: bound.Op, Attrs: bound.Attrs, Args: in}
	if !t.enter() {
		return t.poison(call), true
	}
	defer t.leave()
	info := t.leafInfo(m)
	if t.p.IsLeaf != nil && !t.p.IsLeaf(m, info.path, true) {
		return nil, false
	}
	args := make([]*graph.Node, len(in))
	for i, x := range in {
		if x == nil {
			continue
		}
		if args[i] = t.node(x, bound.Op.Name); args[i] == nil {
			return t.poison(call), true
		}
	}
	if !t.bind(info, m, bound) {
		return nil, false
	}
	n := t.cur.Module(info.path, args...)
	t.recorded(n, call)
	if out := t.views(n, call, args); out != nil {
		return out, true
	}
	return t.results(n, bound.Op, bound.Attrs), true
}

// bind stores what the leaf does; false when its tensors are themselves traced,
// so that the call must be recorded as a function.
func (t *trace) bind(info modInfo, m any, bound *tensor.Bound) bool {
	gb := graph.Bound{Op: bound.Op, Attrs: bound.Attrs, Names: bound.Names, Selector: info.selector}
	if ty := reflect.TypeOf(m); ty.Kind() == reflect.Pointer {
		gb.Type = ty.Elem().PkgPath() + "." + ty.Elem().Name()
	}
	for i, value := range bound.Params {
		if value == nil {
			gb.Params = append(gb.Params, "")
			continue
		}
		if t.isTraced(value) {
			return false
		}
		param := t.params[value.ID()]
		if param == nil {
			// The tensor was not found by the walk: a computed weight is recorded as
			// the function call that it is; one of a module outside the root gets a path.
			if _, _, _, computed := value.Recipe(); computed || value.Origin() != nil || t.refs[value.ID()] != nil {
				return false
			}
			name := "param" + strconv.Itoa(i)
			if i < len(bound.Names) && bound.Names[i] != "" {
				name = bound.Names[i]
			}
			path := t.mod.FreshPath(info.path + "." + name)
			t.mod.SetParam(graph.Param{Path: path, Value: value.Value().(*array.Array)})
			param = t.mod.Param(path)
			t.params[value.ID()] = param
			t.storage(value)
		}
		gb.Params = append(gb.Params, param.Path)
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
	info := modInfo{path: t.freshModule(typeName(m))}
	t.modules[k] = info
	return info
}

// leafInfo is moduleInfo for a module that becomes a node: one that is embedded, whose
// tensors have the names of those of the struct around it, is named after its field; one
// that is the root, after its type.
func (t *trace) leafInfo(m any) modInfo {
	info := t.moduleInfo(m)
	if !info.embedded {
		return info
	}
	name := info.selector[strings.LastIndexByte(info.selector, '.')+1:]
	if name == info.selector || !token.IsIdentifier(name) {
		name = typeName(m)
	} else {
		name = tensor.FieldName(name)
	}
	if info.path != "" {
		name = info.path + "." + name
	}
	info.path, info.embedded = t.freshModule(name), false
	t.modules[tensor.ModuleKey(m)] = info
	return info
}

func typeName(m any) string {
	name, _, _ := strings.Cut(reflect.Indirect(reflect.ValueOf(m)).Type().Name(), "[")
	return tensor.FieldName(name)
}

// freshModule is a path that no module has: base, or base with a number.
func (t *trace) freshModule(base string) string {
	used := map[string]bool{}
	for _, i := range t.modules {
		used[i.path] = true
	}
	path := base
	for i := 1; used[path]; i++ {
		path = base + "_" + strconv.Itoa(i)
	}
	return path
}

// Enter implements tensor.Scoper.
func (t *trace) Enter(m any, in []*tensor.Tensor) ([]*tensor.Tensor, func(), bool) {
	if !t.enter() {
		return t.poisonForward(m), nil, true
	}
	defer t.leave()
	info := t.moduleInfo(m)
	if t.p.IsLeaf != nil && t.p.IsLeaf(m, info.path, false) {
		return t.userLeaf(m, in), nil, true
	}
	outer := t.scope
	ty := reflect.Indirect(reflect.ValueOf(m)).Type()
	t.scope = t.cur.Graph().Scope(graph.Scope{Path: info.path, Type: ty.PkgPath() + "." + ty.Name()})
	t.cur.SetScope(t.scope)
	return nil, func() {
		if t.take() {
			defer t.leave()
			t.scope = outer
			t.cur.SetScope(outer)
		}
	}, false
}
