package cpu

import (
	"context"
	"slices"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/internal/turn"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// Executable runs a plan. It may be used by many goroutines at once: each run
// has an instance of its own, taken from a free list. Runs of a plan that writes
// state (Plan().Stateful) follow one another.
type Executable struct {
	plan    *plan.Plan
	entry   *guard.Entry // the checks of what a run is given
	outputs []int        // buffers, each once
	weights []weightRef
	densify []bool                // inputs that view steps lie over, which want no gaps
	taken   []int                 // values that lie in donated inputs
	into    []lowering.Into       // results that are made in inputs
	regions map[int][]*Executable // bodies of control-flow steps
	threads int
	limit   int64       // Options.MaxBytes
	special *specialist // nil where nothing is gained by knowing sizes
	settled int         // the first step after which a run is not stopped: see plan.Plan.Settled
	updates []bool      // carried values of the loop that this is the body of, which are made in the place of the operand

	mu       sync.Mutex
	free     []*instance
	running  int // runs that have begun and not ended
	closed   bool
	packings int       // how often weights were packed since the first time
	packing  turn.Lock // of who packs weights again
	state    turn.Lock // of who runs a plan that writes state
}

// newExecutable makes a plan ready to run. state has the arrays of the buffers that
// the plans around this one write.
func newExecutable(p *plan.Plan, from *source, inputs []*graph.Node, threads int, limit int64, state map[string]*array.Array) (*Executable, error) {
	e := &Executable{plan: p, entry: entryOf(p, inputs), threads: threads, limit: limit, outputs: p.Outputs,
		densify: make([]bool, len(inputs)), settled: p.Settled()}
	for k := range p.Buffers {
		if e.inDonated(k) {
			e.taken = append(e.taken, k)
		}
	}
	for i, k := range p.Outputs {
		if p.Buffers[k].Updated {
			e.into = append(e.into, lowering.Into{Result: i, Input: slices.Index(p.Inputs, k)})
		}
	}
	own, err := e.takeWeights(from, state)
	if err == nil {
		err = e.compileRegions(from, own)
	}
	if err != nil {
		e.letGo()
		return nil, err
	}
	return e, nil
}

// Plan returns the plan, which must not be changed.
func (e *Executable) Plan() *plan.Plan { return e.plan }

// most is the most bytes of a value, of all of them together, and of scratch memory.
func (e *Executable) most() int64 { return lowering.Options{MaxBytes: e.limit}.MostBytes() }

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
// interp (FX1020 to FX1022). ctx is asked before every step, where a plan writes state up to the first
// that does, or up to the last that may fail if that comes after it: all of the state is written or, in the
// first case, none. The same holds of inputs in which results are made: such an input must be given, without
// gaps, and share memory with no other input or weight (lowering.BadOutput).
func (e *Executable) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	if own := e.forSizes(in); own != nil {
		return own.Run(ctx, in)
	}
	x, err := e.acquire(ctx, in)
	if err != nil {
		return nil, err
	}
	out := x.newOutputs(in)
	if err := e.finish(ctx, x, out, nil); err != nil {
		return nil, err
	}
	return out, nil
}

// RunInto is Run into arrays that the caller has: contiguous, of the right types
// and shapes, and not overlapping an input or each other. It allocates nothing
// once it has run with these sizes. A result whose sizes follow from values
// (plan.Buffer.Late) makes its array one of these sizes: in the memory that the array
// has if it is large enough, else in new memory. The array of a result that is made in an input
// (lowering.Options.Into) is that of the input.
func (e *Executable) RunInto(ctx context.Context, out, in []*array.Array) error {
	if own := e.forSizes(in); own != nil {
		return own.RunInto(ctx, out, in)
	}
	return e.runInto(ctx, out, in, nil)
}

