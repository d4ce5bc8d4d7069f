package state

import (
	"reflect"
	"slices"
)

// An entry of a table whose name no type has at run time would leave words without guards, and without a word. So
// each name of Fields and Elems is looked for among the types that arguments, results, globals and Types lead to. What only
// interfaces lead to is looked for when a walk meets it: no record is made before that.

// Hidden are the names in a table that generated code has no type for: those of unexported types of other packages that
// lie in values of Dynamic, a type that interfaces may hold. Dynamic is empty for those that no value leads to.
type Hidden struct {
	Dynamic string
	Names   []string
}

// confirm panics where the table speaks of types or fields that the program does not have.
func (s *Schema) confirm(in, out reflect.Type) {
	t := s.table
	if len(t.Opaque)+len(t.Observes) > 0 { // no call has a record
		return
	}
	n := s.looks(s.names())
	n.visit(in)
	n.visit(out)
	for _, g := range t.Globals {
		v := reflect.TypeOf(g.Ptr).Elem()
		if g.Type != "" && g.Type != nameOf(v) {
			panic(stale("the variable " + g.Name + " is a " + nameOf(v) + ", in the table a " + g.Type))
		}
		n.visit(v)
	}
	for _, m := range t.Maps {
		n.visit(m.typ)
	}
	for _, x := range t.Types {
		n.visit(x)
	}
	for _, h := range t.Hidden {
		for _, name := range h.Names {
			delete(n.wanted, name)
		}
	}
	if name := n.first(); name != "" {
		panic(stale("the table speaks of the type " + name + ", which the program does not have"))
	}
}

// names are those of the types of Fields and Elems.
func (s *Schema) names() (list []string) {
	for name := range s.fields {
		list = append(list, name)
	}
	for name := range s.elems {
		list = append(list, name)
	}
	return list
}

// meets looks for the hidden names that a value in an interface leads to. It returns one that is not there, "" for
// none.
func (s *Schema) meets(t reflect.Type) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, known := s.met[t]
	if !known {
		n := s.looks(s.hidden[nameOf(t)])
		n.visit(t)
		name = n.first()
		s.met[t] = name
	}
	return name
}

// look is a search for names among the types that others lead to.
type look struct {
	s      *Schema
	wanted map[string]bool
	seen   map[reflect.Type]bool
}

func (s *Schema) looks(names []string) *look {
	n := &look{s: s, wanted: map[string]bool{}, seen: map[reflect.Type]bool{}}
	for _, name := range names {
		n.wanted[name] = true
	}
	return n
}

// first returns a name that was not found, "" for none.
func (n *look) first() string {
	var list []string
	for name := range n.wanted {
		list = append(list, name)
	}
	if len(list) == 0 {
		return ""
	}
	return slices.Min(list)
}

// visit looks at a type, and at those of its parts.
func (n *look) visit(t reflect.Type) {
	if len(n.wanted) == 0 || n.seen[t] {
		return
	}
	n.seen[t] = true
	name := nameOf(t)
	if n.wanted[name] {
		delete(n.wanted, name)
		n.s.fits(t, n.s.fields[name])
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		n.visit(t.Elem())
	case reflect.Map:
		n.visit(t.Key())
		n.visit(t.Elem())
	case reflect.Struct:
		if t == tensorType {
			return
		}
		for f := range t.Fields() {
			n.visit(f.Type)
		}
	}
}

// fits panics where a struct type has not the fields that the table lists.
func (s *Schema) fits(t reflect.Type, listed map[string]*Field) {
	if len(listed) > 0 && t.Kind() != reflect.Struct {
		panic(stale("the type " + nameOf(t) + " is no struct, in the table it is one"))
	}
	for name, e := range listed {
		if name == "_" { // which nobody reads, and of which there may be several
			continue
		}
		f, ok := t.FieldByName(name)
		if !ok || len(f.Index) > 1 {
			panic(stale("the type " + e.Type + " has no field " + name))
		}
		if e.FieldType != "" && e.FieldType != nameOf(f.Type) {
			panic(stale("the field " + e.Type + "." + name + " is a " + nameOf(f.Type) + ", in the table a " + e.FieldType))
		}
	}
}
