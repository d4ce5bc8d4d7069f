package state

import (
	"cmp"
	"reflect"
	"strings"
	"unsafe"
)

// Cond compares a word with a constant. A condition on a field of a type holds where it does for some object that a walk has met.
type Cond struct {
	Type, Name string // a field of a struct type, or a global where Type is ""
	Arg        int    // the number of an argument, the receiver's being 1: then Name is the way from it, "Config.Debug", or ""
	Op         string // as in Go
	Value      any    // bool, int64, uint64, string, or nil
}

// Reached returns the first place of a list whose conditions hold, nil where there is none: no code that the call runs
// comes to one of them, since none of the words is stored by code that comes before.
func (m *Image) Reached(list []Place) *Refusal {
next:
	for _, p := range list {
		for i := range p.When {
			if !m.holds(&p.When[i]) {
				continue next
			}
		}
		return &Refusal{p.What + ": " + p.Why, p.Line}
	}
	return nil
}

func (m *Image) holds(c *Cond) bool {
	switch {
	case c.Arg > 0:
		v, ok := c.along(m.s.inType.Field(c.Arg-1), m.in)
		return ok && c.of(v)
	case c.Type == "":
		for i := range m.s.table.Globals {
			if g := &m.s.table.Globals[i]; g.Name == c.Name {
				return c.of(reflect.ValueOf(g.Ptr).Elem())
			}
		}
		panic(stale("the table has no variable " + c.Name))
	case m.within(c, m.s.inType, m.in):
		return true
	}
	for _, o := range m.objects[outReg+1:] {
		for i := range o.n {
			if m.within(c, o.typ, unsafe.Add(o.ptr, uintptr(i)*o.typ.Size())) {
				return true
			}
		}
	}
	return false
}

// along follows the way from an argument. It ends at a pointer that is nil, where code panics.
func (c *Cond) along(f reflect.StructField, in unsafe.Pointer) (v reflect.Value, ok bool) {
	v = reflect.NewAt(f.Type, unsafe.Add(in, f.Offset)).Elem()
	if c.Name == "" {
		return v, true
	}
	for name := range strings.SplitSeq(c.Name, ".") {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		at := fieldOf(v.Type(), name)
		v = reflect.NewAt(at.Type, unsafe.Add(v.Addr().UnsafePointer(), at.Offset)).Elem()
	}
	return v, true
}

// within reports whether a condition on a field holds for a value, or for a struct within it.
func (m *Image) within(c *Cond, t reflect.Type, at unsafe.Pointer) bool {
	switch t.Kind() {
	case reflect.Array:
		for i := range t.Len() {
			if m.within(c, t.Elem(), unsafe.Add(at, uintptr(i)*t.Elem().Size())) {
				return true
			}
		}
	case reflect.Struct:
		if nameOf(t) == c.Type {
			if f := fieldOf(t, c.Name); c.of(reflect.NewAt(f.Type, unsafe.Add(at, f.Offset)).Elem()) {
				return true
			}
		}
		for i := range t.NumField() {
			if f := t.Field(i); !flat(f.Type) && m.within(c, f.Type, unsafe.Add(at, f.Offset)) {
				return true
			}
		}
	}
	return false
}

func fieldOf(t reflect.Type, name string) reflect.StructField {
	f, ok := t.FieldByName(name)
	if !ok || len(f.Index) > 1 {
		panic(stale("the type " + nameOf(t) + " has no field " + name))
	}
	return f
}

// flat reports whether a type has no structs within it.
func flat(t reflect.Type) bool {
	for t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t.Kind() != reflect.Struct || t == tensorType
}

// of compares a value.
func (c *Cond) of(v reflect.Value) bool {
	order := 0
	switch want := c.Value.(type) {
	case nil:
		return v.IsNil() == (c.Op == "==")
	case bool:
		return (v.Bool() == want) == (c.Op == "==")
	case string:
		order = cmp.Compare(v.String(), want)
	case int64:
		order = cmp.Compare(v.Int(), want)
	case uint64:
		order = cmp.Compare(v.Uint(), want)
	}
	switch c.Op {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}
