package state

import (
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/gofx-dev/gofx/diag"
)

// cell is a word of a type that code reads or writes.
type cell struct {
	kind   kind
	size   uintptr // of bits
	off    uintptr
	typ    reflect.Type
	access Access
	number *Number // nil for a word that more depends on than numbers of operators
	name   string  // below what it is a part of, for people: ".Steps", "[2]"
	line   string
}

// layout has the cells of a type.
type layout struct {
	cells []cell
	size  uintptr
}

// covers reports whether a layout has the words of another one of the same type.
func (l *layout) covers(o *layout) bool {
	return l == o || slices.EqualFunc(l.cells, o.cells, func(a, b cell) bool {
		return a.off == b.off && a.access&^Load == b.access&^Load && (a.number == nil || a.number == b.number)
	})
}

// Schema is a table with the types of a program.
type Schema struct {
	table   *Table
	in, out *layout
	inType  reflect.Type
	fields  map[string]map[string]*Field
	elems   map[string]*Elem
	dynamic map[string]bool
	bodies  map[Body]bool
	maps    map[reflect.Type]*Map
	numbers map[[2]string]*Number // by type and name
	hidden  map[string][]string   // names that a type in interfaces leads to

	mu      sync.Mutex
	layouts map[accessed]*layout
	met     map[reflect.Type]string // what meets has found
}

// NewSchema returns the schema of a table. in and out are the structs of arguments and results. It panics where the
// table speaks of types or fields that the program does not have.
func NewSchema(t *Table, in, out reflect.Type) *Schema {
	t = t.inTest(in.PkgPath())
	s := &Schema{table: t, inType: in, fields: map[string]map[string]*Field{}, elems: map[string]*Elem{}, dynamic: map[string]bool{}, bodies: map[Body]bool{},
		maps: map[reflect.Type]*Map{}, numbers: map[[2]string]*Number{}, hidden: map[string][]string{}, layouts: map[accessed]*layout{}, met: map[reflect.Type]string{}}
	for i := range t.Numbers {
		s.numbers[[2]string{t.Numbers[i].Type, t.Numbers[i].Name}] = &t.Numbers[i]
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if s.fields[f.Type] == nil {
			s.fields[f.Type] = map[string]*Field{}
		}
		s.fields[f.Type][f.Name] = f
	}
	for i := range t.Elems {
		s.elems[t.Elems[i].Type] = &t.Elems[i]
	}
	for _, d := range t.Dynamic {
		s.dynamic[d] = true
	}
	for _, b := range t.Bodies {
		s.bodies[b] = true
	}
	for i := range t.Maps {
		s.maps[t.Maps[i].typ] = &t.Maps[i]
	}
	for _, h := range t.Hidden {
		s.hidden[h.Dynamic] = h.Names
	}
	s.confirm(in, out)
	s.in, s.out = s.frame(in), s.frame(out)
	return s
}

// frame is the layout of a struct of arguments or results: all of its words are read, since a struct
// that is passed on takes along the fields that no code names.
func (s *Schema) frame(t reflect.Type) *layout {
	b := builder{s: s, l: &layout{size: t.Size()}}
	for f := range t.Fields() {
		b.add(f.Type, f.Offset, Load, f.Name, "")
		b.number(f.Type, "", f.Name)
	}
	return b.l
}

// listed returns what the table lists of a value that an element or global is, nil for none.
func (s *Schema) listed(t reflect.Type, elem *Elem) *layout {
	if elem == nil {
		elem = &Elem{}
	}
	l := s.layout(t, s.within(t, elem.Access&(Load|Store|Adds)), elem.Line)
	return l.numbered(t, s.numbers[[2]string{elem.Type, elementName}])
}

// numbered is the layout of a word that the table lists as a number; n is nil for one that it does not.
func (l *layout) numbered(t reflect.Type, n *Number) *layout {
	if n == nil || kinds[t.Kind()] == "" || len(l.cells) != 1 {
		return l
	}
	c := l.cells[0]
	c.number = n
	return &layout{cells: []cell{c}, size: l.size}
}

