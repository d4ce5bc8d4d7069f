package state

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"
)

// dynamic follows an interface.
func (m *Image) dynamic(s step, c *cell, at unsafe.Pointer, v value, held bool) {
	if v.typ == nil {
		s.op = opNil
		m.step(s)
		return
	}
	typ := s
	typ.op, typ.want = opBits+3, uint64(uintptr(v.typ))
	typ.path = "type of " + s.path
	m.step(typ)
	t := reflect.NewAt(c.typ, at).Elem().Elem().Type()
	if !m.s.dynamic[nameOf(t)] && !(t.PkgPath() == "" && t.Name() != "") {
		m.refuse(s.path+" holds a "+nameOf(t)+", which the table lacks: run fxgen compile again where the type is known", c.line)
		return
	}
	if name := m.s.meets(t); name != "" {
		m.refuse(s.path+" holds a "+nameOf(t)+", and the table speaks of the type "+name+" within it, which it does not have: run fxgen compile again", c.line)
		return
	}
	s.off += unsafe.Sizeof(uintptr(0))
	switch t.Kind() {
	case reflect.Pointer:
		if t == handleType {
			m.tensor(s, (*tensor.Tensor)(v.p), held)
			return
		}
		m.follow(s, v.p, t.Elem(), m.s.elems[nameOf(t)], held)
	case reflect.Func:
		m.function(s, v.p)
	case reflect.Chan, reflect.Map, reflect.UnsafePointer:
		m.refuse(s.path+" holds a "+nameOf(t)+", which cannot be compared", c.line)
	default:
		if (t.Kind() == reflect.Struct || t.Kind() == reflect.Array) && t.Size() == unsafe.Sizeof(uintptr(0)) && pointers(t) {
			m.refuse(s.path+" holds a "+nameOf(t)+", which cannot be compared", c.line)
			return
		}
		m.box(s, v.p, t, held)
	}
}

// box reads all of the value that an interface holds, which nobody writes: it is passed on whole.
func (m *Image) box(s step, p unsafe.Pointer, t reflect.Type, held bool) {
	o := m.add(&object{ptr: p, typ: t, n: 1, size: t.Size(), lay: m.s.whole(t), held: held, box: true, path: s.path})
	s.op, s.dst = opBox, o.reg
	m.step(s)
}

// pointers reports whether values of a type lead anywhere.
func pointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if pointers(f.Type) {
				return true
			}
		}
		return false
	case reflect.Array:
		return t.Len() > 0 && pointers(t.Elem())
	}
	k, _ := kindOf(t)
	return k != bits && k != text
}

// function compares a func value by its identity, which the guard keeps alive.
func (m *Image) function(s step, p unsafe.Pointer) {
	if p == nil {
		s.op = opNil
		m.step(s)
		return
	}
	body, ok := bodyOf(p)
	if !ok || !m.s.bodies[body] {
		m.refuse(s.path+" is the function of "+body.Package+", "+body.File+":"+strconv.Itoa(body.Line)+", which the table lacks", s.line)
		return
	}
	m.alive = append(m.alive, p)
	s.op, s.want = opBits+3, uint64(uintptr(p))
	m.step(s)
}

// tensor follows a tensor: one that stays what it is may be a constant of graphs, the data of others is
// read at each call.
func (m *Image) tensor(s step, x *tensor.Tensor, held bool) {
	if x == nil {
		s.op = opNil
		m.step(s)
		return
	}
	a, eager := x.Value().(*array.Array)
	if !eager || x.Engine() != nil {
		m.refuse("the tensor "+s.path+" belongs to a session or a trace", s.line)
		return
	}
	before := len(m.objects)
	o := m.reach(s, &object{ptr: unsafe.Pointer(x), typ: tensorType, size: tensorType.Size(), lay: &layout{}, held: held, path: s.path})
	if int(o.reg) < before {
		return
	}
	own := step{base: o.reg, path: "identity of " + s.path, line: s.line}
	m.reach(own, &object{ptr: *(*unsafe.Pointer)(unsafe.Pointer(x)), typ: cellType, size: 1, lay: &layout{}, held: held, path: s.path})
	if _, known := m.ids[x.ID()]; known { // another handle of it
		return
	}
	st := a.Storage()
	t := seen{x: x, reg: o.reg, path: s.path, role: roleOf(x), array: a, version: st.Version(), exposed: st.Exposed()}
	t.frozen = o.held && !m.thawed[s.path] && t.exposed == 0 // whoever has the memory may write without a word
	m.ids[x.ID()] = len(m.tensors)
	check := step{op: opData, base: o.reg, want: uint64(len(m.tensors)), path: s.path, line: s.line}
	if t.frozen {
		check.op = opFrozen
	}
	m.tensors = append(m.tensors, t)
	m.step(check)
}