// runInto is RunInto for a plan that may be a body; late are the results of which the
// plan around does not know the sizes, nil for the plan of the whole graph.
func (e *Executable) runInto(ctx context.Context, out, in []*array.Array, late []bool) error {
	x, err := e.acquire(ctx, in)
	if err != nil {
		return err
	}
	if err := x.acceptOutputs(out, late); err != nil {
		e.release(x)
		return err
	}
	return e.finish(ctx, x, out, late)
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
func (e *Executable) finish(ctx context.Context, x *instance, out []*array.Array, late []bool) error {
	if ctx == nil {
		ctx = context.Background()
	}
	if e.plan.Stateful {
		if err := e.state.Lock(ctx); err != nil {
			e.release(x)
			return err
		}
		defer e.state.Unlock()
	}
	err := x.execute(ctx)
	if err == nil {
		err = x.giveLate(out, late)
	}
	e.release(x)
	return err
}

// acquire takes an idle instance, or makes one, and binds the inputs to it. Weights that were written or
// replaced are packed first.
func (e *Executable) acquire(ctx context.Context, in []*array.Array) (*instance, error) {
	if err := e.entry.Count(len(in)); err != nil {
		return nil, err
	}
	e.mu.Lock()
	if e.stale() && !e.closed {
		e.mu.Unlock()
		if err := e.repack(ctx); err != nil {
			return nil, err
		}
		e.mu.Lock()
	}
	if e.closed {
		e.mu.Unlock()
		return nil, diag.New(lowering.Closed, "the executable is closed, expected an open one").WithHint("compile the module again")
	}
	e.running++
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
			e.ended(nil)
			return nil, err
		}
	}
	if x.packings != packings {
		x.takeWeights()
	}
	x.watched(ctx)
	if err := x.bind(in); err != nil {
		e.release(x)
		return nil, err
	}
	return x, nil
}

// release gives an instance back, without the caller's arrays.
func (e *Executable) release(x *instance) {
	x.forget()
	e.ended(x)
}

// ended ends a run. x is its instance, nil where it got none.
func (e *Executable) ended(x *instance) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running--
	switch {
	case !e.closed && x != nil:
		e.free = append(e.free, x)
	case e.closed && e.running == 0:
		e.letGo()
	}
}

// Close implements lowering.Executable; it does not wait for runs in progress. Packed weights that no
// other open executable reads are let go, with the last of these runs.
func (e *Executable) Close() error {
	e.mu.Lock()
	if !e.closed && e.running == 0 {
		e.letGo()
	}
	e.closed, e.free = true, nil
	e.mu.Unlock()
	if s := e.special; s != nil {
		for _, p := range s.close() {
			p.Close()
		}
	}
	return nil
}

// PeakBytes returns the most bytes that a run holds besides inputs, outputs and
// weights, for values of the symbols: the arena and the largest scratch memory
// of one step on one thread, and the same of each body of control flow that these
// sizes allow. Inputs with gaps need a copy more. Sizes that follow from values are what
// symbols has for their names, else the most that they can be; it is an error where there
// is neither.
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
	env := plan.Values(symbols)
	for step, bodies := range e.regions {
		for _, b := range bodies {
			inner, unknown := e.plan.BodySymbols(step, b.plan, &x.sizes, env)
			for name, n := range symbols { // those that are found further inside
				if _, own := inner[name]; !own {
					inner[name] = n
				}
			}
			if len(unknown) > 0 {
				return 0, diag.New(lowering.BadOption, "size "+unknown[0]+" follows from values and has no bound, expected a size for it")
			}
			n, err := b.PeakBytes(inner)
			if err == nil {
				total += n + b.lateBytes(e.plan, step, inner)
			} else if e.plan.Steps[step].Control().Call() {
				return 0, err
			}
		}
	}
	return total, err
}

// lateBytes are those of the operands of step whose sizes follow from values, which e is
// given, for values of its symbols.
func (e *Executable) lateBytes(outer *plan.Plan, step int, symbols map[string]int) (total int64) {
	operands, _ := outer.Steps[step].Operands()
	var s plan.Sizes
	if e.plan.Size(&s, plan.Values(symbols)) != nil {
		return 0
	}
	for i, k := range e.plan.Inputs {
		if outer.Buffers[operands[i]].Late {
			total += int64(s.Bytes[k])
		}
	}
	return total
}
