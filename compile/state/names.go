package state

import (
	"reflect"
	"strconv"
)

// nameOf returns the name that tables have for a type.
func nameOf(t reflect.Type) string {
	if t.Name() != "" {
		if t.PkgPath() == "" {
			return t.Name()
		}
		return t.PkgPath() + "." + t.Name()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + nameOf(t.Elem())
	case reflect.Slice:
		return "[]" + nameOf(t.Elem())
	case reflect.Array:
		return "[" + strconv.Itoa(t.Len()) + "]" + nameOf(t.Elem())
	case reflect.Map:
		return "map[" + nameOf(t.Key()) + "]" + nameOf(t.Elem())
	}
	return t.String()
}
