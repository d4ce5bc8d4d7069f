package tensor

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

var walkerType = reflect.TypeFor[Walker]()

// held keeps what holds found out.
var held sync.Map // reflect.Type → bool

// holds reports whether values of a type can hold tensors or modules as far as
// types tell: what lies in a plain interface is not known.
func holds(t reflect.Type) bool {
	if h, ok := held.Load(t); ok {
		return h.(bool)
	}
	h := reaches(t, map[reflect.Type]bool{})
	held.Store(t, h)
	return h
}

func reaches(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer:
		return t == tensorType || t.Elem().Kind() == reflect.Struct && reaches(t.Elem(), seen)
	case reflect.Struct:
		if p := reflect.PointerTo(t); p.Implements(walkerType) || forwards(p) {
			return true
		}
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("fx") != "-" && f.Name != "_" && reaches(f.Type, seen) {
				return true
			}
		}
	case reflect.Interface:
		return t.Implements(walkerType) || forwards(t)
	case reflect.Slice, reflect.Array, reflect.Map:
		return reaches(t.Elem(), seen)
	}
	return false
}

// forwards reports whether a type has a method Forward that takes or returns
// tensors.
func forwards(t reflect.Type) bool {
	m, ok := t.MethodByName("Forward")
	if !ok {
		return false
	}
	tensors := func(t reflect.Type) bool {
		return t == tensorType || t.Kind() == reflect.Slice && t.Elem() == tensorType
	}
	for i := range m.Type.NumIn() {
		if tensors(m.Type.In(i)) {
			return true
		}
	}
	for i := range m.Type.NumOut() {
		if tensors(m.Type.Out(i)) {
			return true
		}
	}
	return false
}

// inInterface reports whether a type is an interface, or slices and maps of one.
func inInterface(t reflect.Type) bool {
	return madeOf(t, func(k reflect.Kind) bool { return k == reflect.Interface })
}

// madeOf reports whether a type is of an accepted kind, or slices and maps of such.
func madeOf(t reflect.Type, accept func(reflect.Kind) bool) bool {
	for range 16 { // type tree []tree never ends
		switch k := t.Kind(); {
		case accept(k):
			return true
		case k == reflect.Slice || k == reflect.Array || k == reflect.Map:
			t = t.Elem()
		default:
			return false
		}
	}
	return false
}

// mayHide reports whether what an unexported interface holds is to be looked at.
func mayHide(t reflect.Type) bool { return holds(t) || inInterface(t) }

// computed reports whether the tensor was made from parameters, and is still what
// was made of them or a view of one.
func (x *Tensor) computed() bool {
	if x.c.engine() != nil || x.c.param.Load() || x.c.recipe() == nil || !fromParams(x) {
		return false
	}
	return x.c.recipe().own == storageVersion(x) || slices.ContainsFunc(x.c.recipe().call.Args, func(a *Tensor) bool {
		return a != nil && a.c.engine() == nil && a.storage() == x.storage()
	})
}

func fromParams(x *Tensor) bool {
	return slices.ContainsFunc(x.c.recipe().call.Args, func(a *Tensor) bool {
		return a != nil && (a.c.param.Load() || a.c.recipe() != nil && fromParams(a))
	})
}

// keyed reports whether the entries of a map type have names.
func keyed(t reflect.Type) bool {
	k := t.Key().Kind()
	return k == reflect.String || reflect.Int <= k && k <= reflect.Uintptr
}

// SortedKeys returns the keys of a map whose keys are strings or integers, in
// order.
func SortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		switch {
		case a.Kind() == reflect.String:
			return cmp.Compare(a.String(), b.String())
		case a.CanInt():
			return cmp.Compare(a.Int(), b.Int())
		}
		return cmp.Compare(a.Uint(), b.Uint())
	})
	return keys
}

// keyText writes an integer key.
func keyText(k reflect.Value) string {
	if k.CanInt() {
		return strconv.FormatInt(k.Int(), 10)
	}
	return strconv.FormatUint(k.Uint(), 10)
}

// Absent visits the fields of a module, and of the modules of the user's in it, that are
// nil where they could hold something: pointers, interfaces and functions.
func Absent(root any, visit func(at Item, t reflect.Type)) {
	w := walker{open: map[Key]bool{}, none: visit}
	w.visit = func(it Item) bool {
		if it.Module == nil {
			return false
		}
		t := reflect.TypeOf(it.Module)
		return t.Kind() != reflect.Pointer || !strings.HasPrefix(t.Elem().PkgPath(), library) // whose fields may be nil
	}
	w.value(reflect.ValueOf(root), Item{}, way{root: true})
}

// SliceOver returns the Go expression below a module, such as ".Head.data", of a slice of numbers that has bytes
// in common with a storage, "" where the fields of the module and of those in it have none.
func SliceOver(root any, st *array.Storage) (selector string) {
	b := st.Bytes()
	if root == nil || len(b) == 0 {
		return ""
	}
	from := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	w := walker{open: map[Key]bool{}, visit: func(Item) bool { return true }}
	w.plain = func(at Item, v reflect.Value) {
		start, size := v.Pointer(), uintptr(v.Cap())*v.Type().Elem().Size()
		if selector == "" && start < from+uintptr(len(b)) && from < start+size {
			selector = at.Selector
		}
	}
	w.value(reflect.ValueOf(root), Item{}, way{root: true})
	return selector
}

// library is where the modules of gofx are.
const library = "github.com/gofx-dev/gofx/nn"

// StateErrors reports what Walk cannot name: tensors and modules in maps whose
// keys are neither strings nor integers, and different tensors with one name.
// Capture, saving and loading refuse a module with such state.
func StateErrors(root any) diag.List {
	var list diag.List
	first := map[string]Item{}
	w := walker{open: map[Key]bool{}}
	w.visit = func(it Item) bool {
		if it.Tensor == nil {
			return true
		}
		if old, known := first[it.Path]; !known {
			first[it.Path] = it
		} else if old.Tensor.ID() != it.Tensor.ID() {
			list = append(list, diag.New(SameName, "two tensors are named "+it.Path+": "+place(old)+" and "+place(it)).
				WithHint("rename a field, or name it by a tag: `fx:\"other\"`"))
		}
		return false
	}
	w.odd = func(at Item, v reflect.Value) {
		if holds(v.Type().Elem()) {
			list = append(list, diag.New(NoName, "the tensors in "+place(at)+" have no names: its type is "+v.Type().String()).
				WithHint("use strings or integers as keys, or leave the field out of the state by the tag `fx:\"-\"`"))
		}
	}
	w.value(reflect.ValueOf(root), Item{}, way{root: true})
	return list
}

// place names a field by its Go expression, where there is one.
func place(it Item) string {
	if it.Selector == "" {
		return it.Path
	}
	return it.Selector[1:]
}
