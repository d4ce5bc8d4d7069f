package tensor

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Item is one thing that Walk finds: a tensor or a sub-module.
type Item struct {
	Path     string // PyTorch's name: "layer1.0.conv1.weight"; "" for the root module
	Selector string // Go expression below the root: ".Layer1[0].Conv1.Weight"
	Tensor   *Tensor
	Module   any // pointer to the module; nil for tensors
	Buffer   bool
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
// own. Shared modules are visited under each of their paths; cycles end.
func Walk(root any, visit func(Item) (descend bool)) {
	w := walker{visit: visit, open: map[Key]bool{}}
	v := reflect.ValueOf(root)
	w.value(v, Item{}, true)
}

type walker struct {
	visit func(Item) bool
	open  map[Key]bool // modules being visited, to end cycles
}

func (w *walker) value(v reflect.Value, at Item, root bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.Type() == tensorType {
			at.Tensor = v.Interface().(*Tensor)
			w.visit(at)
			return
		}
		w.pointer(v, at, root)
	case reflect.Struct:
		if !v.CanAddr() {
			// In a map or an interface: the copy has the same tensors, but is no
			// module that a caller could change.
			w.fields(v, at)
			return
		}
		w.pointer(v.Addr(), at, root)
	case reflect.Interface:
		if !v.IsNil() {
			w.value(v.Elem(), at, root)
		}
	case reflect.Slice, reflect.Array:
		if !mayHold(v.Type().Elem()) || !w.enter(v) {
			return
		}
		defer w.leave(v)
		for i := range v.Len() {
			n := strconv.Itoa(i)
			w.value(v.Index(i), Item{Path: join(at.Path, n), Selector: at.Selector + "[" + n + "]", Buffer: at.Buffer}, false)
		}
	case reflect.Map:
		w.mapping(v, at)
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

func (w *walker) mapping(v reflect.Value, at Item) {
	if v.Type().Key().Kind() != reflect.String || !mayHold(v.Type().Elem()) || !w.enter(v) {
		return
	}
	defer w.leave(v)
	keys := make([]string, 0, v.Len())
	for _, k := range v.MapKeys() {
		keys = append(keys, k.String())
	}
	slices.Sort(keys)
	for _, k := range keys {
		e := v.MapIndex(reflect.ValueOf(k).Convert(v.Type().Key()))
		w.value(e, Item{Path: join(at.Path, k), Selector: at.Selector + "[" + strconv.Quote(k) + "]", Buffer: at.Buffer}, false)
	}
}

// Walker is a module, or a part of one, that lists its tensors and sub-modules
// itself, with paths and selectors relative to its own; a selector is empty when
// no Go expression leads there. A struct that embeds a Walker becomes one, and
// its other fields are not found: prefer a field that is one.
type Walker interface {
	Walk(visit func(Item) (descend bool))
}

func (w *walker) pointer(p reflect.Value, at Item, root bool) {
	if p.Elem().Kind() != reflect.Struct {
		return
	}
	var module any // nil for an unexported embedded struct
	if p.CanInterface() {
		module = p.Interface()
	}
	if own, ok := module.(Walker); ok {
		if root || isModule(p.Type()) {
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
	if module != nil && (root || isModule(p.Type())) {
		at.Module = module
		if !w.visit(at) {
			return
		}
	}
	w.open[k] = true
	w.fields(p.Elem(), at)
	delete(w.open, k)
}

func (w *walker) fields(s reflect.Value, at Item) {
	for _, f := range planOf(s.Type()) {
		path := at.Path
		if f.name != "" {
			path = join(path, f.name)
		}
		w.value(s.Field(f.index), Item{Path: path, Selector: at.Selector + f.selector, Buffer: at.Buffer || f.buffer}, false)
	}
}

// fieldPlan is what Walk does about one field of a struct type.
type fieldPlan struct {
	index    int
	name     string // "" adds no name
	selector string
	buffer   bool
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
		// An unexported embedded struct has exported fields all the same.
		if !f.IsExported() && !(f.Anonymous && isStruct(f.Type)) || !mayHold(f.Type) {
			continue
		}
		tag := strings.Split(f.Tag.Get("fx"), ",")
		if tag[0] == "-" {
			continue
		}
		one := fieldPlan{index: i, name: tag[0], buffer: slices.Contains(tag[1:], "buffer")}
		switch {
		case tag[0] == ".":
			one.name = ""
		case tag[0] == "" && !f.Anonymous:
			one.name = FieldName(f.Name)
		}
		if f.IsExported() {
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
	for range 16 { // type tree []tree never ends
		switch t.Kind() {
		case reflect.Pointer, reflect.Struct, reflect.Interface:
			return true
		case reflect.Slice, reflect.Array, reflect.Map:
			t = t.Elem()
		default:
			return false
		}
	}
	return false
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
