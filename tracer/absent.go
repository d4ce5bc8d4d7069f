package tracer

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tensor"
)

// This file finds the field that is nil where the model's code met nil: Go's own words
// for it tell neither the field nor its type.

// field is a field of the traced module that is nil.
type field struct {
	name string // "m.Blocks[0].Norm"
	last string // "Norm", "Blocks" of an element
	typ  reflect.Type
}

func (f field) String() string { return f.name + " (" + f.typ.String() + ")" }

// holder reports whether the field is of a type that models call: a tensor, a
// module or a function. A pointer to something else may well be nil.
func (f field) holder() bool {
	return f.typ.Kind() == reflect.Func || f.typ == tensorType || f.module()
}

func (f field) module() bool {
	_, ok := f.typ.MethodByName("Forward")
	return ok
}

// nils lists the fields of the traced module that are nil: those that the line names, or
// where it names none, all that models call.
func (t *trace) nils(pos diag.Pos) (named, others []field) {
	if t.root == nil {
		return nil, nil
	}
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(sourceLine(pos), func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		words[w] = true
	}
	tensor.Absent(t.root, func(at tensor.Item, typ reflect.Type) {
		last, _, _ := strings.Cut(at.Selector[strings.LastIndexByte(at.Selector, '.')+1:], "[")
		f := field{name: "m" + at.Selector, last: last, typ: typ}
		switch {
		case words[f.last]:
			named = append(named, f)
		case f.holder():
			others = append(others, f)
		}
	})
	return named, others
}

// sourceLine is the line of the source at a position, "" where it cannot be read.
func sourceLine(pos diag.Pos) string {
	text, err := os.ReadFile(pos.File)
	if err != nil {
		return ""
	}
	for l := range strings.Lines(string(text)) {
		if pos.Line--; pos.Line == 0 {
			return l
		}
	}
	return ""
}

// mostNils bounds the fields that a message lists.
const mostNils = 3

// nameNil says in the error of a nil pointer which fields of the module are nil: those
// that the line names, or else modules that a caller's line names, whose method it is.
func (t *trace) nameNil(e *diag.Error) {
	list, others := t.nils(e.Pos)
	for pos := range panicFrames() {
		if len(list) > 0 {
			break
		}
		named, _ := t.nils(pos)
		if list = slices.DeleteFunc(named, func(f field) bool { return !f.module() }); len(list) > 0 {
			e.Pos = pos
		}
	}
	if len(list) == 0 {
		list = others
	}
	switch {
	case len(list) == 0:
		return
	case len(list) == 1:
		e.Msg = "the model panicked: " + list[0].name + " is nil, expected a " + list[0].typ.String()
	default:
		e.Msg = "the model panicked: it uses a nil pointer, and " + listed(list) + " are nil"
	}
	e.Hint = t.assign()
}

func listed(list []field) string {
	var names []string
	for i, f := range list {
		if i == mostNils {
			names = append(names, "others")
			break
		}
		names = append(names, f.String())
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// assign says where fields get their values.
func (t *trace) assign() string {
	if t.p.Maker != "" {
		return "assign it where the module is made, by " + t.p.Maker
	}
	return "assign it where the " + reflect.TypeOf(t.root).String() + " is made"
}

// withNil adds to the error of a call without an operand which fields that its line
// names are nil.
func (t *trace) withNil(e *diag.Error) *diag.Error {
	named, _ := t.nils(e.Pos)
	if len(named) != 1 {
		return e
	}
	c := *e
	c.Msg += "; " + named[0].name + " is nil, expected a " + named[0].typ.String()
	c.Hint = t.assign()
	return &c
}