// cellType stands for what handles of one tensor share.
var cellType = reflect.TypeFor[byte]()

// memories refuses tensors whose memory others have in ways that no record tells apart.
func (m *Image) memories() {
	for i := range m.tensors {
		t := &m.tensors[i]
		st := t.array.Storage()
		if st.Exposed() > 0 && slices.ContainsFunc(m.objects, func(o *object) bool { return overlaps(st, o.ptr, o.size) }) {
			m.refuse("the tensor "+t.path+" lies in memory of a Go value that the function may use", "")
		}
		if len(m.s.table.InPlace) == 0 {
			continue
		}
		for j := range m.tensors[:i] {
			o := &m.tensors[j]
			if other := o.array.Storage(); !(t.frozen && o.frozen) && (st == other || st.Overlaps(other)) {
				m.refuse("the tensors "+o.path+" and "+t.path+" share memory, and the function writes tensors in place", m.s.table.InPlace[0].Line)
			}
		}
	}
}

// Apart reports whether all tensors may belong to a session: where the function may write to tensors, no two of them share memory.
// A walk refuses those of which one is no constant itself.
func (m *Image) Apart() bool {
	if len(m.s.table.InPlace) == 0 {
		return true
	}
	frozen := m.Frozen()
	for i, x := range frozen {
		a := x.Value().(*array.Array).Storage()
		for _, o := range frozen[:i] {
			if b := o.Value().(*array.Array).Storage(); a == b || a.Overlaps(b) {
				return false
			}
		}
	}
	return true
}

// overlaps reports whether a storage has bytes of a piece of memory.
func overlaps(st *array.Storage, p unsafe.Pointer, size uintptr) bool {
	b := st.Bytes()
	if len(b) == 0 || size == 0 {
		return false
	}
	from := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return from < uintptr(p)+size && uintptr(p) < from+uintptr(len(b))
}

// mapped is a map that a walk has read.
type mapped struct {
	of     *object
	as     *Map
	at     unsafe.Pointer // a variable that holds the map
	keys   []any          // of before, in the order of Map.entries
	before map[any]*object
}

// mapping follows a map with keys of basic types.
func (m *Image) mapping(s step, c *cell, v value, held bool) {
	if v.p == nil {
		s.op = opNil
		m.step(s)
		return
	}
	as, e := m.s.maps[c.typ], m.s.elems[nameOf(c.typ)]
	if as == nil || !isKey(c.typ.Key()) {
		m.refuse("the map "+s.path+" cannot be compared: the table has no "+nameOf(c.typ)+" of plain keys", c.line)
		return
	}
	before := len(m.objects)
	o := m.reach(s, &object{ptr: v.p, typ: c.typ, n: 1, size: 1, lay: &layout{}, held: held, path: s.path})
	if int(o.reg) < before || e == nil {
		return
	}
	holder := &v.p
	k := &mapped{of: o, as: as, at: unsafe.Pointer(holder), before: map[any]*object{}}
	m.maps = append(m.maps, k)
	m.step(step{op: opMapLen, base: o.reg, as: as, want: uint64(as.size(k.at)), path: "len(" + s.path + ")", line: s.line})
	if e.Access&(Load|Store) == 0 {
		return
	}
	lay := m.s.layout(c.typ.Elem(), e.Access&(Load|Store), e.Line)
	k.keys = as.entries(k.at)
	for _, key := range k.keys {
		value, _ := as.lookup(k.at, key)
		p := s.path + "[" + keyText(key) + "]"
		x := m.add(&object{ptr: value, typ: c.typ.Elem(), n: 1, size: c.typ.Elem().Size(), lay: lay, held: o.held && e.Access&Store == 0, box: true, path: p})
		k.before[key] = x
		m.step(step{op: opMapGet, base: o.reg, dst: x.reg, as: as, key: key, path: p, line: s.line})
	}
}

// isKey reports whether equal keys of a type have equal bits, so that no code can tell them apart.
func isKey(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if !isKey(f.Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return isKey(t.Elem())
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return false
	}
	return !pointers(t)
}

func keyText(key any) string {
	if s, ok := key.(string); ok {
		return strconv.Quote(s)
	}
	return fmt.Sprint(key)
}
