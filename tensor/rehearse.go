package tensor

import (
	"reflect"
	"runtime"
	"sync/atomic"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// rehearsal is the engine of functions that are called for the types of their results
// alone: all calls that they make, on whatever tensors, are its own. It has no state; a
// call belongs to it because rehearse is among its callers.
type rehearsal struct{}

// rehearsals counts the rehearsals that run anywhere, so that nobody looks for one
// on the stack otherwise.
var rehearsals atomic.Int64

// maxRehearsals is how many functions may be rehearsed inside one another: one that
// calls itself in a branch would not end.
const maxRehearsals = 8

// giveUp is the panic that ends a rehearsal which needs a value.
type giveUp struct{}

// unrun returns the types that a function would return, which this run does not need
// otherwise; known is false when only values could tell, or when nobody asks.
func (f Flow) unrun(asked bool, fn func(in []*Tensor) []*Tensor, in []*Tensor) (types []shape.Type, known bool) {
	if !asked || f.Checked || fn == nil {
		return nil, false
	}
	proxies := make([]*Tensor, len(in))
	for i, x := range in {
		proxies[i] = NewProxy(rehearsal{}, x.Type())
	}
	out, known := tryRehearse(fn, proxies)
	if !known {
		return nil, false
	}
	return typesOf(out), true
}

// tryRehearse is rehearse; ok is false when the function panicked. A mistake in one that is not run
// is no mistake of this run.
func tryRehearse(fn func(in []*Tensor) []*Tensor, in []*Tensor) (out []*Tensor, ok bool) {
	rehearsals.Add(1)
	defer rehearsals.Add(-1)
	defer func() { ok = recover() == nil }()
	return rehearse(fn, in), true
}

// rehearse is looked for among the callers of a call.
//
//go:noinline
func rehearse(fn func(in []*Tensor) []*Tensor, in []*Tensor) []*Tensor { return keep(fn(in)) }

// keep keeps the call of fn from being rehearse's last act, whose frame would go.
//
//go:noinline
func keep(out []*Tensor) []*Tensor { return out }

var rehearseEntry = reflect.ValueOf(rehearse).Pointer()

// rehearsing returns how many rehearsals the caller is in.
func rehearsing() (depth int) {
	if rehearsals.Load() == 0 {
		return 0
	}
	const most = 1024 // bytes of rehearse's code, at least
	var pcs [64]uintptr
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		for _, pc := range pcs[:n] {
			if pc > rehearseEntry && pc-rehearseEntry < most && runtime.FuncForPC(pc-1).Entry() == rehearseEntry {
				depth++
			}
		}
		if n < len(pcs) {
			return depth
		}
	}
}

// needsValue ends the rehearsal that the caller is in. A value of a rehearsal that is
// used elsewhere is a mistake.
func needsValue(what string) {
	if rehearsing() > 0 {
		panic(giveUp{})
	}
	panic(unfit(what, "the tensor was made in a function of Cond or While that was not run").
		WithHint("return from the function every value that is needed outside"))
}

// Call implements Engine: it applies the operator's type rule.
func (rehearsal) Call(c *Call) []*Tensor {
	if rehearsing() == 0 {
		needsValue(c.Op.Name)
	}
	in := make([]shape.Type, len(c.Args))
	for i, a := range c.Args {
		if a != nil {
			in[i] = a.Type()
		}
	}
	t, err := c.Op.Type(&op.Infer{}, c.Attrs, in)
	if err != nil {
		panic(giveUp{})
	}
	n, tuple := c.Op.NumResults(c.Attrs)
	out := make([]*Tensor, n)
	for i := range out {
		of := t
		if tuple && t.Kind() == shape.Tuple {
			of = t.Member(i)
		} else if tuple {
			of = shape.Type{}
		}
		out[i] = NewProxy(rehearsal{}, of)
	}
	return out
}

// Gradient implements Engine.
func (rehearsal) Gradient(_ *Tensor, by []*Tensor, _ GradOptions) []*Tensor {
	if rehearsing() == 0 {
		needsValue("grad")
	}
	out := make([]*Tensor, len(by))
	for i, x := range by {
		out[i] = NewProxy(rehearsal{}, x.Type())
	}
	return out
}

// Type implements Engine.
func (rehearsal) Type(x *Tensor) shape.Type { return x.c.value().val.(shape.Type) }

// Observe implements Engine. The text of a tensor is its type.
func (rehearsal) Observe(_ *Tensor, what string) *array.Array {
	if what != "String" {
		needsValue(what)
	}
	return nil
}

// Assign implements Engine: nothing is written.
func (rehearsal) Assign(_, _ *Tensor, what string) {
	if rehearsing() == 0 {
		needsValue(what)
	}
}

// Leaf implements Capturer: a module runs through its operator.
func (rehearsal) Leaf(any, *Bound, []*Tensor) (out []*Tensor, ok bool) { return nil, false }

// Enter implements Capturer: a module's Forward runs.
func (rehearsal) Enter(any, []*Tensor) (out []*Tensor, leave func(), ok bool) {
	return nil, func() {}, false
}

// Lift implements Capturer: all tensors are the rehearsal's while it runs.
func (rehearsal) Lift(t *Tensor) *Tensor { return t }

// Mistake implements Capturer: a mistake ends the rehearsal as it would end the run.
func (rehearsal) Mistake(*Call, *diag.Error) (out []*Tensor, ok bool) { return nil, false }

// Cond implements Capturer.
func (r rehearsal) Cond(_ *Tensor, then, _ func([]*Tensor) []*Tensor, in []*Tensor) []*Tensor {
	r.enter("cond")
	return rehearse(then, in)
}

// While implements Capturer: the carried tensors keep their types.
func (r rehearsal) While(_ func([]*Tensor) *Tensor, _ func([]*Tensor) []*Tensor, in []*Tensor) []*Tensor {
	r.enter("while")
	return in
}

// Scan implements Capturer.
func (r rehearsal) Scan(body func(carry, slices []*Tensor) (next, out []*Tensor), carry, seqs []*Tensor) (last, stacked []*Tensor) {
	r.enter("scan")
	if len(seqs) == 0 {
		panic(giveUp{})
	}
	all := append([]*Tensor(nil), carry...)
	for _, s := range seqs {
		all = append(all, s.Select(0, 0))
	}
	rehearse(func(in []*Tensor) []*Tensor {
		_, out := body(in[:len(carry):len(carry)], in[len(carry):])
		for _, x := range out {
			t := x.Type()
			if !t.Ranked() {
				panic(giveUp{})
			}
			dims := append([]shape.Dim{seqs[0].Size(0).Dim()}, t.Dims().Slice()...)
			stacked = append(stacked, NewProxy(r, t.WithDims(shape.Of(dims...))))
		}
		return nil
	}, all)
	return carry, stacked
}

// enter gives up what is rehearsed inside of too many others.
func (rehearsal) enter(what string) {
	if depth := rehearsing(); depth == 0 || depth > maxRehearsals {
		needsValue(what)
	}
}
