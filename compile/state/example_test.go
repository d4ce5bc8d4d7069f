package state_test

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/gofx-dev/gofx/compile/state"
)

type counterArgs struct{ Counts map[string]int }

type counterResults struct{ Sum int }

// A walk reads what a table lists, a guard tells whether it is the same, and a replay of the difference writes it again.
func ExampleNewSchema() {
	t := &state.Table{Func: "count", Elems: []state.Elem{{Type: "map[string]int", Access: state.Load | state.Store | state.Len}}, Maps: []state.Map{state.MapOf[string, int]()}}
	s := state.NewSchema(t, reflect.TypeFor[counterArgs](), reflect.TypeFor[counterResults]())
	in, out := &counterArgs{map[string]int{"a": 1}}, &counterResults{}
	image, refused := s.Walk(unsafe.Pointer(in), unsafe.Pointer(out), nil)
	fmt.Println(refused == nil)
	in.Counts["b"], out.Sum = 2, 3 // the function
	replay, _, _ := image.Diff()
	guard := image.Guard(nil, false, nil, nil)

	again, sum := &counterArgs{map[string]int{"a": 1}}, &counterResults{}
	var m state.Machine
	fits, _ := guard.Check(&m, unsafe.Pointer(again), unsafe.Pointer(sum))
	replay.Apply(&m, nil)
	fmt.Println(fits, again.Counts, sum.Sum)
	fits, failed := guard.Check(&m, unsafe.Pointer(again), unsafe.Pointer(sum))
	path, _ := guard.Failure(failed)
	fmt.Println(fits, path)
	// Output:
	// true
	// true map[a:1 b:2] 3
	// false len(Counts)
}

// MapOf lets walks and replays read and write maps of a type.
func ExampleMapOf() {
	t := &state.Table{Func: "f", Elems: []state.Elem{{Type: "map[string]int", Access: state.Load}}}
	in, out := &counterArgs{map[string]int{"a": 1}}, &counterResults{}
	walk := func() *state.Refusal {
		_, refused := state.NewSchema(t, reflect.TypeFor[counterArgs](), reflect.TypeFor[counterResults]()).Walk(unsafe.Pointer(in), unsafe.Pointer(out), nil)
		return refused
	}
	fmt.Println(walk().Why)
	t.Maps = append(t.Maps, state.MapOf[string, int]())
	fmt.Println(walk() == nil)
	// Output:
	// the map Counts cannot be compared: the table has no map[string]int of plain keys
	// true
}
