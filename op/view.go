package op

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/shape"
)

// View lays the results of a call over the memory of the operand that they are
// views of, from the operands' headers alone: no element is read or written, and
// the storages need not hold any. ok is false where the layout needs a copy. The
// error is that of the type rule.
func (o *Op) View(attrs any, in []*array.Array) (out []*array.Array, ok bool, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case notView:
			out, ok, err = nil, false, nil
		case *diag.Error:
			out, ok, err = nil, false, r
		default:
			panic(r)
		}
	}()
	if o.ViewOf == 0 {
		return nil, false, nil
	}
	if attrs, err = o.codec.Given(attrs); err != nil {
		return nil, false, err
	}
	out = o.view(attrs, in)
	return out, true, nil
}

// notView ends View at a call that computes.
type notView struct{}

func (o *Op) view(attrs any, in []*array.Array) []*array.Array {
	types := shape.TypesOf(in...)
	typ, err := o.Type(nil, attrs, types)
	if err != nil {
		panic(located(err))
	}
	if o.decompose != nil {
		vals := make([]Value, len(in))
		for i, a := range in {
			if a != nil {
				vals[i] = arrays{[]*array.Array{a}, false}
			}
		}
		res, ok := o.decompose(viewBuilder{}, attrs, vals).(arrays)
		if !ok {
			panic(notView{})
		}
		return res.a
	}
	step, err := o.Step(attrs, types)
	if err != nil {
		panic(located(err))
	}
	outs, err := appendOutputs(nil, typ, true)
	if err != nil {
		panic(located(err))
	}
	if v, ok := step.(kernel.Viewer); !ok || !v.View(outs, in) {
		panic(notView{})
	}
	return outs
}

func located(err error) *diag.Error {
	var l diag.List
	l.Add(err)
	return l[0]
}

// viewBuilder runs decompositions on headers.
type viewBuilder struct{}

func (b viewBuilder) Call(o *Op, attrs any, in ...Value) Value {
	attrs, err := o.codec.Given(attrs)
	if err != nil {
		panic(err)
	}
	args := make([]*array.Array, len(in))
	for i, v := range in {
		if v != nil {
			args[i] = v.(arrays).a[0]
		}
	}
	_, tuple := o.NumResults(attrs)
	return arrays{o.view(attrs, args), tuple}
}

func (b viewBuilder) Item(tuple Value, i int) Value {
	return arrays{[]*array.Array{tuple.(arrays).a[i]}, false}
}
