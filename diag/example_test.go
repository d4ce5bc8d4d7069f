package diag_test

import (
	"errors"
	"fmt"

	"github.com/gofx-dev/gofx/diag"
)

const tooWide diag.Code = "FX2003"

// An error says what, where, and what to do; errors.Is compares codes.
func ExampleNew() {
	err := diag.New(tooWide, "x has 32 features, weight expects 64").
		At(diag.Pos{File: "model.go", Line: 41, Col: 9}).
		WithHint("change the layer before")
	err.Op = "linear"
	fmt.Println(err)
	fmt.Println(errors.Is(err, tooWide))
	// Output:
	// model.go:41:9: linear: x has 32 features, weight expects 64 [FX2003]
	//     hint: change the layer before
	// true
}

// A list reports everything at once, in the order of the source.
func ExampleList() {
	var list diag.List
	list.Add(diag.New(tooWide, "second").At(diag.Pos{File: "model.go", Line: 9}))
	list.Add(diag.New("FX1004", "first").At(diag.Pos{File: "model.go", Line: 3}))
	list.Add(nil)
	list.Sort()
	fmt.Println(list.Err())
	fmt.Println(errors.Is(list, tooWide), diag.List{}.Err())
	// Output:
	// model.go:3: first [FX1004]
	// model.go:9: second [FX2003]
	// true <nil>
}

func ExampleLookup() {
	info, ok := diag.Lookup(tooWide)
	fmt.Println(info.Title, ok)
	_, ok = diag.Lookup("FX0000")
	fmt.Println(ok)
	// Output:
	// size does not fit true
	// false
}

func ExampleCodes() {
	codes := diag.Codes()
	fmt.Println(len(codes) > 100, codes[0].Code)
	// Output: true FX1001
}

func ExampleBug() {
	fmt.Println(errors.Is(diag.Bug("a broken invariant"), diag.Internal))
	// Output: true
}

// Here gives the innermost line of user code.
func ExampleHere() {
	p := diag.Here()
	fmt.Println(p.Line > 0, diag.Pos{File: "net.go", Line: 7})
	// Output: true net.go:7
}

// Callers records a stack cheaply; Resolve finds the lines later.
func ExampleCallers() {
	pcs := make([]uintptr, diag.MaxFrames)
	n := diag.Callers(0, pcs)
	fmt.Println(n > 0 && diag.Resolve(pcs[0]).Line > 0)
	fmt.Println(diag.UserCode("example.com/net.(*Net).Forward", "/src/net/net.go"), diag.UserCode("runtime.main", "/go/src/runtime/proc.go"))
	// Output:
	// true
	// true false
}
