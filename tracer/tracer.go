package tracer

import (
	"context"
	"reflect"
	"runtime"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// Input describes one tensor input: its name, what is known of its type, and a
// default value that a run uses when the input is not given.
type Input struct {
	Name    string
	Type    shape.Type
	Default *array.Array
}

// Tracer holds the policy of a capture. The zero value works; every field
// overrides one decision (torch.fx paper, section 5.2).
type Tracer struct {
	// Name names the graph; empty means after the function or type.
	Name string
	// Root is the module whose tensors and sub-modules give paths; nil means the
	// traced module itself. Use it when tracing a closure over a module.
	Root any
	// Below is put in front of the paths of the root: where it stands in a larger
	// model (Record).
	Below string
	// Maker is the Go expression that made the module, where that is known: it is named
	// where a field of the module turns out to be nil.
	Maker string
	// Method is the method of a module that is traced; empty means Forward.
	Method string

	// Inputs describes the tensor inputs in the order in which they appear in the
	// arguments; missing ones are of unknown type.
	Inputs []Input
	// Args are example arguments, by position: nil or a missing one stands for the
	// parameter's own type. Tensors inside them become inputs of their type;
	// every other value is concrete: it is fixed in the graph and noted. Those of a
	// variadic parameter follow one by one, or are one slice; without any it has no
	// values, unless they hold tensors.
	Args []any

	// IsLeaf decides whether a module is recorded as one call_module. library tells
	// that it is a leaf of package nn. nil: library modules are leaves, others not.
	IsLeaf func(m any, path string, library bool) bool
	// OnNode sees every recorded node of a call and may attach metadata.
	OnNode func(n *graph.Node, c *tensor.Call)
	// OnCall replaces the recording of a call; record is the default. It may
	// record something else, or nothing.
	OnCall func(c *tensor.Call, record func(*tensor.Call) []*tensor.Tensor) []*tensor.Tensor
	// SizeOf gives numbers for sizes that the model asks for with Dim and that are
	// not known; such a size is noted and guarded at entry.
	SizeOf func(n *graph.Node, axis int) (int, bool)
	// Gradients makes those that the model asks for with tensor.Grad; fx.Trace sets it. nil:
	// they are refused.
	Gradients Gradients
	// OnState sees each eager tensor from before the trace that the graph reads, with the path
	// under which the module has it.
	OnState func(path string, x *tensor.Tensor)
	// OnRead is told that the model's code reads the data of an eager tensor that takes part; what
	// names the method that asks.
	OnRead func(what string)
	// Flatten opens Go types of the user's own as containers of tensors, for
	// arguments and results.
	Flatten map[reflect.Type]Flattener

	// Frames is the number of user frames recorded for each node: 0 means eight,
	// negative none.
	Frames int
	// MaxNodes bounds the graph; 0 means 4 million.
	MaxNodes int
}

// Flattener takes a value of a user's type apart into tensors and puts it
// together again.
type Flattener struct {
	Tensors func(v any) []*tensor.Tensor
	With    func(v any, t []*tensor.Tensor) any
	Names   func(v any) []string
}

// Trace runs fn once on proxies (TraceSteady: several times) and returns the graph with the state that it
// reads. fn is a function, a method value, or a pointer to a module. All
// mistakes are returned as one diag.List sorted by position; no graph is
// returned then.
func (p *Tracer) Trace(ctx context.Context, fn any) (*graph.Module, error) {
	t, err := p.once(ctx, fn)
	if err != nil {
		return nil, err
	}
	return t.prog.mod, nil
}

// once is Trace, with what is known besides the graph.
func (p *Tracer) once(ctx context.Context, fn any) (*trace, error) {
	tr, call, err := p.start(ctx, fn)
	if err != nil {
		return nil, err
	}
	defer tr.rec.Eager.Release()
	if tr.root != nil {
		for _, e := range tensor.StateErrors(tr.root) {
			tr.reportEntry(e)
		}
	}
	results, returned := tr.watched(call)
	tr.hold("after the model had returned")
	tr.returned = true
	tr.within(func() {
		tr.src.unseenWrites()
		tr.replaced()
		if returned {
			tr.finish(results)
		}
	})
	tr.use.ended.Store(true)
	tr.leave()
	tr.clashes()
	if err := tr.errs.Err(); err != nil {
		tr.errs.Sort()
		return nil, tr.errs
	}
	tr.prog.mod.DropUnused()
	return tr, nil
}

// target is the function to call and what is known about it.
type target struct {
	fn     reflect.Value
	params []reflect.Type
}

func (p *Tracer) start(ctx context.Context, fn any) (*trace, *target, error) {
	value := reflect.ValueOf(fn)
	root, name, goType := p.Root, p.Name, ""
	refuse := func(msg, hint string) (*trace, *target, error) {
		return nil, nil, diag.New(BadTarget, msg).WithHint(hint).At(diag.Here())
	}
	switch {
	case !value.IsValid():
		return refuse("nothing to trace: fn is nil", "pass a function of tensors or a pointer to a module")
	case (value.Kind() == reflect.Func || value.Kind() == reflect.Pointer) && value.IsNil():
		return refuse("nothing to trace: the "+value.Type().String()+" is nil", "assign it before it is traced")
	case value.Kind() == reflect.Func:
		path, fname := tensor.FuncName(fn)
		goType = path + "." + fname
		if name == "" {
			name = fname
		}
	case value.Kind() == reflect.Pointer && value.Elem().Kind() == reflect.Struct:
		method := p.Method
		if method == "" {
			method = "Forward"
		}
		if root == nil {
			root = fn
		}
		t := value.Type().Elem()
		goType = t.PkgPath() + "." + t.Name()
		if name == "" {
			name = t.Name()
		}
		value = value.MethodByName(method)
		if !value.IsValid() {
			return refuse("type "+t.String()+" has no method "+method, "give the module a Forward method, or name another one")
		}
	default:
		return refuse("cannot trace a "+value.Type().String(), "pass a function of tensors or a pointer to a module")
	}
	t := newTrace(ctx, p, name, root)
	t.prog.mod.Type = goType
	t.entry = entryPos(fn, p.Method)
	if t.scopes != nil {
		t.scopes.entry = t.entry.Func
	}
	params := make([]reflect.Type, value.Type().NumIn())
	for i := range params {
		params[i] = value.Type().In(i)
	}
	return t, &target{value, params}, nil
}

// entryPos returns where the function to trace is declared: the place of what is
// wrong with its signature.
func entryPos(fn any, method string) diag.Pos {
	v := reflect.ValueOf(fn)
	pc := uintptr(0)
	if v.Kind() == reflect.Func {
		pc = v.Pointer()
	} else {
		if method == "" {
			method = "Forward"
		}
		if m, ok := v.Type().MethodByName(method); ok {
			pc = m.Func.Pointer()
		}
	}
	f := runtime.FuncForPC(pc)
	if f == nil {
		return diag.Pos{}
	}
	file, line := f.FileLine(f.Entry())
	return diag.Pos{File: file, Line: line, Func: f.Name()}
}

// stop ends a trace early; the reason has been recorded.
type stop struct{}

// run calls the function and returns its results; returned is false when it was
// not called or panicked.
func (t *trace) run(callee *target) (results []reflect.Value, returned bool) {
	defer func() {
		r := recover()
		t.hold("after the model had returned")
		defer t.leave()
		t.clashes()
		t.within(func() { t.caught(r) })
	}()
	args, ok := t.arguments(callee)
	switch {
	case !ok:
		return nil, false
	case callee.fn.Type().IsVariadic():
		return callee.fn.CallSlice(args), true
	}
	return callee.fn.Call(args), true
}

// within runs f and reports what it panics with. Reporting may itself end the trace.
func (t *trace) within(f func()) {
	defer func() {
		if r := recover(); r != nil {
			t.within(func() { t.caught(r) })
		}
	}()
	f()
}

// caught reports what a panic was about.
func (t *trace) caught(r any) {
	switch r := r.(type) {
	case nil, stop:
	case *diag.Error:
		t.report(r)
	default:
		t.panicked(r)
	}
}

// panicked reports a panic of user code: attached to an earlier mistake, which
// most likely caused it, or as one of its own.
func (t *trace) panicked(r any) {
	msg := "the model panicked"
	switch r := r.(type) {
	case error:
		msg += ": " + r.Error()
	case string:
		msg += ": " + r
	}
	for _, e := range t.errs {
		if !e.Note {
			e.Related = append(e.Related, diag.Related{Msg: msg + " afterwards"})
			return
		}
	}
	e := &diag.Error{Code: UserPanic, Msg: msg, Phase: "trace", Pos: panicPos()}
	if err, ok := r.(runtime.Error); ok && strings.HasSuffix(err.Error(), "nil pointer dereference") {
		t.nameNil(e)
	}
	t.report(e)
}

// finish records the output node.
func (t *trace) finish(results []reflect.Value) {
	b := outputs{t: t}
	s := b.results(results)
	if len(t.errs) > 0 && t.errs.Err() != nil {
		return
	}
	if len(b.nodes) == 0 {
		t.reportEntry(diag.New(BadResult, "the function returns no tensor").WithHint("return at least one tensor"))
		return
	}
	t.src.storeState(b.nodes)
	t.prog.cur.Output(s, b.nodes...)
}

// record is the default of Tracer.OnCall.
func (t *trace) record(call *tensor.Call) []*tensor.Tensor {
	if len(call.Op.Mutates) > 0 {
		t.report(&diag.Error{Code: alias.NoInverse, Op: call.Op.Name, Msg: "the operator writes an operand, which a graph cannot turn into a value",
			Hint: "let the operator return the new value, and write that with AssignInPlace"})
		return t.rec.Poison(call)
	}
	args := make([]*graph.Node, len(call.Args))
	method := call.Method && len(call.Args) > 0 && call.Args[0] != nil && t.rec.Eager.Has(call.Args[0])
	for i, a := range call.Args {
		if a == nil {
			continue
		}
		if args[i] = t.node(a, call.Op.Name); args[i] == nil {
			return t.rec.Poison(call)
		}
	}
	var n *graph.Node
	if method && !call.Op.AdHoc {
		n = t.prog.cur.Method(call.Op, call.Attrs, args...)
	} else {
		n = t.prog.cur.Function(call.Op, call.Attrs, args...)
	}
	t.prog.Recorded(n, call)
	if call.Op.AdHoc {
		return t.rec.Opaque(n, call)
	}
	return t.rec.Results(n, call, args)
}

// Mistake implements tensor.Capturer.
func (t *trace) Mistake(c *tensor.Call, e *diag.Error) ([]*tensor.Tensor, bool) {
	if !ownGoroutine() || t.use.ended.Load() {
		return nil, false // another goroutine uses the model meanwhile
	}
	if t.take() {
		t.report(e)
		t.leave()
	}
	return t.rec.Poison(c), true
}
