// Package peek reads unexported fields of structs, which reflection alone does not
// hand out: modules keep layers in them. It reads and never writes.
package peek

import (
	"reflect"
	"unsafe"
)

// Field returns field i of a struct as a value that can be used like that of an
// exported field. A struct that has no address is copied first.
func Field(s reflect.Value, i int) reflect.Value {
	if f := s.Field(i); s.Type().Field(i).IsExported() && f.CanInterface() {
		return f
	}
	if !s.CanAddr() {
		c := reflect.New(s.Type()).Elem()
		c.Set(s)
		s = c
	}
	f := s.Field(i)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}
