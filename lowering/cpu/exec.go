package cpu

import (
	"context"
	"strconv"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// Executable runs a plan. It may be used by many goroutines at once: each run
// has an instance of its own, taken from a free list. Runs of a plan that writes
// state (Plan().Stateful) follow one another.
type Executable struct {
	plan    *plan.Plan
	inputs  []*graph.Node // placeholders, for messages
	outputs []int         // buffers, each once
	weights []weightRef
	densify []bool                // inputs that view steps lie over, which want no gaps
	taken   []int                 // values that lie in donated inputs
	regions map[int][]*Executable // bodies of control-flow steps
	threads int
	special *specialist // nil where nothing is gained by knowing sizes

	mu       sync.Mutex
	free     []*instance
	closed   bool
	packings int // how often weights were packed since the first time
	state    sync.Mutex
}

// newExecutable makes a plan ready to run. state has the arrays of the buffers that
// the plans around this one write.
func newExecutable(p *plan.Plan, from *source, inputs []*graph.Node, threads int, state map[string]*array.Array) (*Executable, error) {
	e := &Executable{plan: p, inputs: inputs, threads: threads, outputs: p.Outputs,
		densify: make([]bool, len(inputs))}
	for k := range p.Buffers {
		if e.inDonated(k) {
			e.taken = append(e.taken, k)
		}
	}
	own, err := e.takeWeights(from, state)
	if err != nil {
		return nil, err
	}
	if err := e.compileRegions(from, own); err != nil {
		return nil, err
	}
	return e, nil
}

// Plan returns the plan, which must not be changed.
func (e *Executable) Plan() *plan.Plan { return e.plan }

// Threads returns the most threads that a run uses.
func (e *Executable) Threads() int { return e.threads }

// State returns the executable's own copy of a buffer that the plan writes, nil
// for other paths. It must not be read while a run is in progress.
func (e *Executable) State(path string) *array.Array {
	if !e.plan.Written()[path] {
		return nil
	}
	for _, w := range e.weights {
		if e.plan.Buffers[w.buffer].Path == path {
			return w.value
		}
	}
	return nil
}

// Run implements lowering.Executable. It allocates the results and, once warm,
// nothing else. Inputs of any layout are accepted; missing ones, other element
// types, ranks or sizes, and broken guards are errors with the codes of package
// interp (FX1020 to FX1022). ctx is asked before every step.
func (e *Executable) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	if own := e.forSizes(in); own != nil {
		return own.Run(ctx, in)
	}
	x, err := e.acquire(in)
	if err != nil {
		return nil, err
	}
	out := make([]*array.Array, len(e.outputs))
	for i, k := range e.outputs {
		out[i] = array.New(e.plan.Buffers[k].Type.DType(), x.sizes.Shapes[k]...)
	}
	x.setOutputs(out)
	if err := e.finish(ctx, x); err != nil {
		return nil, err
	}
	return out, nil
}

// RunInto is Run into arrays that the caller has: contiguous, of the right types
// and shapes, and not overlapping an input or each other. It allocates nothing
// once it has run with these sizes.
func (e *Executable) RunInto(ctx context.Context, out, in []*array.Array) error {
	if own := e.forSizes(in); own != nil {
		return own.RunInto(ctx, out, in)
	}
	x, err := e.acquire(in)
	if err != nil {
		return err
	}
	if err := x.acceptOutputs(out); err != nil {
		e.release(x)
		return err
	}
	return e.finish(ctx, x)
}

// forSizes returns the executable of a plan for the sizes of these inputs, nil for
// this one.
func (e *Executable) forSizes(in []*array.Array) *Executable {
	if e.special == nil {
		return nil
	}
	return e.special.of(e, in)
}

// finish runs the steps of a prepared instance and gives it back.
func (e *Executable) finish(ctx context.Context, x *instance) error {
	if e.plan.Stateful {
		e.state.Lock()
		defer e.state.Unlock()
	}
	err := x.execute(ctx)
	e.release(x)
	return err
}

// acquire takes an idle instance, or makes one, and binds the inputs to it.
func (e *Executable) acquire(in []*array.Array) (*instance, error) {
	if len(in) > len(e.inputs) {
		return nil, diag.New(interp.ExtraInput, strconv.Itoa(len(in))+" inputs, the graph takes "+strconv.Itoa(len(e.inputs)))
	}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, diag.New(lowering.Closed, "the executable is closed, expected an open one").WithHint("compile the module again")
	}
	if err := e.repack(); err != nil {
		e.mu.Unlock()
		return nil, err
	}
	packings := e.packings
	var x *instance
	if last := len(e.free) - 1; last >= 0 {
		x = e.free[last]
		e.free[last] = nil
		e.free = e.free[:last]
	}
	e.mu.Unlock()
	if x == nil {
		var err error
		if x, err = newInstance(e); err != nil {
			return nil, err
		}
	}
	if x.packings != packings {
		x.takeWeights()
	}
	if err := x.bind(in); err != nil {
		e.release(x)
		return nil, err
	}
	return x, nil
}

// release gives an instance back, without the caller's arrays.
func (e *Executable) release(x *instance) {
	x.forget()
	e.mu.Lock()
	if !e.closed {
		e.free = append(e.free, x)
	}
	e.mu.Unlock()
}

// Close implements lowering.Executable; it does not wait for runs in progress.
func (e *Executable) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed, e.free = true, nil
	if s := e.special; s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.closed, s.plans, s.sizes = true, nil, nil
	}
	return nil
}

// PeakBytes returns the most bytes that a run holds besides inputs, outputs and
// weights, for values of the symbols: the arena and the largest scratch memory
// of one step on one thread, and the same of each body of control flow that these
// sizes allow. Inputs with gaps need a copy more.
func (e *Executable) PeakBytes(symbols map[string]int) (int64, error) {
	x, err := newInstance(e)
	if err != nil {
		return 0, err
	}
	for i, s := range e.plan.Symbols {
		v, ok := symbols[s.Name]
		if !ok {
			return 0, diag.New(lowering.BadOption, "symbol "+s.Name+" has no value, expected a size for each symbol")
		}
		x.values[i] = v
	}
	if err := x.size(); err != nil {
		return 0, err
	}
	scratch, err := x.layOut()
	total := int64(x.sizes.Arena) + int64(scratch)
	for step, bodies := range e.regions {
		for _, b := range bodies {
			if n, err := b.PeakBytes(x.symbolsOf(step, b.plan)); err == nil {
				total += n
			}
		}
	}
	return total, err
}

// symbolsOf returns what the operands of a control-flow step make the symbols of a
// body of it.
func (x *instance) symbolsOf(step int, body *plan.Plan) map[string]int {
	symbols := map[string]int{}
	operands, sliced := x.e.plan.Steps[step].Operands()
	for _, s := range body.Symbols {
		sizes := x.sizes.Shapes[operands[s.Input]]
		if sliced(s.Input) {
			sizes = sizes[1:]
		}
		symbols[s.Name] = sizes[s.Axis]
	}
	return symbols
}
