package state

import (
	"reflect"
	"strconv"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"
)

// Refusal says why no record of a call can be made, and where the code is that makes it so.
type Refusal struct{ Why, Line string }

// object is a piece of memory that a walk has met.
type object struct {
	ptr  unsafe.Pointer
	typ  reflect.Type // of an element
	n    int          // elements whose words are read
	size uintptr      // bytes, with those of elements that are not read
	lay  *layout
	held bool // it is identified by its address
	box  bool // the value in an interface, which nobody writes
	reg  uint32
	path string
}

func (o *object) contains(p unsafe.Pointer) bool {
	return uintptr(p) >= uintptr(o.ptr) && uintptr(p) < uintptr(o.ptr)+o.size
}

// word is a word that a walk has read.
type word struct {
	of     *object
	cell   *cell
	off    uintptr // from the object
	before value
}

func (w *word) at() unsafe.Pointer { return unsafe.Add(w.of.ptr, w.off) }

// role is what a tensor is for.
type role struct{ param, frozen bool }

func roleOf(x *tensor.Tensor) role { return role{x.IsParam(), x.IsFrozen()} }

// seen is a tensor that a walk has met.
type seen struct {
	x       *tensor.Tensor
	reg     uint32
	path    string
	role    role
	frozen  bool
	array   *array.Array
	version uint64
	exposed uint64
}

// Image is what a walk has read of the memory that a call depends on.
type Image struct {
	s       *Schema
	in, out unsafe.Pointer
	objects []*object
	words   []word
	steps   []step
	texts   []string
	alive   []unsafe.Pointer // functions that are compared by address
	tensors []seen
	ids     map[any]int // of tensors
	maps    []*mapped
	thawed  map[string]bool
	numbers []int // of steps
	refused *Refusal
}

// The registers of a guard that are no objects of a walk.
const (
	inReg  = 0 // the arguments
	outReg = 1 // the results
)

// Walk reads what a call depends on. in and out are the structs of arguments and results; thawed are the
// paths of tensors whose data is read at each call, although they are the receiver's or a global's.
func (s *Schema) Walk(in, out unsafe.Pointer, thawed map[string]bool) (*Image, *Refusal) {
	m := &Image{s: s, in: in, out: out, ids: map[any]int{}, thawed: thawed}
	m.add(&object{ptr: in, n: 1, size: s.in.size, lay: s.in})
	m.add(&object{ptr: out, n: 1, size: s.out.size, lay: s.out})
	for i := range s.table.Globals {
		m.global(&s.table.Globals[i])
	}
	for i := 0; i < len(m.objects) && m.refused == nil; i++ {
		if i == outReg {
			m.results()
			continue
		}
		m.object(m.objects[i])
	}
	if m.refused == nil {
		m.memories()
	}
	return m, m.refused
}

func (m *Image) add(o *object) *object {
	o.reg = uint32(len(m.objects))
	m.objects = append(m.objects, o)
	return o
}

func (m *Image) refuse(why, line string) {
	if m.refused == nil {
		m.refused = &Refusal{why, line}
	}
}

func (m *Image) step(s step) { m.steps = append(m.steps, s) }

func (m *Image) global(g *Global) {
	p := reflect.ValueOf(g.Ptr)
	t := p.Type().Elem()
	lay := m.s.listed(t, &Elem{Access: g.Access, Line: g.Line}).numbered(t, m.s.numbers[[2]string{"", g.Name}])
	o := m.add(&object{ptr: p.UnsafePointer(), typ: t, n: 1, size: t.Size(), lay: lay, held: true, path: g.Name})
	m.step(step{op: opGlobal, dst: o.reg, p: o.ptr, path: o.path})
}

// results notes what the results are before the call: nothing.
func (m *Image) results() {
	o := m.objects[outReg]
	for i := range o.lay.cells {
		m.words = append(m.words, word{of: o, cell: &o.lay.cells[i], off: o.lay.cells[i].off})
	}
}

func (m *Image) object(o *object) {
	for i := range o.n {
		for j := range o.lay.cells {
			c := &o.lay.cells[j]
			path := o.path + c.name
			if o.reg == inReg {
				path = c.name
			} else if o.n > 1 {
				path = o.path + "[" + strconv.Itoa(i) + "]" + c.name
			}
			m.word(o, c, uintptr(i)*o.lay.size+c.off, path)
			if m.refused != nil {
				return
			}
		}
	}
}

// word reads a word, and adds what a guard compares of it.
func (m *Image) word(o *object, c *cell, off uintptr, path string) {
	at := unsafe.Add(o.ptr, off)
	v := load(c.kind, c.size, at)
	m.words = append(m.words, word{of: o, cell: c, off: off, before: v})
	s := step{base: o.reg, off: off, path: path, line: c.line}
	held := o.held && c.access&Store == 0
	switch c.kind {
	case bits:
		if c.access&Adds == 0 {
			s.op, s.want = opBits+opcode(sizeLog(c.size)), v.u
			if c.number != nil && !o.box {
				s.number = len(m.words)
				m.numbers = append(m.numbers, len(m.steps))
			}
			m.step(s)
		}
	case text:
		s.op, s.want = opText, uint64(len(m.texts))
		m.texts = append(m.texts, v.s)
		m.step(s)
	case pointer:
		if o.reg == inReg && off == 0 && m.s.table.Receiver {
			m.receiver(s, v.p, c.typ)
			return
		}
		m.follow(s, v.p, c.typ.Elem(), m.s.elems[nameOf(c.typ)], held)
	case handle:
		m.tensor(s, (*tensor.Tensor)(v.p), held)
	case slice:
		m.slice(s, c, v, held)
	case dynamic:
		m.dynamic(s, c, at, v, held)
	case mapping:
		m.mapping(s, c, v, held)
	case function:
		m.function(s, v.p)
	default:
		m.refuse("the value of "+path+", a "+nameOf(c.typ)+", cannot be compared", c.line)
	}
}

