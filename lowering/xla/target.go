package xla

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
	"github.com/gofx-dev/gofx/shape"
)

// Target compiles graphs by a PJRT plugin and runs them on its first device. Where sizes
// are symbols, a program is made for each of their values when they come, MaxSizes of
// them at a time.
//
// Executables without a Runtime share one for the plugin, which ends with the last of
// them: keep a Runtime to keep compiled programs for longer.
type Target struct {
	// Plugin is a name or a path as for pjrt.Open: "" is GOFX_PJRT_PLUGIN, or the one
	// plugin that is found.
	Plugin string
	// Runtime, where it is given, is what runs; Plugin is not looked at.
	Runtime *Runtime
	// Cache is the folder of compiled programs; "" means gofx/xla in the user's cache folder,
	// "-" none. Plugins trust what lies in it.
	Cache string
}

// MaxSizes is the most values of a graph's symbols that an executable keeps programs for.
const MaxSizes = 16

// Name returns "xla".
func (Target) Name() string { return Name }

// Supports reports whether a call can be part of a program: see the function Supports.
func (Target) Supports(n *graph.Node) (bool, string) { return Supports(n) }

// Compile prepares the module, and where all sizes are known compiles it. Options.Exact
// and Options.Weights are refused (lowering.BadOption): XLA rounds as it does, and weights
// go to the device as they are. Results may be made in the memory of donated inputs on the
// device; arrays of the host stay as they are.
func (t Target) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	if o.Exact || o.Weights != array.Invalid {
		return nil, diag.New(lowering.BadOption, "target "+Name+" gives neither the interpreter's bits nor rounds weights").
			WithHint("leave Exact and Weights out, or compile for another target")
	}
	ready, err := lowering.Prepare(m, o)
	if err != nil {
		return nil, err
	}
	if err := lowering.Query(t, ready.Graph).Err(); err != nil {
		return nil, err
	}
	lowering.Lift(ready)
	run, done, err := t.acquire()
	if err != nil {
		return nil, err
	}
	e := &Executable{module: ready, opts: o, runtime: run, done: done, folder: lowering.UserFolder(Name, t.Cache),
		inputs: ready.Graph.Inputs(), weights: map[string]*weight{}, sized: lowering.NewCache(MaxSizes, (*variant).drop)}
	for n := range ready.Graph.All() {
		if n.Opcode() != graph.GetAttr || e.weights[n.Target()] != nil {
			continue
		}
		w := &weight{param: ready.Param(n.Target())}
		w.typ = w.param.TypeOf()
		if n.Live() {
			w.live, w.param = true, m.Param(n.Target())
		}
		e.weights[n.Target()] = w
	}
	for _, s := range ready.Graph.Symbols() {
		if d := s.Node.Type().Dim(s.Axis); s.Node.Opcode() == graph.Placeholder && d.Equal(shape.Sym(s.Name)) {
			e.symbols = append(e.symbols, s)
		}
	}
	if err := e.begin(); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// Executable is a graph on a device.
type Executable struct {
	module  *graph.Module // prepared
	opts    lowering.Options
	runtime *Runtime
	done    func() error
	folder  lowering.Folder
	inputs  []*graph.Node
	symbols []graph.Symbol // without a size yet
	weights map[string]*weight
	sized   *lowering.Cache[*variant]

	alive  sync.RWMutex // held by runs; Close waits for them
	closed bool
}

// variant is the program for some values of the symbols.
type variant struct {
	program *Program
	code    *lowering.Held[*pjrt.Executable]
}

func (v *variant) drop() { v.code.Release() }

func closed(what string) error {
	return diag.New(lowering.Closed, "the "+what+" is closed").WithHint("close it after its last run")
}

// begin compiles what has no symbols, and uploads its weights, so that Compile tells what
// is wrong with them.
func (e *Executable) begin() error {
	if len(e.symbols) > 0 {
		return nil
	}
	ctx := context.Background()
	h, err := e.forSizes(ctx, nil)
	if err != nil {
		return err
	}
	defer h.Release()
	for _, a := range h.Value.program.Weights {
		w := e.weights[a.Name]
		if w.live {
			continue // it may get its data later
		}
		u, err := w.use(ctx, e.runtime.client)
		if err != nil {
			return err
		}
		w.leave(u)
	}
	return nil
}

// forSizes returns the program for values of the symbols, for one more user.
func (e *Executable) forSizes(ctx context.Context, sizes []int) (*lowering.Held[*variant], error) {
	return e.sized.Hold(ctx, fmt.Sprint(sizes), func() (*variant, error) {
		o := lowering.Options{Shapes: map[string]int{}, Donate: e.opts.Donate}
		for i, s := range e.symbols {
			o.Shapes[s.Name] = sizes[i]
		}
		program, err := Emit(e.module, o)
		if err != nil {
			return nil, err
		}
		all := e.opts
		all.Shapes = o.Shapes
		code, err := e.runtime.compile(ctx, program.String(), all.Key(), e.folder)
		if err != nil {
			return nil, err
		}
		return &variant{program, code}, nil
	})
}

