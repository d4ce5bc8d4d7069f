package judge

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// captureWay is one way to capture a program.
type captureWay struct {
	name    string
	symbols bool // the inputs have symbolic sizes
	options func(p Entry) []fx.Option
	sizes   func(p Entry) []int
	fixed   bool // sizes other than the program's N may be refused at run time
	printed bool // code is generated from it
}

func others(p Entry) []int { return []int{p.N, p.N + 1, 1} }

func many(p Entry) []int { return []int{p.N, 1, 2, 5, 7} }

var captures = []captureWay{
	{name: "symbolic", symbols: true, options: typedInputs("N"), sizes: many, printed: true},
	{name: "fixed", options: func(p Entry) []fx.Option { return typedInputs(fmt.Sprint(p.N))(p) }, sizes: others, fixed: true, printed: true},
	{name: "guarded", symbols: true, options: func(p Entry) []fx.Option {
		return append(typedInputs("N")(p), fx.With(func(t *tracer.Tracer) {
			t.SizeOf = func(n *graph.Node, axis int) (int, bool) { return sizeFor(n, axis, p.N) }
		}))
	}, sizes: others, fixed: true},
	{name: "untyped", options: func(Entry) []fx.Option { return nil }, sizes: func(p Entry) []int { return []int{p.N, p.N + 1} }},
}

func typedInputs(n string) func(p Entry) []fx.Option {
	return func(p Entry) []fx.Option {
		var list []fx.Option
		for i, spec := range p.Inputs {
			list = append(list, fx.Input([]string{"x", "y"}[i], strings.ReplaceAll(spec, "N", n)))
		}
		return list
	}
}

// sizeFor gives a number for a size that is an expression of N alone.
func sizeFor(n *graph.Node, axis, size int) (int, bool) {
	d := n.Type().Dim(axis)
	for _, s := range d.Symbols() {
		if s != "N" {
			return 0, false
		}
	}
	v, err := d.Eval(func(string) (int, bool) { return size, true })
	return v, err == nil
}

func (c captureWay) applies(p Entry) bool {
	return !c.symbols || slices.ContainsFunc(p.Inputs, func(s string) bool { return strings.Contains(s, "N") })
}

// mayRefuse reports whether a graph captured so may refuse a size at run time.
func (c captureWay) mayRefuse(p Entry, n int) bool { return n != p.N || !c.fixed }

// traced is a captured instance.
type traced struct {
	inst   Instance
	before map[string]*tensor.Tensor // the state as the trace found it
	data   map[string]*array.Array   // its values
	gm     *fx.GraphModule
	err    error
}

// capture traces a fresh instance. It then restores the state.
func (c captureWay) capture(ctx context.Context, p Entry) (t *traced) {
	t = &traced{inst: p.New()}
	t.before = named(t.inst)
	t.data = map[string]*array.Array{}
	for name, x := range t.before {
		t.data[name] = copied(x.Array())
	}
	defer func() {
		if r := recover(); r != nil {
			t.err = fmt.Errorf("panic: %v", r)
		}
	}()
	t.gm, t.err = fx.Trace(ctx, t.inst.Target, c.options(p)...)
	for name, x := range t.before {
		array.Copy(x.Array(), t.data[name])
	}
	return t
}

// refusal judges an error of a trace: each must name a line of the program.
func refusal(p Entry, err error) (k Kind, code, detail string) {
	var list diag.List
	list.Add(err)
	var d *diag.Error
	if !errors.As(err, &d) {
		return Crash, "", err.Error()
	}
	for _, e := range list {
		if code == "" && !e.Note {
			code = string(e.Code)
		}
		if !e.Note && (filepath.Base(e.Pos.File) != p.File || e.Pos.Line == 0) {
			return NoLine, string(e.Code), e.Error()
		}
	}
	return Refused, code, err.Error()
}

// engine runs a captured program.
type engine struct {
	name string
	// prepare returns the function that runs the graph, and where it keeps a tensor
	// of the state (nil for the instance's own).
	prepare func(ctx context.Context, t *traced) (f func(in []*array.Array) ([]*array.Array, error), state func(path string) *array.Array, err error)
	// exclude lists the codes by which the engine documents that it does not do
	// something.
	exclude []diag.Code
}

var planCodes = []diag.Code{lowering.UnknownSize, lowering.SymbolUse}

// engines begins with the one that runs the graph as it was captured.
var engines []engine

func init() {
	engines = []engine{
		{name: "interp", prepare: func(ctx context.Context, t *traced) (func([]*array.Array) ([]*array.Array, error), func(string) *array.Array, error) {
			return interpret(ctx, t.gm), nil, nil
		}},
		{name: "text", prepare: func(ctx context.Context, t *traced) (func([]*array.Array) ([]*array.Array, error), func(string) *array.Array, error) {
			m, err := graph.Parse([]byte(t.gm.Module.String()), "program.fx")
			if err != nil {
				return nil, nil, err
			}
			for _, q := range t.gm.Params() {
				m.SetParam(*q)
			}
			return interpret(ctx, fx.NewGraphModule(m)), nil, nil
		}},
		{name: "plan", exclude: planCodes, prepare: planned},
		{name: "passes", prepare: func(ctx context.Context, t *traced) (func([]*array.Array) ([]*array.Array, error), func(string) *array.Array, error) {
			if err := optimise(ctx, t); err != nil {
				return nil, nil, err
			}
			return interpret(ctx, t.gm), nil, nil
		}},
		{name: "passes-plan", exclude: planCodes, prepare: func(ctx context.Context, t *traced) (func([]*array.Array) ([]*array.Array, error), func(string) *array.Array, error) {
			if err := optimise(ctx, t); err != nil {
				return nil, nil, err
			}
			return planned(ctx, t)
		}},
	}
}

