package state

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

type held struct {
	_    uintptr
	on   bool
	name string
	by   float32
	any  any
	list []int
	pair [2]int16
	f    func()
	bits struct {
		a, b bool
		_    int8
		c    complex64
	}
}

func heldProbe(v *held) func() held {
	on, name, by, any, list, pair, f, bits := v.on, v.name, v.by, v.any, v.list, v.pair, v.f, v.bits
	return func() held {
		return held{on: on, name: name, by: by, any: any, list: list, pair: pair, f: f, bits: bits}
	}
}

// swapped makes closures with two variables in another order than held has them.
func swapped(v *held) func() held {
	on, name, by, any, list, pair, f, bits := v.on, v.name, v.by, v.any, v.list, v.pair, v.f, v.bits
	return func() held {
		return held{on: on, by: by, name: name, any: any, list: list, pair: pair, f: f, bits: bits}
	}
}

// within makes closures that differ from held in the order of two bytes alone.
func within(v *held) func() held {
	w := *v
	w.bits.a, w.bits.b = v.bits.b, v.bits.a
	return heldProbe(&w)
}

// byReference makes closures that have no copy of a variable.
func byReference(v *held) func() held {
	on, name, by, any, list, pair, f, bits := v.on, v.name, v.by, v.any, v.list, v.pair, v.f, v.bits
	made := func() held {
		return held{on: on, name: name, by: by, any: any, list: list, pair: pair, f: f, bits: bits}
	}
	by++
	return made
}

func newHeld() (func() int, Literal) {
	on, name, by, list := true, "name", float32(2.5), []int{1, 2, 3}
	any, pair, f, bits := any("held"), [2]int16{4, 5}, func() {}, held{}.bits
	bits.b, bits.c = true, 3i
	_, _, line, _ := runtime.Caller(0)
	return func() int {
		if on && name == "name" && by > 0 && any != nil {
			n := len(list) + int(pair[0])
			f()
			return n + int(imag(bits.c))
		}
		return 0
	}, Literal{"closure_test.go", line + 1}
}

// The variables of a closure are read where its literal and the compiler are known.
func TestVars(t *testing.T) {
	f, at := newHeld()
	require.Equal(t, 10, f())
	v := Vars(f, at, heldProbe)
	require.Equal(t, []any{true, "name", float32(2.5), "held", []int{1, 2, 3}, [2]int16{4, 5}}, []any{v.on, v.name, v.by, v.any, v.list, v.pair})
	require.Equal(t, []any{false, true, complex64(3i)}, []any{v.bits.a, v.bits.b, v.bits.c})
	require.Equal(t, closureOf(f), unsafe.Pointer(v))
	for name, probe := range map[string]func(*held) func() held{"swapped": swapped, "within": within, "by reference": byReference} {
		require.ErrorContains(t, panicked(func() { Vars(f, at, probe) }), "this compiler lays out captured variables in another way than the one that the table is for [FX1070]", name)
	}
	for name, call := range map[string]func(){
		"nil":          func() { Vars[held]((func() int)(nil), at, heldProbe) },
		"another line": func() { Vars(f, Literal{at.File, at.Line + 1}, heldProbe) },
		"another file": func() { Vars(f, Literal{"other.go", at.Line}, heldProbe) },
		"a method":     func() { Vars((&plain{A: 2}).get, at, heldProbe) },
	} {
		require.Panics(t, call, name)
	}
}

// Code of the same file name and line in another folder is other code.
func TestVarsOfAnotherFolder(t *testing.T) {
	none := func(*struct{ _ uintptr }) func() struct{ _ uintptr } {
		return func() (v struct{ _ uintptr }) { return v }
	}
	f := runtime.GC
	at, ok := beginning(closureOf(f))
	require.True(t, ok)
	require.ErrorContains(t, panicked(func() { Vars(f, Literal{"mgc.go", at.Line}, none) }), "the function is that of mgc.go")
}

func panicked(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}
