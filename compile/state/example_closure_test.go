package state_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/compile/state"
)

func newAdder(by int, name string) func(int) string {
	return func(x int) string { return fmt.Sprint(by+x, name) }
}

// adderVars are the variables that closures of newAdder have captured, as the compiler lays them out.
type adderVars struct {
	_    uintptr
	by   int
	name string
}

func adderProbe(v *adderVars) func() adderVars {
	by, name := v.by, v.name
	return func() adderVars { return adderVars{by: by, name: name} }
}

// fxgen compile writes such calls: the file and the line are those of the function literal.
func ExampleVars() {
	v := state.Vars(newAdder(3, "apples"), state.Literal{File: "example_closure_test.go", Line: 10}, adderProbe)
	fmt.Println(v.by, v.name)
	// Output: 3 apples
}
