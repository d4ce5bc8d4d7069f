package cpu

import (
	"slices"
	"strconv"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// bind checks the inputs, gives the symbols their values and points the headers
// of inputs and live weights at their arrays.
func (x *instance) bind(in []*array.Array) error {
	e, p := x.e, x.e.plan
	for i := range p.Inputs {
		a := e.input(in, i)
		if a == nil {
			return e.inputs.Missing(i)
		}
		t := &p.Buffers[p.Inputs[i]].Type
		if a.DType() != t.DType() || a.Rank() != t.Rank() {
			return e.refuse(i, a)
		}
	}
	for i := range p.Symbols {
		s := &p.Symbols[i]
		x.values[i] = e.input(in, s.Input).Dim(s.Axis)
	}
	for i := range p.Same {
		s := &p.Same[i]
		x.values[len(p.Symbols)+i] = e.input(in, s.Input).Dim(s.Axis)
	}
	if err := x.checkGuards(in); err != nil { // before sizes: it tells what needs them
		return err
	}
	for i := range p.Inputs {
		if err := x.checkSizes(i, e.input(in, i)); err != nil {
			return err
		}
	}
	if !x.sized || !slices.Equal(x.values, x.last) {
		if err := x.resize(); err != nil {
			return err
		}
	}
	for i, k := range p.Inputs {
		x.place(k, e.input(in, i), e.densify[i])
	}
	if err := x.bindLive(); err != nil {
		return err
	}
	x.take(in)
	return nil
}

// input returns input i, or its default.
func (e *Executable) input(in []*array.Array, i int) *array.Array {
	if i < len(in) && in[i] != nil {
		return in[i]
	}
	return e.plan.Defaults[i]
}

// refuse returns the error of an input of another type than the graph takes.
func (e *Executable) refuse(i int, a *array.Array) error {
	n := e.inputs[i]
	err := interp.CheckInput(n, shape.TypeOf(a))
	d, ok := err.(*diag.Error)
	if !ok {
		d = diag.New(interp.GuardFailed, "input "+strconv.Quote(n.Target())+" is "+describe(a)+", the graph was captured for "+n.Type().String())
		d.Node = n.Name()
	}
	return d.At(n.Pos())
}

func (x *instance) checkSizes(i int, a *array.Array) error {
	e := x.e
	dims := e.plan.Buffers[e.plan.Inputs[i]].Type.Dims()
	for k := range dims.Len() {
		want, err := dims.At(k).Eval(x.env)
		if err != nil {
			return err
		}
		if want == a.Dim(k) {
			continue
		}
		if _, fixed := dims.At(k).Int(); fixed {
			return e.refuse(i, a)
		}
		return e.inputs.Differs(i, k, want, shape.TypeOf(a))
	}
	return nil
}

func (x *instance) checkGuards(in []*array.Array) error {
	for i := range x.e.plan.Guards {
		g := &x.e.plan.Guards[i]
		if _, _, ok, err := g.Eval(x.env); ok || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		return x.e.broken(g, in)
	}
	return nil
}

// broken is the error of a guard that does not hold for the inputs.
func (e *Executable) broken(g *plan.Guard, in []*array.Array) error {
	c, err := g.Check(func(symbol string) (diag.SizeOf, bool) {
		for _, s := range slices.Concat(e.plan.Symbols, e.plan.Same) {
			if s.Name == symbol {
				return diag.SizeOf{Symbol: symbol, Input: e.inputs[s.Input].Target(), Axis: s.Axis, Value: e.input(in, s.Input).Dim(s.Axis)}, true
			}
		}
		return diag.SizeOf{}, false
	})
	if err != nil {
		return err
	}
	c.Op = g.Op
	d := e.inputs.Refusal(c, nil, func(i int) shape.Type { return shape.TypeOf(e.input(in, i)) })
	if d.Pos = g.Pos; g.Text != "" {
		d.Related = []diag.Related{{Msg: "required at " + g.Text}}
	}
	return d
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
		if j != i && overlaps(a, &x.hdr[k]) {
			return true
		}
	}
	return x.e.holds(a)
}

// bindLive reads the weights that may have been replaced since the last run.
func (x *instance) bindLive() error {
	for i := range x.e.weights {
		w := &x.e.weights[i]
		if w.live == nil || w.pack != nil {
			continue
		}
		if err := w.fits(w.live.Value); err != nil {
			return err
		}
		x.place(w.buffer, w.live.Value, true)
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

// overlaps reports whether two arrays may have elements in common.
func overlaps(a, b *array.Array) bool {
	if a.Len() == 0 || b.Len() == 0 {
		return false
	}
	alo, ahi := extent(a)
	blo, bhi := extent(b)
	return alo < bhi && blo < ahi
}

// extent returns the addresses of the first byte of an array and behind the last.
func extent(a *array.Array) (lo, hi uintptr) {
	first, last := a.Offset(), a.Offset()
	for i, n := range a.Shape() {
		if s := a.Strides()[i]; s < 0 {
			first += (n - 1) * s
		} else {
			last += (n - 1) * s
		}
	}
	base := uintptr(unsafe.Pointer(unsafe.SliceData(a.Storage().Bytes())))
	size := a.DType().Size()
	return base + uintptr(first*size), base + uintptr((last+1)*size)
}
