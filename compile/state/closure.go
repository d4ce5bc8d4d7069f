package state

import (
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"unsafe"
)

// Literal is where a function literal begins: the base name of its file, and the line.
type Literal struct {
	File string
	Line int
}

// Vars returns the variables that f has captured, which is a closure of a function literal. V is how the compiler lays them out: a
// struct of a word for the code, and of the variables. How it does so is no part of the language. So a closure that probe makes,
// with variables of the same types, is looked at first; the literal stands in the folder of its code. Vars panics with FX1070 where that
// closure lies in memory in another way, or where f is of other code.
func Vars[V, F any](f F, of Literal, probe func(*V) func() V) *V {
	at := closureOf(f)
	name := of.File + ":" + strconv.Itoa(of.Line)
	if at == nil {
		panic(stale("the function is nil; got no closure of the function literal at " + name))
	}
	words := wordsOf(reflect.TypeFor[V]())
	v := new(V)
	var made func() V
	for round := 0; round == 0 || len(words.plain)>>(round-1) > 0; round++ {
		words.fill(unsafe.Pointer(v), round)
		if made = probe(v); !words.same(unsafe.Pointer(v), closureOf(made)) {
			panic(stale("this compiler lays out captured variables in another way than the one that the table is for"))
		}
	}
	got, ok := beginning(at)
	want, _ := beginning(closureOf(made))
	if !ok || filepath.Dir(got.File) != filepath.Dir(want.File) || filepath.Base(got.File) != of.File || got.Line != of.Line {
		panic(stale("the function is that of " + filepath.Base(got.File) + ":" + strconv.Itoa(got.Line) + "; the table is of the function literal at " + name))
	}
	return (*V)(at)
}

// closureOf is the memory of a func value.
func closureOf[F any](f F) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&f)) }

// beginning is where the code of a func value begins. ok is false where that is the code of another function, which was inlined.
func beginning(p unsafe.Pointer) (f runtime.Frame, ok bool) {
	f, inlined := runtime.CallersFrames([]uintptr{*(*uintptr)(p) + 1}).Next()
	return f, !inlined
}

// wordList has the parts of a type by their offsets: pointers, and single bytes that are none.
type wordList struct{ pointers, plain []uintptr }

// wordsOf lists the parts of a struct of captured variables, without the first word.
func wordsOf(t reflect.Type) *wordList {
	l := &wordList{}
	for f := range t.Fields() {
		if f.Name != "_" {
			l.add(f.Type, f.Offset)
		}
	}
	return l
}

const wordSize = unsafe.Sizeof(uintptr(0))

func (l *wordList) add(t reflect.Type, off uintptr) {
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Name != "_" { // which no copy has to have
				l.add(f.Type, off+f.Offset)
			}
		}
	case reflect.Array:
		for i := range t.Len() {
			l.add(t.Elem(), off+uintptr(i)*t.Elem().Size())
		}
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		l.pointers = append(l.pointers, off)
	case reflect.Interface:
		l.pointers = append(l.pointers, off, off+wordSize)
	case reflect.String, reflect.Slice:
		l.pointers = append(l.pointers, off)
		l.bytes(off+wordSize, t.Size()-wordSize)
	default:
		l.bytes(off, t.Size())
	}
}

func (l *wordList) bytes(off, n uintptr) {
	for i := range n {
		l.plain = append(l.plain, off+i)
	}
}

// fill gives each pointer a value of its own, and each byte 0 or 1, as all types have it. Two bytes differ in some round.
func (l *wordList) fill(at unsafe.Pointer, round int) {
	for _, off := range l.pointers {
		*(*unsafe.Pointer)(unsafe.Add(at, off)) = unsafe.Pointer(new(uint64))
	}
	for i, off := range l.plain {
		*(*uint8)(unsafe.Add(at, off)) = uint8((i + 1) >> round & 1)
	}
}

// same reports whether two pieces of memory have the same parts.
func (l *wordList) same(a, b unsafe.Pointer) bool {
	for _, off := range l.pointers {
		if *(*unsafe.Pointer)(unsafe.Add(a, off)) != *(*unsafe.Pointer)(unsafe.Add(b, off)) {
			return false
		}
	}
	for _, off := range l.plain {
		if *(*uint8)(unsafe.Add(a, off)) != *(*uint8)(unsafe.Add(b, off)) {
			return false
		}
	}
	return true
}