// Stats counts the programs for values of the symbols; Runtime.Stats counts what was compiled.
func (e *Executable) Stats() lowering.CacheStats { return e.sized.Stats() }

// Run computes the outputs. Errors of the device have the code pjrt.PluginFailed. Where
// ctx ends, the device may go on; its results are dropped.
func (e *Executable) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	values := make([]lowering.Value, len(in))
	for i, a := range in {
		values[i] = lowering.Host(a)
	}
	results, err := e.run(ctx, values)
	if err != nil {
		return nil, err
	}
	out := make([]*array.Array, len(results))
	for i, b := range results {
		defer b.Close()
		if out[i], err = b.Download(ctx); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// run returns the results on the device.
func (e *Executable) run(ctx context.Context, in []lowering.Value) ([]*pjrt.Buffer, error) {
	e.alive.RLock()
	defer e.alive.RUnlock()
	if e.closed {
		return nil, closed("executable")
	}
	if err := ctx.Err(); err != nil {
		return nil, diag.Stop(err)
	}
	values, sizes, err := e.check(in)
	if err != nil {
		return nil, err
	}
	h, err := e.forSizes(ctx, sizes)
	if err != nil {
		return nil, e.told(err, values)
	}
	defer h.Release()
	p := h.Value
	for i, a := range p.program.Inputs {
		if !a.Type().Same(values[i].Type()) {
			return nil, e.misfit(values, nil)
		}
	}
	args := make([]*pjrt.Buffer, 0, len(values)+len(p.program.Weights))
	for _, v := range values {
		b, ours, err := e.onDevice(ctx, v)
		if err != nil {
			return nil, err
		}
		if ours {
			defer b.Close()
		}
		args = append(args, b)
	}
	for _, a := range p.program.Weights {
		w := e.weights[a.Name]
		u, err := w.use(ctx, e.runtime.client)
		if err != nil {
			return nil, err
		}
		defer w.leave(u)
		args = append(args, u.buffer)
	}
	return p.code.Value.Execute(ctx, args, e.donated(args)...)
}

// check returns the inputs, or their defaults, and the sizes that the symbols have in them.
func (e *Executable) check(in []lowering.Value) (values []lowering.Value, sizes []int, err error) {
	if len(in) > len(e.inputs) {
		return nil, nil, diag.New(interp.ExtraInput, strconv.Itoa(len(in))+" inputs, the graph takes "+strconv.Itoa(len(e.inputs)))
	}
	of := map[*graph.Node]lowering.Value{}
	for i, n := range e.inputs {
		a, _ := n.Default().(*array.Array)
		v := lowering.Host(a)
		if i < len(in) && in[i] != nil {
			v = in[i]
		}
		if v == nil {
			return nil, nil, n.Error(interp.MissingInput, "input "+strconv.Quote(n.Target())+" is missing")
		}
		if err := interp.CheckInput(n, v.Type()); err != nil {
			return nil, nil, err
		}
		values, of[n] = append(values, v), v
	}
	for _, s := range e.symbols {
		size, _ := of[s.Node].Type().Dim(s.Axis).Int()
		sizes = append(sizes, size)
	}
	return values, sizes, nil
}

// told makes an error about inputs of one about pinned symbols, which a caller of Run
// never pinned.
func (e *Executable) told(err error, values []lowering.Value) error {
	var l diag.List
	l.Add(err)
	if len(l) == 0 || l[0].Code != lowering.BadOption {
		return err
	}
	return e.misfit(values, l[0])
}

// misfit is the error of inputs of which each may be right, but not beside the others.
func (e *Executable) misfit(values []lowering.Value, why error) error {
	var is []string
	for i, v := range values {
		is = append(is, e.inputs[i].Target()+" "+v.Type().String())
	}
	var wants []string
	for _, n := range e.inputs {
		wants = append(wants, n.Target()+" "+n.Type().String())
	}
	return &diag.Error{Code: interp.GuardFailed, Msg: "the inputs do not fit together: " + strings.Join(is, ", ") + ", expected " + strings.Join(wants, ", "), Err: why}
}

// Close frees the weights and programs on the device. It waits for runs that have begun.
func (e *Executable) Close() error {
	e.alive.Lock()
	defer e.alive.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	for _, path := range slices.Sorted(maps.Keys(e.weights)) {
		e.weights[path].close()
	}
	e.sized.Close()
	return e.done()
}
