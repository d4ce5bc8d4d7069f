package cpu

import (
	"context"
	"slices"
	"sync"
	"weak"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/internal/packs"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// weightRef is where a weight buffer gets its array from.
type weightRef struct {
	buffer int
	typ    shape.Type   // as the model has it
	value  *array.Array // that steps read: the model's own or what form has; without memory once form is let go
	live   *graph.Param // read at each run, nil for frozen ones
	gaps   bool         // view steps lie over it, so that each run has a copy without the gaps of value

	// What the model has is not kept where steps do not read it: who can still write it
	// has it.
	pack  kernel.Packer
	form  *packs.Packed // nil without pack, and of a closed executable
	from  weak.Pointer[array.Array]
	since uint64 // the moment before it was packed
}

// changed returns what the weight is to be packed of, if it was replaced or written since it was packed.
func (w *weightRef) changed() (a *array.Array, yes bool) {
	if w.pack == nil {
		return nil, false
	}
	a = w.from.Value()
	yes = a != nil && a.Storage().Version() > w.since
	if w.live != nil && w.live.Value != a {
		return w.live.Value, true
	}
	return a, yes
}

// stale reports whether a weight was replaced or written since it was packed, with mu.
func (e *Executable) stale() bool {
	for i := range e.weights {
		if _, yes := e.weights[i].changed(); yes {
			return true
		}
	}
	return false
}

// repack lays out again what has changed, for all runs that begin from now on: they wait for it, those that
// have begun do not. Packed arrays never change: runs in progress go on with theirs.
func (e *Executable) repack(ctx context.Context) error {
	if err := e.packing.Lock(ctx); err != nil {
		return err
	}
	defer e.packing.Unlock()
	e.mu.Lock()
	weights := slices.Clone(e.weights)
	e.mu.Unlock()
	var again []int
	for i := range weights {
		w := &weights[i]
		a, yes := w.changed()
		if !yes {
			continue // or who had the lock before has packed it
		}
		if w.live != nil {
			if err := w.fits(a); err != nil {
				for _, k := range again {
					weights[k].form.Release()
				}
				return err
			}
		}
		e.lay(w, a)
		again = append(again, i)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, i := range again { // all at once, and what runs read without mu stays
		w := &e.weights[i]
		if old := w.form; old != nil {
			old.Release()
			w.value, w.form, w.from, w.since = weights[i].value, weights[i].form, weights[i].from, weights[i].since
		} else { // closed meanwhile
			weights[i].form.Release()
		}
	}
	e.packings += len(again)
	return nil
}

// holds reports whether an array overlaps a weight: what steps read, or what the model
// has, of which that may be another form.
func (e *Executable) holds(a *array.Array) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.weights {
		w := &e.weights[i]
		own := [3]*array.Array{w.value, w.from.Value()}
		if w.live != nil {
			own[2] = w.live.Value
		}
		for _, b := range own {
			if b != nil && b.Storage() != nil && array.Overlap(a, b) {
				return true
			}
		}
	}
	for _, bodies := range e.regions {
		if slices.ContainsFunc(bodies, func(b *Executable) bool { return b.holds(a) }) {
			return true
		}
	}
	return false
}

// lay packs a weight.
func (e *Executable) lay(w *weightRef, a *array.Array) {
	w.from, w.since = weak.Make(a), array.Now()
	w.form = packs.Of(&kernel.Workspace{Threads: e.threads}, w.pack, a)
	w.value = w.form.Value()
}

// letGo ends the use of packed weights, here and in bodies, with mu, when no run needs them
// any more.
func (e *Executable) letGo() {
	for i := range e.weights {
		if w := &e.weights[i]; w.form != nil {
			w.form.Release()
			none := &array.Array{}
			none.Reset(w.value.DType(), w.value.Shape())
			w.form, w.value = nil, none
		}
	}
	for _, bodies := range e.regions {
		for _, b := range bodies {
			b.mu.Lock()
			b.letGo()
			b.mu.Unlock()
		}
	}
}

// fits checks an array that a live tensor was replaced by.
func (w *weightRef) fits(a *array.Array) error {
	if a == nil || !shape.TypeOf(a).Same(w.typ) {
		return diag.New(interp.GuardFailed, "tensor "+w.live.Path+" is "+describe(a)+", the graph was compiled for "+w.typ.String()).
			WithHint("compile the module again")
	}
	return nil
}

// source is where executables get the tensors of a model from.
type source struct {
	values map[string]*array.Array
	live   map[string]*graph.Param // those that are read at each run

	mu     sync.Mutex
	packed map[string]weightRef // by path and step
}

func newSource(m *graph.Module) *source {
	s := &source{values: map[string]*array.Array{}, live: map[string]*graph.Param{}, packed: map[string]weightRef{}}
	for _, p := range m.Params() {
		s.values[p.Path] = p.Value
	}
	for n := range m.All() {
		if n.Opcode() == graph.GetAttr && n.Live() {
			s.live[n.Target()] = m.Param(n.Target())
		}
	}
	return s
}

// dropValues forgets the arrays of a prepared module, whose placeholders executables
// keep for their messages.
func dropValues(ready *graph.Module) {
	for _, p := range ready.Params() {
		q := *p
		q.Type, q.Value = p.TypeOf(), nil
		ready.SetParam(q)
	}
}

// weight returns the array of a tensor.
func (s *source) weight(path string) (*array.Array, error) {
	if a := s.values[path]; a != nil {
		return a, nil
	}
	return nil, diag.New(interp.NoParam, "the module has no data for tensor "+path).WithHint("load the weights first")
}

// layFirst packs a weight for the first time, or takes what another plan of the model
// has packed.
func (e *Executable) layFirst(w *weightRef, a *array.Array, s *source) {
	key := e.plan.Buffers[w.buffer].Path + " " + plan.KernelName(w.pack)
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.packed[key]; ok && p.from.Value() == a {
		if _, old := p.changed(); !old {
			p.form.Retain()
			w.from, w.since, w.value, w.form = p.from, p.since, p.value, p.form
			return
		}
	}
	e.lay(w, a)
	s.packed[key] = *w
}

// letGo forgets what plans of the model have packed.
func (s *source) letGo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.packed)
}

