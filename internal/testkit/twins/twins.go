// Package twins compares two worlds of values: what they hold, and which of their values are one.
package twins

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/peek"
	"github.com/gofx-dev/gofx/tensor"
)

// twins compares two worlds of values: what they hold, and which values are one.
type twins struct {
	there, back map[twin]twin
	lazily      bool // tensors of the second world may belong to a session
}

type twin struct {
	p unsafe.Pointer
	t reflect.Type
}

// Differ returns the path of the first difference, "" where there is none.
func Differ(a, b any) string {
	w := twins{there: map[twin]twin{}, back: map[twin]twin{}}
	return w.value(reflect.ValueOf(a), reflect.ValueOf(b), "")
}

// DifferLazily is Differ for a second world whose tensors may belong to a session. The session computes them, and which of
// them share memory is not compared.
func DifferLazily(a, b any) string {
	w := twins{there: map[twin]twin{}, back: map[twin]twin{}, lazily: true}
	return w.value(reflect.ValueOf(a), reflect.ValueOf(b), "")
}

// pair reports whether two pieces of memory correspond; again tells that they did before.
func (w twins) pair(a, b unsafe.Pointer, t reflect.Type) (ok, again bool) {
	x, met := w.there[twin{a, t}]
	y, metBack := w.back[twin{b, t}]
	if met || metBack {
		return met && metBack && x.p == b && y.p == a, true
	}
	w.there[twin{a, t}], w.back[twin{b, t}] = twin{b, t}, twin{a, t}
	return true, false
}

func (w twins) value(a, b reflect.Value, path string) string {
	if a.IsValid() != b.IsValid() {
		return path + ": one is nil"
	}
	if !a.IsValid() {
		return ""
	}
	if a.Type() != b.Type() {
		return fmt.Sprint(path, ": ", a.Type(), " and ", b.Type())
	}
	switch a.Kind() {
	case reflect.Pointer:
		return w.pointer(a, b, path)
	case reflect.Interface:
		return w.value(a.Elem(), b.Elem(), path)
	case reflect.Struct:
		for i := range a.NumField() {
			if d := w.value(peek.Field(a, i), peek.Field(b, i), path+"."+a.Type().Field(i).Name); d != "" {
				return d
			}
		}
		return ""
	case reflect.Array:
		return w.elements(a, b, path)
	case reflect.Slice:
		if a.IsNil() != b.IsNil() || a.Len() != b.Len() || a.Cap() != b.Cap() {
			return fmt.Sprint(path, ": ", a.Len(), "/", a.Cap(), " and ", b.Len(), "/", b.Cap(), " elements")
		}
		if a.Cap() > 0 {
			if ok, _ := w.pair(a.UnsafePointer(), b.UnsafePointer(), a.Type().Elem()); !ok {
				return path + ": another slice"
			}
		}
		return w.elements(a.Slice(0, a.Cap()), b.Slice(0, b.Cap()), path)
	case reflect.Map:
		return w.mapping(a, b, path)
	case reflect.Func:
		if a.UnsafePointer() != b.UnsafePointer() {
			return path + ": another function"
		}
		return ""
	}
	if x, y := fmt.Sprintf("%x", scalar(a)), fmt.Sprintf("%x", scalar(b)); x != y {
		return path + ": " + x + " and " + y
	}
	return ""
}

func scalar(v reflect.Value) any {
	switch {
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return v.Uint()
	case v.CanFloat():
		return v.Float()
	case v.Kind() == reflect.Bool:
		return map[bool]int{true: 1}[v.Bool()]
	}
	return v.String()
}

func (w twins) elements(a, b reflect.Value, path string) string {
	for i := range a.Len() {
		if d := w.value(a.Index(i), b.Index(i), fmt.Sprint(path, "[", i, "]")); d != "" {
			return d
		}
	}
	return ""
}

func (w twins) mapping(a, b reflect.Value, path string) string {
	if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
		return path + ": another number of entries"
	}
	if a.IsNil() {
		return ""
	}
	if ok, _ := w.pair(a.UnsafePointer(), b.UnsafePointer(), a.Type()); !ok {
		return path + ": another map"
	}
	for _, k := range a.MapKeys() {
		if d := w.value(a.MapIndex(k), b.MapIndex(k), fmt.Sprint(path, "[", k, "]")); d != "" {
			return d
		}
	}
	return ""
}

func (w twins) pointer(a, b reflect.Value, path string) string {
	if a.IsNil() || b.IsNil() {
		if a.IsNil() != b.IsNil() {
			return path + ": one is nil"
		}
		return ""
	}
	ok, again := w.pair(a.UnsafePointer(), b.UnsafePointer(), a.Type())
	switch {
	case !ok:
		return path + ": another value is shared"
	case again:
		return ""
	}
	x, tensors := a.Interface().(*tensor.Tensor)
	if !tensors {
		return w.value(a.Elem(), b.Elem(), path)
	}
	return w.tensor(x, b.Interface().(*tensor.Tensor), path)
}

func (w twins) tensor(x, y *tensor.Tensor, path string) string {
	if w.lazily && y.Engine() != nil {
		if !x.Equal(y) {
			return fmt.Sprint(path, ": ", x, " and ", y)
		}
		return ""
	}
	p, okP := x.Value().(*array.Array)
	q, okQ := y.Value().(*array.Array)
	switch {
	case !okP || !okQ || x.Engine() != nil || y.Engine() != nil:
		return path + ": a tensor is not eager"
	case !array.Equal(p, q):
		return fmt.Sprint(path, ": ", x, " and ", y)
	}
	if p.Len() == 0 {
		return ""
	}
	if ok, _ := w.pair(unsafe.Pointer(p.Storage()), unsafe.Pointer(q.Storage()), reflect.TypeFor[array.Storage]()); !ok {
		return path + ": memory is shared with another tensor"
	}
	return ""
}