func sizeLog(size uintptr) int {
	switch size {
	case 1:
		return 0
	case 2:
		return 1
	case 4:
		return 2
	}
	return 3
}

// receiver follows the receiver of a method: records are kept by its identity.
func (m *Image) receiver(s step, p unsafe.Pointer, typ reflect.Type) {
	t := typ.Elem()
	if p == nil {
		s.op = opNil
		m.step(s)
		return
	}
	o := m.add(&object{ptr: p, typ: t, n: 1, size: t.Size(), lay: m.s.listed(t, m.s.elems[nameOf(typ)]), held: true, path: s.path})
	s.op, s.dst = opReceiver, o.reg
	m.step(s)
}

// follow follows a pointer to a value of type t.
func (m *Image) follow(s step, p unsafe.Pointer, t reflect.Type, e *Elem, held bool) {
	if p == nil {
		s.op = opNil
		m.step(s)
		return
	}
	m.reach(s, &object{ptr: p, typ: t, n: 1, size: t.Size(), lay: m.s.listed(t, e), held: held, path: s.path})
}

// reach adds the object that a word leads to, and how a guard finds it again: by its address, by
// where it lies from an object that it was met in before, or as one that is apart from all others.
func (m *Image) reach(s step, o *object) *object {
	for _, x := range m.objects[outReg+1:] {
		if x.ptr == o.ptr && x.typ == o.typ && x.n >= o.n && !x.box && x.lay.covers(o.lay) {
			s.op, s.dst, s.want = opAt, x.reg, 0
			m.step(s)
			return x
		}
	}
	x := m.overlapping(o)
	if x != nil && (uintptr(o.ptr) < uintptr(x.ptr) || uintptr(o.ptr)+o.size > uintptr(x.ptr)+x.size) {
		m.refuse(o.path+" and "+x.path+" lie in each other's memory", s.line)
	}
	m.add(o)
	switch {
	case x != nil:
		o.held = false
		s.op, s.dst, s.want, s.size = opInside, o.reg, uint64(uintptr(o.ptr)-uintptr(x.ptr)), uintptr(x.reg)
	case o.held:
		s.op, s.dst, s.want = opHeld, o.reg, uint64(uintptr(o.ptr))
	default:
		s.op, s.dst, s.size = opFresh, o.reg, o.size
	}
	m.step(s)
	return o
}

// overlapping returns an object that shares memory with one, nil for none. Objects that are known by
// their addresses need not be compared.
func (m *Image) overlapping(o *object) *object {
	from, to := uintptr(o.ptr), uintptr(o.ptr)+o.size
	for _, x := range m.objects {
		if !x.box && !(x.held && o.held) && from < uintptr(x.ptr)+x.size && uintptr(x.ptr) < to {
			return x
		}
	}
	return nil
}

func (m *Image) slice(s step, c *cell, v value, held bool) {
	if v.p == nil {
		s.op = opNil
		m.step(s)
		return
	}
	e := m.s.elems[nameOf(c.typ)]
	length := s
	length.op, length.off, length.want, length.path = opBits+3, s.off+8, uint64(v.n), "len("+s.path+")"
	m.step(length)
	length.off, length.want, length.path = s.off+16, uint64(v.c), "cap("+s.path+")"
	if e != nil && e.Access&Cap != 0 {
		m.step(length)
	} else {
		length.op = opCap // compared where the slice itself is a result or is stored
		m.step(length)
	}
	t := c.typ.Elem()
	size := uintptr(v.c) * t.Size()
	if size == 0 {
		s.op = opSome
		m.step(s)
		return
	}
	n := v.n
	if e != nil && e.Access&(Store|Cap) != 0 {
		n = v.c
	}
	m.reach(s, &object{ptr: v.p, typ: t, n: n, size: size, lay: m.s.listed(t, e), held: held, path: s.path})
}

// Data returns the tensors whose data is read at each call, Frozen the others.
func (m *Image) Data() []*tensor.Tensor { return m.list(false) }

// Frozen returns the tensors that may be constants of a graph.
func (m *Image) Frozen() []*tensor.Tensor { return m.list(true) }

// Tensors returns all tensors that the walk has met.
func (m *Image) Tensors() []*tensor.Tensor { return append(m.Data(), m.Frozen()...) }

func (m *Image) list(frozen bool) (all []*tensor.Tensor) {
	for i := range m.tensors {
		if m.tensors[i].frozen == frozen {
			all = append(all, m.tensors[i].x)
		}
	}
	return all
}
