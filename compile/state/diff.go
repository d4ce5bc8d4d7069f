package state

import (
	"reflect"
	"unsafe"

	"github.com/gofx-dev/gofx/tensor"
)

// place says where a pointer of a replay leads.
type place struct {
	to    destination
	index uint32 // of a register, a new object, a new tensor
	delta uintptr
	p     unsafe.Pointer // of toFixed
	box   reflect.Type   // of toFixed: what lies there, nil for nothing
}

type destination uint8

const (
	toNil    destination = iota
	toObject             // that the guard has met
	toNew                // object of the replay
	toTensor             // that the graph computes, or a copy of a constant
	toFixed              // memory that is the same for all calls
)

// write is a word that a replay writes.
type write struct {
	base  uint32 // a register, or the number of a new object
	off   uintptr
	kind  kind
	size  uintptr
	adds  bool // value.u is added
	value value
	lead  place
}

// fresh is a new object that each replay makes.
type fresh struct {
	typ   reflect.Type
	n     int           // elements, -1 for a single value
	proto reflect.Value // what it holds, without its pointers
	fix   []write
}

// entry is a change of a map.
type entry struct {
	reg   uint32
	as    *Map
	key   any
	value int // number of a new object that has the value, -1 where the key is removed
}

// Replay writes what a call would write.
type Replay struct {
	objects []fresh
	stores  []write
	entries []entry
	tensors int
	caps    bool // a slice is written
	s       *Schema
	made    []unsafe.Pointer // new objects of the call itself, until Prove
}

// diff compares memory.
type diff struct {
	m     *Image
	r     *Replay
	news  []*object
	found []*tensor.Tensor
	index map[any]int // of found, by identity
	wrote map[unsafe.Pointer]bool
	line  string
}

// Diff compares the memory now with that of the walk. It returns what a replay writes, and the tensors that it
// needs for it, in the order in which Apply takes them.
func (m *Image) Diff() (*Replay, []*tensor.Tensor, *Refusal) {
	d := &diff{m: m, r: &Replay{s: m.s}, index: map[any]int{}, wrote: map[unsafe.Pointer]bool{}}
	m.refused = nil
	for i := range m.words {
		w := &m.words[i]
		at := w.at()
		now := load(w.cell.kind, w.cell.size, at)
		if now == w.before || d.wrote[at] || w.of.box {
			continue
		}
		d.wrote[at], d.line = true, w.cell.line
		x := d.write(w.cell, at, now)
		x.base, x.off = w.of.reg, w.off
		if w.cell.access&Adds != 0 {
			x.adds, x.value.u = true, now.u-w.before.u
		}
		d.r.stores = append(d.r.stores, x)
	}
	for _, k := range m.maps {
		d.entries(k)
	}
	for i := range m.tensors {
		if t := &m.tensors[i]; roleOf(t.x) != t.role {
			m.refuse("the tensor "+t.path+" is made a parameter, or frozen", "")
		}
	}
	d.r.tensors = len(d.found)
	return d.r, d.found, m.refused
}

// write says how the present value of a word is made again.
func (d *diff) write(c *cell, at unsafe.Pointer, now value) write {
	x := write{kind: c.kind, size: c.size, value: now}
	switch c.kind {
	case pointer:
		x.lead = d.made(now.p, c.typ.Elem(), -1)
	case handle:
		x.lead = d.tensor((*tensor.Tensor)(now.p))
	case slice:
		x.lead = d.made(now.p, c.typ.Elem(), now.c)
		d.r.caps = d.r.caps || now.p != nil
	case dynamic:
		x.lead = d.dynamic(c, at, now)
	case mapping:
		x.lead = d.old(now.p, "a map that the function makes cannot be made again")
	case function, opaque:
		x.lead = d.old(now.p, "a "+nameOf(c.typ)+" is a result or is stored, which cannot be made again")
	}
	x.value.p = nil
	return x
}

// old says where memory of before the call is found, and refuses other memory.
func (d *diff) old(p unsafe.Pointer, why string) place {
	l, ok := d.known(p, 1)
	if !ok {
		d.m.refuse(why, d.line)
	}
	return l
}

// known says where memory is found that the walk has met, or that this diff has met.
func (d *diff) known(p unsafe.Pointer, size uintptr) (place, bool) {
	if p == nil {
		return place{}, true
	}
	for _, o := range d.m.objects[outReg+1:] {
		if o.contains(p) {
			return place{to: toObject, index: o.reg, delta: uintptr(p) - uintptr(o.ptr)}, true
		}
	}
	for i, o := range d.news {
		if o.contains(p) {
			if uintptr(p)+size > uintptr(o.ptr)+o.size {
				d.m.refuse("new values lie in each other's memory", d.line)
			}
			return place{to: toNew, index: uint32(i), delta: uintptr(p) - uintptr(o.ptr)}, true
		}
		if uintptr(p) < uintptr(o.ptr) && uintptr(p)+size > uintptr(o.ptr) {
			d.m.refuse("new values lie in each other's memory", d.line)
		}
	}
	return place{}, false
}

var nothing struct{}

// made is lead for an object that code may tell from others by its address.
func (d *diff) made(p unsafe.Pointer, t reflect.Type, n int) place {
	l := d.lead(p, t, n)
	if l.to == toNew && l.delta == 0 {
		d.r.made = append(d.r.made, p)
	}
	return l
}

