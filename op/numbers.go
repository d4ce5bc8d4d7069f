package op

import (
	"reflect"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/shape"
)

// Numbers are the numbers of attributes that Op.Lift may take for operands, in the order of the fields. Those that
// are absent, and bools, are none, but have their place.
func (c *Codec) Numbers(attrs any) (list []Scalar) {
	if !c.Accepts(attrs) {
		return nil
	}
	v := reflect.ValueOf(attrs)
	for _, f := range c.fields {
		if !f.lifts() {
			continue
		}
		switch k := v.Field(f.index); f.kind {
		case kindFloat:
			list = append(list, Float(k.Float()))
		case kindInt:
			list = append(list, Int(k.Int()))
		case kindScalar:
			list = append(list, k.Interface().(Scalar))
		}
	}
	return list
}

// WithNumbers returns attributes with these numbers in place of those that Numbers lists. Each has the kind of
// the one that it replaces.
func (c *Codec) WithNumbers(attrs any, list []Scalar) any {
	v := reflect.New(c.typ).Elem()
	v.Set(reflect.ValueOf(attrs))
	for _, f := range c.fields {
		if !f.lifts() {
			continue
		}
		switch k := v.Field(f.index); f.kind {
		case kindFloat:
			k.SetFloat(list[0].Float64())
		case kindInt:
			k.SetInt(list[0].Int64())
		case kindScalar:
			k.Set(reflect.ValueOf(list[0]))
		}
		list = list[1:]
	}
	return v.Interface()
}

// Again returns Values for a call of the operator that differs from the lifted one in its numbers alone; t is the
// result type of both. ok is false where the operator refuses the numbers, or more follows from them than constants.
func (l Lifted) Again(o *Op, attrs any, in []shape.Type, t shape.Type) (values []*array.Array, ok bool) {
	if l.form == nil {
		return nil, false
	}
	if now, err := o.Type(nil, attrs, in); err != nil || !now.Same(t) {
		return nil, false
	}
	return l.form.values(o, attrs, in)
}
