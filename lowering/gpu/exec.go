package gpu

import (
	"context"
	"fmt"
	"maps"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

// MaxSizes is how many programs an executable keeps for the sizes that it has been run with; the
// one that was used longest ago is given up for another.
const MaxSizes = 8

// Executable runs a graph on a device. Runs may come from many goroutines; each has memory
// and a queue of its own. Kernels know their sizes: a graph with symbols is lowered once for
// each sizes that it is run with.
type Executable struct {
	target Target
	device *Device
	ready  *graph.Module // prepared
	user   *graph.Module // as it was given
	opts   lowering.Options
	entry  *lowering.Entry
	open   []graph.Symbol // of the inputs, those that no option pins

	donated []bool // by input
	sized   *lowering.Cache[*run.Compiled]

	runs lowering.Runs
}

// Stats describes an executable.
type Stats = run.Stats

// compile prepares the module, and lowers it where all sizes are known.
func (t Target) compile(m *graph.Module, o lowering.Options) (*Executable, error) {
	d, err := t.device()
	if err != nil {
		return nil, err
	}
	if o.Exact || o.Weights != array.Invalid || o.Products != array.Invalid {
		what := "the interpreter's bits"
		if !o.Exact {
			what = "weights rounded to " + o.Weights.String()
			if o.Weights == array.Invalid {
				what = "products of operands rounded to " + o.Products.String()
			}
		}
		return nil, diag.New(lowering.BadOption, "target gpu does not give "+what).WithHint("leave the option out, or compile for the cpu target")
	}
	ready, err := lowering.Prepare(m, o)
	if err != nil {
		return nil, err
	}
	if err := o.CheckIntoTypes(ready.Graph); err != nil {
		return nil, err
	}
	lowering.Lift(ready)
	e := &Executable{target: t, device: d, ready: ready, user: m, opts: o, entry: lowering.NewEntry(ready.Graph)}
	e.sized = lowering.NewCache(MaxSizes, (*run.Compiled).Close)
	e.donated = make([]bool, len(e.entry.Inputs))
	for _, i := range o.Given() {
		e.donated[i] = true
	}
	var late diag.List
	for _, s := range ready.Graph.Symbols() {
		if s.Node.Opcode() != graph.Placeholder {
			late = append(late, s.Node.Error(lowering.UnknownSize, "size "+s.Name+" is found when "+s.Node.String()+" runs, the target needs it before").
				WithHint("let another target run the call (lowering.Split)"))
		}
	}
	if len(late) > 0 {
		return nil, late
	}
	if e.open = e.entry.Open(); len(e.open) > 0 {
		return e, e.supported()
	}
	p, err := e.enter(context.Background(), nil)
	if err != nil {
		return nil, err
	}
	e.leave(p)
	return e, nil
}

// supported reports every call that cannot be lowered whatever the sizes are.
func (e *Executable) supported() error {
	return lowering.Query(e.target, e.ready.Graph).Err()
}

// Device returns the device that runs it.
func (e *Executable) Device() *Device { return e.device }

// Stats returns what the executable has become, for the sizes that were used last.
func (e *Executable) Stats() Stats {
	s := Stats{Sizes: e.sized.Stats()}
	if p, ok := e.sized.Newest(); ok && p != nil {
		p.Count(&s)
	}
	return s
}

// Run implements lowering.Executable. Inputs of any layout are accepted; missing ones, other
// element types, ranks or sizes, and broken guards are errors with the codes of package interp
// (FX1020 to FX1022). An error of code Lost ends the use of the device.
func (e *Executable) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	if len(in) == len(e.entry.Inputs) { // else Check says so
		if err := e.entry.CheckUpdated(e.opts.Into, in); err != nil {
			return nil, err
		}
	}
	var out []*array.Array
	err := e.run(ctx, lowering.Hosts(in), func(p *run.Compiled, given []lowering.Value) (err error) {
		out, err = p.Run(ctx, given)
		return err
	})
	if err != nil {
		return nil, err
	}
	e.opts.Update(in, out)
	return out, nil
}

// run has the program of the sizes compute for inputs, checked and completed.
func (e *Executable) run(ctx context.Context, in []lowering.Value, by func(p *run.Compiled, given []lowering.Value) error) error {
	given, err := e.entry.Check(in)
	if err != nil {
		return err
	}
	sizes := make([]int, len(e.open))
	for i, s := range e.open {
		sizes[i], _ = e.entry.Size(s.Name, given)
	}
	h, err := e.enter(ctx, sizes)
	if err != nil {
		return err
	}
	defer e.leave(h)
	if err := h.Value.Refuse(given); err != nil {
		return err
	}
	return by(h.Value, given)
}

// enter returns what runs for the sizes, lowered when it is new; leave follows.
func (e *Executable) enter(ctx context.Context, sizes []int) (*lowering.CacheEntry[*run.Compiled], error) {
	if err := e.runs.Begin(); err != nil {
		return nil, err
	}
	h, err := e.sized.Hold(ctx, fmt.Sprint(sizes), func() (*run.Compiled, error) { return e.lower(ctx, sizes) })
	if err != nil {
		e.runs.End()
	}
	return h, err
}

// lower makes the program for the sizes.
func (e *Executable) lower(ctx context.Context, sizes []int) (*run.Compiled, error) {
	ready, o := e.ready.WithGraph(e.ready.Graph.Clone()), e.opts
	if len(sizes) > 0 {
		o.Shapes = maps.Clone(o.Shapes)
		if o.Shapes == nil {
			o.Shapes = map[string]int{}
		}
		pins := lowering.Options{Shapes: map[string]int{}}
		for i, s := range e.open {
			pins.Shapes[s.Name], o.Shapes[s.Name] = sizes[i], sizes[i]
		}
		var err error
		if ready, err = lowering.Prepare(ready, pins); err != nil {
			return nil, err
		}
	}
	return run.NewCompiled(ctx, ready, e.user, e.device, e.target.settings(o))
}

func (e *Executable) leave(h *lowering.CacheEntry[*run.Compiled]) {
	h.Release()
	e.runs.End()
}

// Close waits for runs in progress and gives the memory of the device back; the device stays
// open. Closing again does nothing.
func (e *Executable) Close() error {
	if e.runs.Close() {
		e.sized.Close()
	}
	return nil
}
