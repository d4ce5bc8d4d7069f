package tensor

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/gofx-dev/gofx/internal/peek"
)

// Item is one thing that Walk finds: a tensor or a sub-module.
type Item struct {
	Path     string // PyTorch's name: "layer1.0.conv1.weight"; "" for the root module
	Selector string // Go expression below the root: ".Layer1[0].Conv1.Weight"
	Tensor   *Tensor
	Module   any  // pointer to the module; nil for tensors
	Buffer   bool // not trained
}

// Key identifies a module: its type and address, because a first field shares
// its parent's address and zero-size values share one.
type Key struct {
	typ  reflect.Type
	addr uintptr
}

// ModuleKey returns the identity of a module given by pointer.
func ModuleKey(m any) Key {
	v := reflect.ValueOf(m)
	if v.Kind() != reflect.Pointer {
		return Key{typ: v.Type()}
	}
	return Key{v.Type(), v.Pointer()}
}

// Walk visits the tensors and sub-modules of a module in declaration order, each
// module before its contents: the one walk that state dicts, tracing and
// training mode share. A field is named in lower_snake; the tag `fx:"name"`
// overrides it, `fx:"-"` skips the field, `fx:",buffer"` marks a tensor that is
// not trained. Fields of pointer, struct, slice, array, map and interface types
// are followed; embedded structs and fields tagged `fx:"."` add no name of their
// own. Shared modules are visited under each of their paths; cycles end. Keys of
// maps are strings or integers; StateErrors tells what cannot be named.
//
// Unexported fields count as exported ones do, with two exceptions. A tensor that
// was computed from parameters, such as a transposed weight kept for speed, is no
// state: it is computed again (one that has been written since, or is marked by
// MarkParam, is). And only what can hold tensors or modules by its type is looked
// at: a mutex, a logger or a database handle is left alone. Nothing else may
// change the fields during a walk.
func Walk(root any, visit func(Item) (descend bool)) {
	w := walker{visit: visit, open: map[Key]bool{}}
	w.value(reflect.ValueOf(root), Item{}, way{root: true})
}

type walker struct {
	visit func(Item) bool
	open  map[Key]bool                   // modules being visited, to end cycles
	odd   func(at Item, v reflect.Value) // told of maps without names; may be nil
	none  func(at Item, t reflect.Type)  // told of nil pointers, interfaces and functions; may be nil
	plain func(at Item, v reflect.Value) // told of slices of numbers; may be nil
}

// way is how a value was reached.
type way struct {
	root   bool
	hidden bool // by an unexported field: directly, or through slices and maps of it
	part   bool // by embedding an unexported struct, which is no module of its own
}

// module reports whether what lies at the end of the way, a pointer to a struct, is
// a module.
func (by way) module(t reflect.Type) bool { return by.root || !by.part && isModule(t) }

func (w *walker) value(v reflect.Value, at Item, by way) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			w.absent(v, at)
			return
		}
		if v.Type() == tensorType {
			at.Tensor = v.Interface().(*Tensor)
			if at.Buffer = at.Buffer || at.Tensor.c.fixed; !by.hidden || !at.Tensor.computed() {
				w.visit(at)
			}
			return
		}
		w.pointer(v, at, by)
	case reflect.Struct:
		if !v.CanAddr() {
			// In a map or an interface: the copy has the same tensors, but is no
			// module that a caller could change.
			w.fields(v, at, by.root)
			return
		}
		w.pointer(v.Addr(), at, by)
	case reflect.Interface:
		if v.IsNil() {
			w.absent(v, at)
		} else if !by.hidden || mayHide(v.Elem().Type()) {
			w.value(v.Elem(), at, by)
		}
	case reflect.Slice, reflect.Array:
		if !mayHold(v.Type().Elem()) || !w.enter(v) {
			return
		}
		defer w.leave(v)
		for i := range v.Len() {
			n := strconv.Itoa(i)
			w.value(v.Index(i), Item{Path: join(at.Path, n), Selector: at.Selector + "[" + n + "]", Buffer: at.Buffer}, way{hidden: by.hidden})
		}
	case reflect.Map:
		w.mapping(v, at, by)
	}
}

// absent tells of a value that is nil.
func (w *walker) absent(v reflect.Value, at Item) {
	if w.none != nil {
		w.none(at, v.Type())
	}
}

// enter reports whether a slice or map is not being visited already, which one
// that holds itself in an interface is.
func (w *walker) enter(v reflect.Value) bool {
	if v.Kind() == reflect.Array {
		return true
	}
	k := Key{v.Type(), v.Pointer()}
	if w.open[k] {
		return false
	}
	w.open[k] = true
	return true
}

func (w *walker) leave(v reflect.Value) {
	if v.Kind() != reflect.Array {
		delete(w.open, Key{v.Type(), v.Pointer()})
	}
}

