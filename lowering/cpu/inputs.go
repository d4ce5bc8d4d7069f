package cpu

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// bind checks the inputs, gives the symbols their values and points the headers
// of inputs and live weights at their arrays.
func (x *instance) bind(in []*array.Array) error {
	e, p := x.e, x.e.plan
	x.in = in
	defer func() { x.in = nil }()
	if err := e.entry.Check(x.given); err != nil {
		return err
	}
	for i := range e.entry.Symbols {
		s := &e.entry.Symbols[i]
		x.values[i] = e.input(in, s.Input).Dim(s.Axis)
	}
	if !x.sized || !slices.Equal(x.values, x.last) {
		if err := x.resize(); err != nil {
			return err
		}
	}
	for i, k := range p.Inputs {
		x.place(k, e.input(in, i), e.densify[i])
	}
	if err := x.bindWeights(); err != nil {
		return err
	}
	if err := x.update(in); err != nil {
		return err
	}
	x.take(in)
	return nil
}

// update refuses inputs in which results cannot be made.
func (x *instance) update(in []*array.Array) error {
	for _, p := range x.e.into {
		why := ""
		switch i := p.Input; {
		case i >= len(in) || in[i] == nil:
			why = "is not given"
		case !in[i].IsContiguous():
			why = "has gaps"
		case x.shared(i, in[i]):
			why = "shares memory with another input or a weight"
		default:
			in[i].Storage().Bump()
			continue
		}
		return diag.New(lowering.BadOutput, "the array of input "+strconv.Quote(x.e.plan.InputName(p.Input))+", in which result "+strconv.Itoa(p.Result)+" is made, "+why).
			WithHint("give an array of its own, without gaps")
	}
	return nil
}

// input returns input i, or its default.
func (e *Executable) input(in []*array.Array, i int) *array.Array {
	if i < len(in) && in[i] != nil {
		return in[i]
	}
	return e.plan.Defaults[i]
}

// entryOf is where a plan is entered: what it takes, by the nodes of its inputs.
func entryOf(p *plan.Plan, inputs []*graph.Node) *guard.Entry {
	e := &guard.Entry{Symbols: slices.Concat(p.Symbols, p.Same), Needs: p.Guards}
	for i, n := range inputs {
		e.Inputs = append(e.Inputs, guard.Input{Type: guard.Type{Input: n.Target(), Type: p.Buffers[p.Inputs[i]].Type}, Node: n.Name(), Pos: n.Pos()})
	}
	return e
}

// place points buffer k at an array; with dense one with gaps is copied, into
// memory that the instance keeps.
func (x *instance) place(k int, a *array.Array, dense bool) {
	h := &x.hdr[k]
	if !dense || a.IsContiguous() {
		h.SetLayout(a, a.Shape(), a.Strides(), a.Offset())
		return
	}
	x.copyInput(k, a)
}

// copyInput makes buffer k a copy of an array, in memory that the instance keeps.
func (x *instance) copyInput(k int, a *array.Array) {
	h := &x.hdr[k]
	if n := a.Len() * a.DType().Size(); x.dense[k] == nil || len(x.dense[k].Bytes()) < n {
		x.dense[k] = array.NewStorage(n)
	}
	h.Reset(a.DType(), a.Shape())
	h.SetStorage(x.dense[k], 0)
	x.dst[0], x.src[0] = h, a
	kernel.Copy{}.Run(&x.ws, x.dst[:], x.src[:])
	x.dst[0], x.src[0] = nil, nil
}

// inDonated reports whether a value lies in a donated input.
func (e *Executable) inDonated(k int) bool {
	b := &e.plan.Buffers[k]
	return b.Within && e.plan.Buffers[b.Of].Kind == plan.Input
}

// take lets values lie in the inputs that were donated for them: in copies of those that
// cannot be overwritten, since they have gaps, are defaults, or lie where another input
// or a weight does.
func (x *instance) take(in []*array.Array) {
	for _, k := range x.e.taken {
		i := slices.Index(x.e.plan.Inputs, x.e.plan.Buffers[k].Of)
		own, given := &x.hdr[x.e.plan.Buffers[k].Of], x.e.input(in, i)
		if own.Storage() == given.Storage() && (i >= len(in) || in[i] == nil || !given.IsContiguous() || x.shared(i, given)) {
			x.copyInput(x.e.plan.Buffers[k].Of, given)
		} else if own.Storage() == given.Storage() {
			given.Storage().Bump()
		}
		x.hdr[k].SetStorage(own.Storage(), own.Offset())
	}
}

// shared reports whether memory that is given for input i is that of another input, or
// of a weight of the model, here or in a body of control flow.
func (x *instance) shared(i int, a *array.Array) bool {
	for j, k := range x.e.plan.Inputs {
		if j != i && array.Overlap(a, &x.hdr[k]) {
			return true
		}
	}
	return x.e.holds(a)
}

// bindWeights reads the weights that may have been replaced since the last run, and those of
// which the run needs a copy: they may have been written.
func (x *instance) bindWeights() error {
	for i := range x.e.weights {
		w := &x.e.weights[i]
		switch {
		case w.pack != nil:
		case w.live != nil:
			if err := w.fits(w.live.Value); err != nil {
				return err
			}
			x.place(w.buffer, w.live.Value, true)
		case w.gaps:
			x.copyInput(w.buffer, w.value)
		}
	}
	return nil
}

func equal(a, b []int) bool { return slices.Equal(a, b) }

// describe returns the type of an array as text.
func describe(a *array.Array) string {
	if a == nil {
		return "absent"
	}
	return shape.TypeOf(a).String()
}
