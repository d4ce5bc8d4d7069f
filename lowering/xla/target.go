package xla

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
	"github.com/gofx-dev/gofx/shape"
)

// Target compiles graphs by a PJRT plugin and runs them on its first device, or on many. Where
// sizes are symbols, a program is made for all of them up to Bounds, or for each of their values when
// they come, MaxSizes programs at a time.
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
	// TF32 lets products of f32 round their operands to fewer bits where the device is faster so: to tf32, with 10
	// bits of mantissa, on NVIDIA's cards from sm_80 on, to bf16 on TPUs. Sums stay f32.
	TF32 bool
	// Bounds are the most that sizes of symbols can be, for one program for all of them
	// (EmitBounded). Where the graph or the plugin does not take such a program, for larger sizes and
	// for 0, runs get programs for their sizes, too; Executable.Stats says how many did, and why.
	Bounds map[string]int
	// Layout says how the graph runs on many devices of this process, those of the client in
	// their order, one for each partition of the mesh (shard.Propagate, EmitSharded). Every input is
	// cut into its parts, of every weight a device has its own, and results are put together.
	// It goes without Bounds. What is wrong with it for all sizes Compile tells (shard.Check), what is for
	// the sizes of symbols a run of these.
	Layout *shard.Layout
}

// MaxSizes is the most values of a graph's symbols that an executable keeps programs for.
const MaxSizes = 16

// Name returns "xla".
func (Target) Name() string { return Name }

// Supports reports whether a call can be part of a program: see the function Supports.
func (Target) Supports(n *graph.Node) (bool, string) { return Supports(n) }

// Compile prepares the module, and where all sizes are known compiles it. Options.Exact,
// Options.Weights and Options.Products are refused (lowering.BadOption): XLA rounds as it does, and weights
// go to the device as they are. Results may be made in the memory of donated inputs on the
// device, and those of Options.Into are, without Layout and Bounds; arrays of the host stay as they are, except those
// of Into, to which results are copied.
func (t Target) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	if o.Exact || o.Weights != array.Invalid || o.Products != array.Invalid {
		return nil, diag.New(lowering.BadOption, "target "+Name+" gives neither the interpreter's bits nor rounds weights or operands").
			WithHint("leave Exact, Weights and Products out, or compile for another target")
	}
	if t.Layout != nil || len(t.Bounds) > 0 { // where parts and room of a result differ from those of an input
		if err := o.RefuseInto(Name + " with a layout or bounds"); err != nil {
			return nil, err
		}
	}
	ready, err := lowering.Prepare(m, o)
	if err != nil {
		return nil, err
	}
	if err := o.CheckIntoTypes(ready.Graph); err != nil {
		return nil, err
	}
	if err := lowering.Query(t, ready.Graph).Err(); err != nil {
		return nil, err
	}
	e := &Executable{module: ready, opts: o, tf32: t.TF32, bounds: t.Bounds, folder: lowering.UserFolder(Name, t.Cache),
		entry: lowering.NewEntry(ready.Graph), weights: map[string]*weight{}, sized: lowering.NewCache(MaxSizes, (*variant).drop)}
	if t.Layout != nil {
		// Its names are those of the caller's graph.
		e.layout, e.module = copied(t.Layout), m.WithGraph(m.Graph.Clone())
	} else {
		lowering.Lift(ready)
	}
	for n := range ready.Graph.All() {
		if n.Opcode() != graph.GetAttr {
			continue
		}
		w := e.weights[n.Target()]
		if w == nil {
			w = &weight{param: ready.Param(n.Target())}
			w.typ = w.param.TypeOf()
			e.weights[n.Target()] = w
		}
		if n.Live() { // so that it is for all that read it: main has one argument for it
			w.live, w.param = true, m.Param(n.Target())
		}
	}
	e.symbols = e.entry.Open()
	if err := e.bounded(m.Graph); err != nil {
		return nil, err
	}
	if e.layout != nil && len(e.symbols) > 0 { // else begin has the layout of all values found
		if err := shard.Check(e.module, o, *e.layout); err != nil {
			return nil, err
		}
	}
	if e.runtime, e.done, err = t.acquire(); err != nil {
		return nil, err
	}
	if err := e.begin(); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// Executable is a graph on a device, or on many.
type Executable struct {
	module  *graph.Module // prepared, except for a layout
	opts    lowering.Options
	tf32    bool
	bounds  map[string]int
	layout  *shard.Layout
	runtime *Runtime
	done    func() error
	folder  lowering.Folder
	devices []*pjrt.Device // of the partitions
	entry   *lowering.Entry
	symbols []graph.Symbol // of inputs, those without a size yet
	weights map[string]*weight
	sized   *lowering.Cache[*variant]
	counts  counts

	runs lowering.Runs
}

