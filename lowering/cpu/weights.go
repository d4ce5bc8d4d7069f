package cpu

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// weightRef is where a weight buffer gets its array from.
type weightRef struct {
	buffer int
	value  *array.Array // as the model has it, or had when it was last looked at
	live   *graph.Param // read at each run, nil for frozen ones
	pack   kernel.Packer
	packed *array.Array // what pack made of value
	since  uint64       // the moment before it did
}

// array returns what steps read.
func (w *weightRef) array() *array.Array {
	if w.pack != nil {
		return w.packed
	}
	return w.value
}

// stale reports whether the weight was replaced or written since it was packed.
func (w *weightRef) stale() bool {
	return w.pack != nil && (w.live != nil && w.live.Value != w.value || w.value.Storage().Version() > w.since)
}

// repack lays out anew what has changed, for all runs that begin from now on; e.mu
// is held. Packed arrays never change: runs in progress go on with theirs.
func (e *Executable) repack() error {
	for i := range e.weights {
		w := &e.weights[i]
		if !w.stale() {
			continue
		}
		if w.live != nil {
			if err := w.fits(w.live.Value); err != nil {
				return err
			}
			w.value = w.live.Value
		}
		e.lay(w)
		e.packings++
	}
	return nil
}

// lay packs a weight.
func (e *Executable) lay(w *weightRef) {
	w.since = array.Now()
	w.packed = kernel.Pack(&kernel.Workspace{Threads: e.threads}, w.pack, w.value)
}

// fits checks an array that a live tensor was replaced by.
func (w *weightRef) fits(a *array.Array) error {
	if a == nil || a.DType() != w.value.DType() || !equal(a.Shape(), w.value.Shape()) {
		return diag.New(interp.GuardFailed, "tensor "+w.live.Path+" is "+describe(a)+", the graph was compiled for "+describe(w.value)).
			WithHint("compile the module again")
	}
	return nil
}

// PackedBytes returns the bytes of weights that the executable has laid out for
// this processor, beside those of the model that it reads as they are.
func (e *Executable) PackedBytes() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := int64(0)
	for i := range e.weights {
		if a := e.weights[i].packed; a != nil {
			n += int64(len(a.Storage().Bytes()))
		}
	}
	for _, bodies := range e.regions {
		for _, b := range bodies {
			n += b.PackedBytes()
		}
	}
	return n
}

// weight returns the array of a weight buffer.
func weight(m *graph.Module, path string) (*array.Array, error) {
	p := m.Param(path)
	if p == nil || p.Value == nil {
		return nil, diag.New(interp.NoParam, "the module has no data for tensor "+path).WithHint("load the weights first")
	}
	return p.Value, nil
}

// takeWeights finds the arrays of the plan's weights, and packs those that are to be.
// state has the arrays of the buffers that the plans around this one write; own is
// that with those that this one writes.
func (e *Executable) takeWeights(m *graph.Module, state map[string]*array.Array) (own map[string]*array.Array, err error) {
	p := e.plan
	viewed, written := map[int]bool{}, map[int]bool{}
	for i := range p.Buffers {
		if p.Buffers[i].Kind == plan.View {
			viewed[p.Buffers[i].Of] = true
		}
	}
	for i := range p.Steps {
		for _, o := range p.Steps[i].Out {
			written[o] = true
		}
	}
	for i, k := range p.Inputs {
		e.densify[i] = viewed[k]
	}
	live := liveParams(m.Graph)
	own = map[string]*array.Array{}
	for path, a := range state {
		own[path] = a
	}
	var errs diag.List
	for _, k := range p.Weights() {
		path := p.Buffers[k].Path
		a, err := weight(m, path)
		if err != nil {
			errs.Add(err)
			continue
		}
		w := weightRef{buffer: k, value: a, pack: p.Buffers[k].Pack}
		if live[path] {
			w.live = m.Param(path)
		}
		switch {
		case w.pack != nil:
			e.lay(&w)
		case state[path] != nil:
			w.value, w.live = state[path], nil
		case written[k]:
			// The executable's own copy: the model's buffers stay as they are.
			w.value, w.live = array.New(a.DType(), a.Shape()...), nil
			array.Copy(w.value, a)
			own[path] = w.value
		case w.live == nil && viewed[k]:
			w.value = array.Contiguous(a)
		}
		e.weights = append(e.weights, w)
	}
	return own, errs.Err()
}
