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
	"github.com/gofx-dev/gofx/tracer/record"
)

// trace is the engine of one capture: a recorder of nodes, with the tensors and modules
// that calls come from, the policy of a Tracer, and the mistakes found.
type trace struct {
	ctx      context.Context
	p        *Tracer
	root     any
	prog     program
	src      sources
	rec      *recorder
	frames   int
	maxNodes int
	returned bool // the model's code
	entry    diag.Pos
	use      usage

	errs  diag.List
	seen  map[place]int
	said  map[mistake]bool
	notes map[string]bool
	// invented has the functions of the model that were given sizes which are not known.
	invented map[string]bool

	modules map[tensor.Key]modInfo    // by identity
	scopes  *scoping                  // nil without a root
	before  map[string]*tensor.Tensor // the root's tensors when the trace began, by path
	grew    bool                      // the model filled fields of the root
}

var (
	_ tensor.Symbolic = (*trace)(nil)
	_ tensor.Capturer = (*trace)(nil)
)

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

const defaultMaxNodes = 4 << 20

func newTrace(ctx context.Context, p *Tracer, name string, root any) *trace {
	t := &trace{ctx: ctx, p: p, frames: p.Frames, maxNodes: p.MaxNodes,
		seen: map[place]int{}, said: map[mistake]bool{}, notes: map[string]bool{}, invented: map[string]bool{}, modules: map[tensor.Key]modInfo{}}
	g := graph.New(name)
	t.prog, t.src = newProgram(t, g), sources{t: t, params: map[any]*graph.Param{}}
	t.rec = t.recorder(t)
	if t.frames == 0 {
		t.frames = diag.MaxFrames
	}
	if t.maxNodes == 0 {
		t.maxNodes = defaultMaxNodes
	}
	if root != nil {
		t.within(func() { t.walk(root) })
	}
	return t
}

// recorder makes the recorder of an engine whose tensors are those of the trace.
func (t *trace) recorder(e tensor.Engine) *recorder {
	return record.New[*graph.Node, *graph.Graph](e, &t.prog, &t.src, &t.prog, t.prog.mod.Graph)
}

// walk enters every tensor and sub-module of the root under its first path.
func (t *trace) walk(root any) {
	t.root, t.before, t.scopes = root, tensorsOf(root), newScoping()
	taken := map[string]bool{"": true}
	tensor.Walk(root, func(it tensor.Item) bool {
		if it.Tensor != nil {
			t.scopes.tensor(it.Tensor, t.p.path(it))
			if _, known := t.src.params[it.Tensor.ID()]; known || t.rec.Eager.Has(it.Tensor) {
				return false
			}
			it.Tensor.MarkParam()
			t.prog.mod.SetParam(graph.Param{Path: t.p.path(it), Value: it.Tensor.Value().(*array.Array), Buffer: it.Buffer, Selector: t.p.selector(it)})
			t.src.params[it.Tensor.ID()] = t.prog.mod.Param(t.p.path(it))
			t.reads(t.p.path(it), it.Tensor)
			t.rec.Eager.Enter(it.Tensor)
			return false
		}
		t.scopes.module(it.Module, t.p.path(it))
		k := tensor.ModuleKey(it.Module)
		if _, known := t.modules[k]; !known {
			path := t.p.path(it)
			t.modules[k] = modInfo{path, t.p.selector(it), taken[path]}
			taken[path] = true
		}
		return true
	})
}

// reads tells OnState of a tensor that the module has.
func (t *trace) reads(path string, x *tensor.Tensor) {
	if t.p.OnState != nil {
		t.p.OnState(path, x)
	}
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
		if fault.Code == UnknownSize {
			t.invented[fault.Pos.Func] = true
		} else if fault.Code == op.BadReshape && t.invented[fault.Pos.Func] {
			continue // sizes were made up after the mistake, which the cure of this one would hide
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
	if !t.enter(nil, c.Args...) {
		return t.rec.Poison(c)
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
func (t *trace) node(x *tensor.Tensor, what string) *graph.Node { return t.rec.Value(x, what) }

// Type implements tensor.Engine.
func (t *trace) Type(x *tensor.Tensor) shape.Type {
	if !t.take() {
		return shape.Type{}
	}
	defer t.leave()
	return t.rec.TypeOf(x)
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
	ty := t.rec.TypeOf(x)
	if ty.Kind() == shape.None && x.Value() != nil && t.rec.Unusable(x) {
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

// Size implements tensor.Symbolic.
func (t *trace) Size(x *tensor.Tensor, axis int) shape.Dim {
	if !t.enter(nil, x) {
		return shape.Unknown
	}
	defer t.leave()
	if n := t.rec.Origin(x); n != nil { // a symbol of its graph is known in regions too
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

// Leaf implements tensor.Capturer.
func (t *trace) Leaf(m any, bound *tensor.Bound, in []*tensor.Tensor) ([]*tensor.Tensor, bool) {
	call := &tensor.Call{Op: bound.Op, Attrs: bound.Attrs, Args: in}
	t.scopes.leaf(m)
	if !t.enter(m, in...) {
		return t.rec.Poison(call), true
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
			return t.rec.Poison(call), true
		}
	}
	if !t.bind(info, m, bound) {
		return nil, false
	}
	n := t.prog.cur.Module(info.path, args...)
	t.prog.Recorded(n, call)
	return t.rec.Results(n, call, args), true
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
		if t.rec.Eager.Has(value) {
			return false
		}
		param := t.src.params[value.ID()]
		if param == nil {
			// The tensor was not found by the walk: a computed weight is recorded as
			// the function call that it is; one of a module outside the root gets a path.
			if _, _, _, computed := value.Recipe(); computed || value.Origin() != nil || t.rec.Eager.Met(value) {
				return false
			}
			name := "param" + strconv.Itoa(i)
			if i < len(bound.Names) && bound.Names[i] != "" {
				name = bound.Names[i]
			}
			path := t.prog.mod.FreshPath(info.path + "." + name)
			t.prog.mod.SetParam(graph.Param{Path: path, Value: value.Value().(*array.Array)})
			param = t.prog.mod.Param(path)
			t.src.params[value.ID()] = param
			t.reads(path, value)
			t.rec.Eager.Enter(value)
		}
		gb.Params = append(gb.Params, param.Path)
	}
	if old := t.prog.mod.Bound(info.path); old == nil {
		t.prog.mod.SetBound(info.path, gb)
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

// Enter implements tensor.Capturer.
func (t *trace) Enter(m any, in []*tensor.Tensor) ([]*tensor.Tensor, func(), bool) {
	if !t.enter(m, in...) {
		return t.poisonForward(m), nil, true
	}
	defer t.leave()
	info := t.moduleInfo(m)
	if t.p.IsLeaf != nil && t.p.IsLeaf(m, info.path, false) {
		return t.userLeaf(m, in), nil, true
	}
	leave := t.prog.enterScope(scopeOf(m, info.path))
	return nil, func() {
		if t.take() {
			defer t.leave()
			leave()
		}
	}, false
}