// begin compiles what has no symbols that are left open, and uploads its weights, so that Compile
// tells what is wrong with them.
func (e *Executable) begin() error {
	var err error
	if e.devices, err = e.runtime.partitions(e.layout); err != nil {
		return err
	}
	ctx := context.Background()
	var h *lowering.CacheEntry[*variant]
	switch len(e.symbols) {
	case 0:
		h, err = e.forSizes(ctx, nil)
	case len(e.bounds):
		h, err = e.upTo(ctx, make([]int, len(e.symbols)))
	default:
		return nil
	}
	if err != nil {
		return err
	}
	defer h.Release()
	v := h.Value
	if v.refused != nil {
		return nil
	}
	for i, a := range v.program.Weights {
		w := e.weights[a.Name]
		if w.live {
			continue // it may get its data later
		}
		u, err := w.use(ctx, e.runtime.client, v.args[len(v.program.Inputs)+i])
		if err != nil {
			return err
		}
		w.leave(u)
	}
	return nil
}

// Run computes the outputs. Errors of the device have the code pjrt.PluginFailed. Where
// ctx ends, the device may go on; its results are dropped.
func (e *Executable) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := e.runs.Begin(); err != nil {
		return nil, err
	}
	defer e.runs.End()
	if len(in) == len(e.entry.Inputs) { // else Check says so
		if err := e.entry.CheckUpdated(e.opts.Into, in); err != nil {
			return nil, err
		}
	}
	results, err := e.run(ctx, lowering.Hosts(in))
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		defer r.close()
	}
	out := make([]*array.Array, len(results))
	for i, r := range results {
		if out[i], err = r.Array(ctx); err != nil {
			return nil, err
		}
	}
	e.opts.Update(in, out)
	return out, nil
}

// run returns the results on the devices; it has been entered.
func (e *Executable) run(ctx context.Context, in []lowering.Value) ([]*resident, error) {
	if err := ctx.Err(); err != nil {
		return nil, diag.Stop(err)
	}
	values, err := e.entry.Check(in)
	if err != nil {
		return nil, err
	}
	sizes := make([]int, len(e.symbols))
	for i, s := range e.symbols {
		sizes[i], _ = e.entry.Size(s.Name, values)
	}
	h, err := e.forRun(ctx, sizes)
	if err != nil {
		return nil, e.told(err, values)
	}
	defer h.Release()
	v := h.Value
	for i, a := range v.program.Inputs {
		if want := e.entry.Inputs[i].Type.Type.Bind(e.binding(sizes)); !a.takes(values[i].Type()) || len(v.program.Sizes) > 0 && !want.Same(values[i].Type()) {
			return nil, e.misfit(values, nil)
		}
	}
	args, end, err := e.arguments(ctx, v, values, sizes)
	defer end()
	if err != nil {
		return nil, err
	}
	results, err := v.execute(ctx, e.runtime.client, args, e.donated(args))
	if err != nil {
		return nil, err
	}
	out := make([]*resident, len(results))
	for i, r := range results {
		out[i] = &resident{r, v.program.Outputs[i].Bind(e.binding(sizes))}
	}
	return out, nil
}

// arguments returns what main takes, on the devices; end gives back what is there for this run alone.
func (e *Executable) arguments(ctx context.Context, v *variant, values []lowering.Value, sizes []int) (args []*placed, end func(), err error) {
	var ends []func()
	end = func() {
		for _, f := range ends {
			f()
		}
	}
	of := func(value lowering.Value) error {
		p, ours, err := e.onDevice(ctx, value, v.args[len(args)])
		if err != nil {
			return err
		}
		if ours {
			ends = append(ends, func() { _ = p.close() }) // what that reports has no one to be told to
		}
		args = append(args, p)
		return nil
	}
	for _, value := range values {
		if err := of(value); err != nil {
			return nil, end, err
		}
	}
	for _, a := range v.program.Weights {
		w := e.weights[a.Name]
		u, err := w.use(ctx, e.runtime.client, v.args[len(args)])
		if err != nil {
			return nil, end, err
		}
		ends = append(ends, func() { w.leave(u) })
		args = append(args, u.placed)
	}
	for _, name := range v.program.Sizes {
		n, _ := e.binding(sizes)(name).Int()
		if err := of(lowering.Host(array.Scalar(int32(n)))); err != nil {
			return nil, end, err
		}
	}
	return args, end, nil
}

// binding gives symbols the sizes of a run.
func (e *Executable) binding(sizes []int) func(name string) shape.Dim {
	return func(name string) shape.Dim {
		for i, s := range e.symbols {
			if s.Name == name {
				return shape.Const(sizes[i])
			}
		}
		return shape.Sym(name)
	}
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

// misfit is the error of inputs of which each may be right, but not together with the others.
func (e *Executable) misfit(values []lowering.Value, why error) error {
	var is []string
	for i, v := range values {
		is = append(is, e.entry.Inputs[i].Input+" "+v.Type().String())
	}
	var wants []string
	for _, n := range e.entry.Inputs {
		wants = append(wants, n.Input+" "+n.Type.Type.String())
	}
	return &diag.Error{Code: interp.GuardFailed, Msg: "the inputs do not fit together: " + strings.Join(is, ", ") + ", expected " + strings.Join(wants, ", "), Err: why}
}

// Close frees the weights and programs on the device. It waits for runs that have begun.
func (e *Executable) Close() error {
	if !e.runs.Close() {
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(e.weights)) {
		e.weights[path].close()
	}
	e.sized.Close()
	return e.done()
}
