package cpu

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/cost"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// StepTime is what one step of the plan took.
type StepTime struct {
	Step  *plan.Step
	Time  time.Duration // the median of the runs
	Flops int64         // floating-point operations, 0 where they are not known
	Bytes int64         // that it moves, as package cost counts them; 0 of views
	// Sharing is that of the run that took the median.
	Sharing Sharing
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
	times := make([][]StepTime, len(e.plan.Steps))
	m := &kernel.Meter{}
	symbols, err := e.observe(ctx, in, runs, watch{m, e.threads}, func(step int, took time.Duration) {
		times[step] = append(times[step], StepTime{Time: took, Sharing: sharingOf(m.Regions, took)})
		m.Regions = m.Regions[:0]
	})
	if err != nil {
		return nil, err
	}
	w, err := cost.Of(e.plan, symbols)
	if err != nil {
		return nil, err
	}
	list := make([]StepTime, len(times))
	for i, t := range times {
		slices.SortFunc(t, func(a, b StepTime) int { return cmp.Compare(a.Time, b.Time) })
		list[i] = t[len(t)/2]
		list[i].Step = &e.plan.Steps[i]
	}
	for i := range w.Steps {
		s := &w.Steps[i]
		list[s.At].Flops += s.Flops
		list[s.At].Bytes += s.Bytes()
	}
	return list, nil
}

// Cost counts what a run does for values of the symbols, and what it holds: scratch
// memory of kernels, and weights as they are laid out for this processor. The times of
// Profile are those of the same steps.
func (e *Executable) Cost(symbols map[string]int) (*cost.Work, error) {
	w, err := cost.Of(e.plan, symbols)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(symbols)
	if all == nil {
		all = map[string]int{}
	}
	for _, name := range w.Assumed {
		all[name] = 1
	}
	peak, err := e.PeakBytes(all)
	if err != nil {
		return nil, err
	}
	w.Memory.Scratch = peak - w.Memory.Arena
	held := map[*array.Storage]bool{}
	e.hold(held)
	w.Memory.Weights = 0
	for s := range held {
		w.Memory.Weights += int64(len(s.Bytes()))
	}
	for i := range w.Steps {
		s := &w.Steps[i]
		if st := &e.plan.Steps[s.At]; st.Control() == nil {
			s.Laid += e.grown(st)
		}
	}
	return w, nil
}

// grown is by how many bytes the packed weights of a step are larger than the model's.
func (e *Executable) grown(st *plan.Step) (n int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.weights {
		w := &e.weights[i]
		if had, known := w.typ.Bytes().Int(); known && w.form != nil && slices.Contains(st.In, w.buffer) {
			n += int64(len(w.value.Storage().Bytes()) - had)
		}
	}
	return n
}

// hold collects what the weights lie in that steps read.
func (e *Executable) hold(held map[*array.Storage]bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.weights {
		if s := e.weights[i].value.Storage(); s != nil {
			held[s] = true
		}
	}
	for _, bodies := range e.regions {
		for _, b := range bodies {
			b.hold(held)
		}
	}
}

// symbols are the values that an instance is sized for.
func (x *instance) symbols() map[string]int {
	m := map[string]int{}
	for i, s := range x.e.plan.Symbols {
		m[s.Name] = x.values[i]
	}
	return m
}
