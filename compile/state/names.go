package state

import (
	"net/url"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"unsafe"
)

// nameOf returns the name that tables have for a type, with full package paths also in literals of
// functions, structs and interfaces, which reflect shortens.
func nameOf(t reflect.Type) string {
	var b strings.Builder
	writeName(&b, t)
	return b.String()
}

func writeName(b *strings.Builder, t reflect.Type) {
	if t.Name() != "" {
		if t.PkgPath() != "" {
			b.WriteString(t.PkgPath() + ".")
		}
		b.WriteString(unescaped(t.Name()))
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		b.WriteByte('*')
	case reflect.Slice:
		b.WriteString("[]")
	case reflect.Array:
		b.WriteString("[" + strconv.Itoa(t.Len()) + "]")
	case reflect.Map:
		b.WriteString("map[")
		writeName(b, t.Key())
		b.WriteByte(']')
	case reflect.Func:
		b.WriteString("func")
		writeSignature(b, t)
		return
	case reflect.Struct:
		writeStruct(b, t)
		return
	case reflect.Interface:
		writeInterface(b, t)
		return
	case reflect.Chan:
		b.WriteString(map[reflect.ChanDir]string{reflect.RecvDir: "<-chan ", reflect.SendDir: "chan<- ", reflect.BothDir: "chan "}[t.ChanDir()])
	}
	writeName(b, t.Elem())
}

func writeSignature(b *strings.Builder, t reflect.Type) {
	b.WriteByte('(')
	for i := range t.NumIn() {
		if i > 0 {
			b.WriteString(", ")
		}
		if t.IsVariadic() && i == t.NumIn()-1 {
			b.WriteString("...")
			writeName(b, t.In(i).Elem())
			continue
		}
		writeName(b, t.In(i))
	}
	b.WriteByte(')')
	switch t.NumOut() {
	case 0:
	case 1:
		b.WriteByte(' ')
		writeName(b, t.Out(0))
	default:
		for i := range t.NumOut() {
			b.WriteString([]string{" (", ", "}[min(i, 1)])
			writeName(b, t.Out(i))
		}
		b.WriteByte(')')
	}
}

func writeStruct(b *strings.Builder, t reflect.Type) {
	b.WriteString("struct {")
	for i := range t.NumField() {
		f := t.Field(i)
		b.WriteString([]string{" ", "; "}[min(i, 1)])
		if !f.Anonymous {
			b.WriteString(f.Name + " ")
		}
		writeName(b, f.Type)
		if f.Tag != "" {
			b.WriteString(" " + strconv.Quote(string(f.Tag)))
		}
	}
	if t.NumField() > 0 {
		b.WriteByte(' ')
	}
	b.WriteByte('}')
}

func writeInterface(b *strings.Builder, t reflect.Type) {
	b.WriteString("interface {")
	for i := range t.NumMethod() {
		m := t.Method(i)
		b.WriteString([]string{" ", "; "}[min(i, 1)])
		if m.PkgPath != "" {
			b.WriteString(m.PkgPath + ".")
		}
		b.WriteString(m.Name)
		writeSignature(b, m.Type)
	}
	if t.NumMethod() > 0 {
		b.WriteByte(' ')
	}
	b.WriteByte('}')
}

// unescaped is a name of the linker as source has it: dots in the last part of a path are written
// as %2e there.
func unescaped(name string) string {
	if s, err := url.PathUnescape(name); err == nil {
		return s
	}
	return name
}

// bodyOf returns the place of a function value's code. ok is false for those that no place tells
// apart: instances of generic functions, which share their lines, method values, and functions that
// begin with the code of another one, which was inlined.
func bodyOf(p unsafe.Pointer) (b Body, ok bool) {
	f, own := beginning(p)
	b = placeOf(&f)
	return b, own && !strings.Contains(f.Function, "[") && !strings.HasSuffix(f.Function, "-fm")
}

// placeOf is the package, file and line at which a frame stands.
func placeOf(f *runtime.Frame) Body {
	folder := strings.LastIndexByte(f.Function, '/') + 1
	path, _, _ := strings.Cut(f.Function[folder:], ".")
	return Body{Package: unescaped(f.Function[:folder] + path), File: filepath.Base(f.File), Line: f.Line}
}

// Has reports whether a frame stands in the body of the loop.
func (l *Loop) Has(f *runtime.Frame) bool {
	if f.Line < l.From || f.Line > l.To || filepath.Base(f.File) != l.File {
		return false
	}
	return placeOf(f).Package == l.Package
}
