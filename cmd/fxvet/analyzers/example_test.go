package analyzers_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/cmd/fxvet/analyzers"
)

func ExampleAll() {
	for _, a := range analyzers.All() {
		fmt.Println(a.Name)
	}
	// Output:
	// fxdata
	// fxwrite
	// fxkeep
	// fxsteady
	// fxstate
	// fxwrap
	// fxattr
	// fxscope
}