// takeWeights finds the arrays of the plan's weights, and packs those that are to be.
// state has the arrays of the buffers that the plans around this one write, or bodies in
// them; own is that with those that this one writes, or bodies in it.
func (e *Executable) takeWeights(from *source, state map[string]*array.Array) (own map[string]*array.Array, err error) {
	p := e.plan
	viewed, written := map[int]bool{}, p.Written()
	for i := range p.Buffers {
		if p.Buffers[i].Kind == plan.View {
			viewed[p.Buffers[i].Of] = true
		}
	}
	for i, k := range p.Inputs {
		e.densify[i] = viewed[k]
	}
	own = map[string]*array.Array{}
	for path, a := range state {
		own[path] = a
	}
	var errs diag.List
	for _, k := range p.Weights() {
		path := p.Buffers[k].Path
		a, err := from.weight(path)
		if err != nil {
			errs.Add(err)
			continue
		}
		w := weightRef{buffer: k, typ: shape.TypeOf(a), value: a, from: weak.Make(a), pack: p.Buffers[k].Pack, live: from.live[path]}
		switch {
		case w.pack != nil:
			e.layFirst(&w, a, from)
		case state[path] != nil:
			w.value, w.live = state[path], nil
		case written[path]:
			// The executable's own copy: the model's buffers stay as they are.
			w.value, w.live = array.New(a.DType(), a.Shape()...), nil
			array.Copy(w.value, a)
			own[path] = w.value
		default:
			w.gaps = viewed[k] && !a.IsContiguous()
		}
		e.weights = append(e.weights, w)
	}
	return own, errs.Err()
}