// within is the access to all parts of an element or global. Those that are structs are listed
// field by field, unless the table has no field of theirs.
func (s *Schema) within(t reflect.Type, a Access) Access {
	for t.Kind() == reflect.Array {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct && len(s.fields[nameOf(t)]) > 0 {
		return 0
	}
	return a
}

// whole returns all words of a type.
func (s *Schema) whole(t reflect.Type) *layout { return s.layout(t, Load, "") }

// accessed is a type and the access to all of it.
type accessed struct {
	typ reflect.Type
	Access
}

// layout returns what the table lists of a type, and all words of it where there is an access to all.
func (s *Schema) layout(t reflect.Type, a Access, line string) *layout {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := accessed{t, a}
	l := s.layouts[k]
	if l == nil {
		b := builder{s: s, l: &layout{size: t.Size()}}
		b.add(t, 0, a, "", line)
		l, s.layouts[k] = b.l, b.l
	}
	return l
}

// builder makes a layout.
type builder struct {
	s *Schema
	l *layout
}

// add adds the words of a value of a type. a is the access to all of it; where there is none, the
// words of structs and arrays that the table lists are added.
func (b *builder) add(t reflect.Type, off uintptr, a Access, name, line string) {
	switch {
	case t == tensorType: // its value is known to the package tensor alone
		b.l.cells = append(b.l.cells, cell{kind: opaque, off: off, typ: t, access: Load, name: name, line: line})
	case t.Kind() == reflect.Struct:
		b.fields(t, off, a, name, line)
	case t.Kind() == reflect.Array:
		whole := a
		if e := b.s.elems[nameOf(t)]; e != nil {
			in := b.s.within(t, e.Access&(Load|Store|Adds))
			if line = e.Line; a != 0 { // the numbers themselves are read
				in &^= Adds
			}
			a |= in
		}
		for i := range t.Len() {
			b.add(t.Elem(), off+uintptr(i)*t.Elem().Size(), a, name+"["+strconv.Itoa(i)+"]", line)
			if whole == 0 && a != 0 {
				b.number(t.Elem(), nameOf(t), elementName)
			}
		}
	case a != 0:
		b.word(t, off, a, name, line)
	}
}

func (b *builder) word(t reflect.Type, off uintptr, a Access, name, line string) {
	if t.Kind() == reflect.Complex128 {
		for i := range uintptr(2) {
			b.l.cells = append(b.l.cells, cell{kind: bits, size: 8, off: off + 8*i, typ: t, access: a &^ Adds, name: name, line: line})
		}
		return
	}
	k, size := kindOf(t)
	if k != bits || t.Kind() < reflect.Int || t.Kind() > reflect.Uint64 {
		a &^= Adds
	}
	b.l.cells = append(b.l.cells, cell{kind: k, size: size, off: off, typ: t, access: a, name: name, line: line})
}

func (b *builder) fields(t reflect.Type, off uintptr, all Access, name, line string) {
	listed := b.s.fields[nameOf(t)]
	for f := range t.Fields() {
		e := listed[f.Name]
		if f.Name == "_" {
			continue
		}
		a, at := all, line
		if e != nil {
			if a, at = all|e.Access, e.Line; all != 0 { // the number itself is read
				a &^= Adds
			}
		}
		b.add(f.Type, off+f.Offset, a, name+"."+f.Name, at)
		if all == 0 && a != 0 {
			b.number(f.Type, nameOf(t), f.Name)
		}
	}
}

// number marks the cell that was added last where it is a field or argument that the table lists as a number.
func (b *builder) number(t reflect.Type, typ, name string) {
	if n := b.s.numbers[[2]string{typ, name}]; n != nil && kinds[t.Kind()] != "" {
		b.l.cells[len(b.l.cells)-1].number = n
	}
}

func stale(msg string) *diag.Error {
	return (&diag.Error{Code: Stale, Op: "compile", Msg: msg, Hint: "run fxgen compile again"}).At(diag.Here())
}

// wrappable reports whether tensors may lie in memory of a type.
func wrappable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return wrappable(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Type.Kind() != reflect.Struct && f.Type.Kind() != reflect.Array {
				continue
			}
			if wrappable(f.Type) {
				return true
			}
		}
		return false
	}
	k, _ := kindOf(t)
	return k == bits
}