func optimise(ctx context.Context, t *traced) error {
	_, err := t.gm.Apply(ctx, fx.Optimise(), passes.Options{})
	return err
}

func interpret(ctx context.Context, gm *fx.GraphModule) func([]*array.Array) ([]*array.Array, error) {
	return func(in []*array.Array) ([]*array.Array, error) { return gm.RunArrays(ctx, in) }
}

func planned(ctx context.Context, t *traced) (func([]*array.Array) ([]*array.Array, error), func(string) *array.Array, error) {
	e, err := cpu.Compile(t.gm.Module, lowering.Options{Threads: 1})
	if err != nil {
		return nil, nil, err
	}
	return func(in []*array.Array) ([]*array.Array, error) { return e.Run(ctx, in) }, e.State, nil
}

// compare runs a program, captured again, and compares it with the eager run.
func (e engine) compare(ctx context.Context, p Entry, c captureWay, n int, want *run) (k Kind, code, detail string) {
	t := c.capture(ctx, p)
	var f func([]*array.Array) ([]*array.Array, error)
	var state func(string) *array.Array
	_, err, crash := guarded(func([]*array.Array) (_ []*array.Array, err error) {
		f, state, err = e.prepare(ctx, t)
		return nil, err
	}, nil)
	if err != nil {
		return e.failure(err, crash, want, c.mayRefuse(p, n))
	}
	got := repeat(p, n, f, func() map[string]*array.Array { return t.state(state) })
	k, code, detail = e.verdict(got, want, c.mayRefuse(p, n))
	if k == Missed && e.name != engines[0].name && unused(ctx, p, c, n, want) {
		return Excluded, "unused", detail
	}
	return k, code, detail
}

// unused reports whether the mistake of a run is in calls that nothing uses. Those
// are removed with their mistakes: the interpreter of the captured graph must find
// them, and so must module style; other engines need not.
func unused(ctx context.Context, p Entry, c captureWay, n int, want *run) bool {
	k, _, _ := engines[0].compare(ctx, p, c, n, want)
	return k == Agree
}

// verdict compares two runs.
func (e engine) verdict(got, want *run, mayRefuse bool) (k Kind, code, detail string) {
	if d := got.differ(want, true); d != "" {
		return Different, "", d
	}
	switch {
	case got.failed != nil && len(got.calls) <= len(want.calls):
		return e.failure(got.failed, got.crash, &run{failed: failedAt(want, len(got.calls))}, mayRefuse)
	case want.failed != nil && len(got.calls) > len(want.calls):
		return Missed, "", fmt.Sprintf("call %d gives a value, eager panics: %v", len(want.calls), want.failed)
	}
	return Agree, "", ""
}

// failedAt returns how the eager call of a number ended.
func failedAt(want *run, k int) error {
	if k == len(want.calls) {
		return want.failed
	}
	return nil
}

// failure judges an error of an engine.
func (e engine) failure(err error, crash bool, want *run, mayRefuse bool) (Kind, string, string) {
	var d *diag.Error
	errors.As(err, &d)
	code := ""
	if d != nil {
		code = string(d.Code)
	}
	switch {
	case crash || d == nil:
		return Crash, code, err.Error()
	case want.failed != nil:
		return Agree, code, ""
	case d.Code == interp.GuardFailed && mayRefuse, slices.Contains(e.exclude, d.Code):
		return Excluded, code, err.Error()
	}
	return Loud, code, err.Error()
}

// state returns the arrays of the state: those of the instance that was traced,
// or the engine's own ones.
func (t *traced) state(own func(path string) *array.Array) map[string]*array.Array {
	all := map[string]*array.Array{}
	for name, x := range t.before {
		a := x.Array()
		// Writes of Go code to variables that no computation reads are not captured.
		if !strings.HasPrefix(name, "global ") || t.reads(a) {
			all[name] = a
		}
		if own == nil {
			continue
		}
		for _, q := range t.gm.Params() {
			if q.Path == name || q.Value != nil && q.Value.Storage() == a.Storage() && slices.Equal(q.Value.Shape(), a.Shape()) && q.Value.Offset() == a.Offset() {
				if b := own(q.Path); b != nil {
					all[name] = b
				}
			}
		}
	}
	return all
}

// reads reports whether the graph has a parameter over the memory of an array.
func (t *traced) reads(a *array.Array) bool {
	for _, q := range t.gm.Params() {
		if q.Value != nil && q.Value.Storage() == a.Storage() {
			return true
		}
	}
	return false
}
