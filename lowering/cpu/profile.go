package cpu

import (
	"context"
	"slices"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// StepTime is what one step of the plan took.
type StepTime struct {
	Step  *plan.Step
	Time  time.Duration // the median of the runs
	Flops int64         // floating-point operations, 0 where they are not known
	Bytes int64         // of operands and results, each once; 0 of views
}

// Profile runs the plan so many times, after a first run, and measures each step,
// with the threads that the executable has. Steps that only lay out views take no
// time. Samples that runtime/pprof takes meanwhile of the goroutine that calls
// Profile have the labels scope and op; those of other threads, which outlive the
// call, have none. Errors are those of Run.
func (e *Executable) Profile(ctx context.Context, in []*array.Array, runs int) ([]StepTime, error) {
	if own := e.forSizes(in); own != nil {
		return own.Profile(ctx, in, runs)
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
	times := make([][]time.Duration, len(x.steps))
	if e.plan.Stateful {
		e.state.Lock()
		defer e.state.Unlock()
	}
	defer func() {
		x.clock = nil
		e.release(x)
	}()
	// The first run starts the workers, which would keep the labels.
	for range 1 + max(runs, 1) {
		if err := x.execute(ctx); err != nil {
			return nil, err
		}
		x.clock = func(step int, took time.Duration) { times[step] = append(times[step], took) }
	}
	list := make([]StepTime, len(x.steps))
	for i := range list {
		t := times[i]
		slices.Sort(t)
		list[i] = StepTime{Step: &e.plan.Steps[i], Time: t[len(t)/2]}
		if !e.plan.Steps[i].View {
			list[i].Bytes = x.touched(i)
		}
		if n, err := e.plan.Steps[i].Flops.Eval(x.env); err == nil {
			list[i].Flops = int64(n)
		}
	}
	return list, nil
}

// touched returns the bytes of a step's operands and results.
func (x *instance) touched(step int) (n int64) {
	seen := map[*array.Array]bool{nil: true}
	for _, list := range [2][]*array.Array{x.steps[step].out, x.steps[step].in} {
		for _, a := range list {
			if !seen[a] {
				n += int64(a.Len() * a.DType().Size())
			}
			seen[a] = true
		}
	}
	return n
}