func (w *walker) mapping(v reflect.Value, at Item, by way) {
	if !mayHold(v.Type().Elem()) || !w.enter(v) {
		return
	}
	defer w.leave(v)
	if !keyed(v.Type()) {
		if w.odd != nil && v.Len() > 0 {
			w.odd(at, v)
		}
		return
	}
	for _, k := range SortedKeys(v) {
		name, code := k.String(), strconv.Quote(k.String())
		if k.Kind() != reflect.String {
			name = keyText(k)
			code = name
		}
		w.value(v.MapIndex(k), Item{Path: join(at.Path, name), Selector: at.Selector + "[" + code + "]", Buffer: at.Buffer}, way{hidden: by.hidden})
	}
}

// Walker is a module, or a part of one, that lists its tensors and sub-modules
// itself, with paths and selectors relative to its own; a selector is empty when
// no Go expression leads there. A struct that embeds a Walker becomes one, and
// its other fields are not found: prefer a field that is one.
type Walker interface {
	Walk(visit func(Item) (descend bool))
}

func (w *walker) pointer(p reflect.Value, at Item, by way) {
	if p.Elem().Kind() != reflect.Struct {
		return
	}
	module := p.Interface()
	if own, ok := module.(Walker); ok {
		if by.module(p.Type()) {
			if at.Module = own; !w.visit(at) {
				return
			}
		}
		own.Walk(func(it Item) bool {
			if it.Selector != "" {
				it.Selector = at.Selector + it.Selector
			}
			it.Path, it.Buffer = join(at.Path, it.Path), it.Buffer || at.Buffer
			return w.visit(it)
		})
		return
	}
	k := Key{p.Type(), p.Pointer()}
	if w.open[k] && p.Type().Elem().Size() > 0 {
		return
	}
	if by.module(p.Type()) {
		at.Module = module
		if !w.visit(at) {
			return
		}
	}
	w.open[k] = true
	w.fields(p.Elem(), at, by.root)
	delete(w.open, k)
}

func (w *walker) fields(s reflect.Value, at Item, root bool) {
	for _, f := range planOf(s.Type()) {
		if f.ownOnly && !root && !holds(s.Type()) {
			continue
		}
		path := at.Path
		if f.name != "" {
			path = join(path, f.name)
		}
		w.value(peek.Field(s, f.index), Item{Path: path, Selector: at.Selector + f.selector, Buffer: at.Buffer || f.buffer}, way{hidden: f.unexported, part: f.part})
	}
	if w.none == nil && w.plain == nil {
		return
	}
	for i := range s.NumField() {
		f := s.Type().Field(i)
		in := Item{Path: join(at.Path, FieldName(f.Name)), Selector: at.Selector + "." + f.Name}
		switch k := f.Type.Kind(); {
		case k == reflect.Func && s.Field(i).IsNil():
			w.absent(s.Field(i), in)
		case k == reflect.Slice && w.plain != nil && isNumber(f.Type.Elem()):
			w.plain(in, s.Field(i))
		}
	}
}

func isNumber(t reflect.Type) bool { return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64 }

// fieldPlan is what Walk does about one field of a struct type.
type fieldPlan struct {
	index      int
	name       string // "" adds no name
	selector   string
	buffer     bool
	unexported bool
	part       bool // an unexported embedded struct
	ownOnly    bool // an interface, looked into where the struct is part of a model
}

// plans keeps the fields of each struct type: reading tags dominates a walk.
var plans sync.Map // reflect.Type → []fieldPlan

func planOf(t reflect.Type) []fieldPlan {
	if p, ok := plans.Load(t); ok {
		return p.([]fieldPlan)
	}
	var plan []fieldPlan
	for i := range t.NumField() {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("fx"), ",")
		if tag[0] == "-" || f.Name == "_" || !mayHold(f.Type) {
			continue
		}
		one := fieldPlan{index: i, name: tag[0], buffer: slices.Contains(tag[1:], "buffer"), unexported: !f.IsExported()}
		if one.unexported && !holds(f.Type) && !(f.Anonymous && isStruct(f.Type)) {
			if one.ownOnly = inInterface(f.Type); !one.ownOnly {
				continue
			}
		}
		switch {
		case tag[0] == ".":
			one.name = ""
		case tag[0] == "" && !f.Anonymous:
			one.name = FieldName(f.Name)
		}
		if one.part = one.unexported && f.Anonymous; !one.part { // what an unexported embedded struct has is promoted
			one.selector = "." + f.Name
		}
		plan = append(plan, one)
	}
	plans.Store(t, plan)
	return plan
}

// isStruct reports whether a type is a struct or a pointer to one.
func isStruct(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

// mayHold reports whether a value of the type can hold tensors or modules.
func mayHold(t reflect.Type) bool {
	return madeOf(t, func(k reflect.Kind) bool {
		return k == reflect.Pointer || k == reflect.Struct || k == reflect.Interface
	})
}

// isModule reports whether a type (a pointer to a struct) is a module: it has a
// Forward method.
func isModule(t reflect.Type) bool {
	_, ok := t.MethodByName("Forward")
	return ok
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// FieldName turns a Go field name into PyTorch's: "Conv1" to "conv1",
// "RunningMean" to "running_mean", "InProj" to "in_proj".
func FieldName(s string) string {
	var b strings.Builder
	rs := []rune(s)
	for i, r := range rs {
		if unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(rs[i-1]) || i+1 < len(rs) && unicode.IsLower(rs[i+1])) && rs[i-1] != '_' {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