// lead says where a pointer to a value, or to n elements, leads. It notes a new object where it is none of before
// the call.
func (d *diff) lead(p unsafe.Pointer, t reflect.Type, n int) place {
	size := t.Size() * uintptr(max(n, 1))
	if p != nil && (size == 0 || n == 0) {
		for _, o := range d.m.objects[outReg+1:] {
			if o.ptr == p {
				return place{to: toObject, index: o.reg}
			}
		}
		return place{to: toFixed, p: unsafe.Pointer(&nothing)}
	}
	if t == tensorType && n < 0 {
		return d.tensor((*tensor.Tensor)(p))
	}
	if l, ok := d.known(p, size); ok {
		return l
	}
	i := len(d.news)
	d.news = append(d.news, &object{ptr: p, typ: t, size: size})
	d.r.objects = append(d.r.objects, fresh{typ: t, n: n})
	d.object(i, p, t, n)
	return place{to: toNew, index: uint32(i)}
}

// object notes what a new object holds.
func (d *diff) object(i int, p unsafe.Pointer, t reflect.Type, n int) {
	lay := d.m.s.whole(t)
	var fix []write
	var proto reflect.Value
	if n < 0 {
		proto = reflect.New(t).Elem()
		proto.Set(reflect.NewAt(t, p).Elem())
		proto = proto.Addr()
	} else {
		proto = reflect.MakeSlice(reflect.SliceOf(t), n, n)
		reflect.Copy(proto, reflect.NewAt(reflect.ArrayOf(n, t), p).Elem())
	}
	base := proto.UnsafePointer()
	for k := range max(n, 1) {
		for j := range lay.cells {
			c := &lay.cells[j]
			off := uintptr(k)*lay.size + c.off
			at := unsafe.Add(p, off)
			now := load(c.kind, c.size, at)
			if c.kind == bits || c.kind == text || now == (value{}) {
				continue
			}
			x := d.write(c, at, now)
			x.off = off
			store(c.kind, c.size, unsafe.Add(base, off), value{}) // it keeps nothing of this call alive
			fix = append(fix, x)
		}
	}
	d.r.objects[i].proto, d.r.objects[i].fix = proto, fix
}

// tensor says where a tensor is found.
func (d *diff) tensor(x *tensor.Tensor) place {
	if l, ok := d.known(unsafe.Pointer(x), tensorType.Size()); ok {
		return l
	}
	if _, ok := d.m.ids[x.ID()]; ok {
		d.m.refuse("a copy of a tensor's handle is a result or is stored", d.line)
		return place{}
	}
	i, ok := d.index[x.ID()]
	if ok && d.found[i] != x {
		d.m.refuse("two handles of one tensor are results or are stored", d.line)
	}
	if !ok {
		i = len(d.found)
		d.index[x.ID()] = i
		d.found = append(d.found, x)
	}
	return place{to: toTensor, index: uint32(i)}
}

// dynamic says where an interface leads.
func (d *diff) dynamic(c *cell, at unsafe.Pointer, now value) place {
	if now.typ == nil {
		return place{}
	}
	t := reflect.NewAt(c.typ, at).Elem().Elem().Type()
	switch t.Kind() {
	case reflect.Pointer:
		return d.made(now.p, t.Elem(), -1)
	case reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return d.old(now.p, "a "+nameOf(t)+" is a result or is stored, which cannot be made again")
	}
	if !pointers(t) { // nobody writes it
		return place{to: toFixed, p: now.p, box: t}
	}
	if (t.Kind() == reflect.Struct || t.Kind() == reflect.Array) && t.Size() == unsafe.Sizeof(uintptr(0)) {
		d.m.refuse("a "+nameOf(t)+" is a result or is stored in an interface, which cannot be made again", d.line)
		return place{}
	}
	return d.lead(now.p, t, -1)
}

// entries compares the entries of a map.
func (d *diff) entries(k *mapped) {
	for _, key := range k.keys {
		if _, ok := k.as.lookup(k.at, key); !ok {
			d.r.entries = append(d.r.entries, entry{k.of.reg, k.as, key, -1})
		}
	}
	for _, key := range k.as.entries(k.at) {
		value, _ := k.as.lookup(k.at, key)
		t := k.of.typ.Elem()
		if old := k.before[key]; old != nil && d.m.s.whole(t).equal(old.ptr, value) {
			continue
		}
		i := len(d.news)
		d.news = append(d.news, &object{ptr: value, typ: t, size: t.Size()})
		d.r.objects = append(d.r.objects, fresh{typ: t, n: -1})
		d.object(i, value, t, -1)
		d.r.entries = append(d.r.entries, entry{k.of.reg, k.as, key, i})
	}
}

// equal reports whether two values have the same words.
func (l *layout) equal(a, b unsafe.Pointer) bool {
	for _, c := range l.cells {
		if load(c.kind, c.size, unsafe.Add(a, c.off)) != load(c.kind, c.size, unsafe.Add(b, c.off)) {
			return false
		}
	}
	return true
}

// Restore writes what the memory held at the walk.
func (m *Image) Restore() {
	for i := range m.words {
		if w := &m.words[i]; !w.of.box {
			if at := w.at(); load(w.cell.kind, w.cell.size, at) != w.before {
				store(w.cell.kind, w.cell.size, at, w.before)
			}
		}
	}
	for _, k := range m.maps {
		for _, key := range k.as.entries(k.at) {
			if k.before[key] == nil {
				k.as.remove(k.at, key)
			}
		}
		for key, o := range k.before {
			k.as.set(k.at, key, o.ptr)
		}
	}
}
