// Package closures has functions that return function literals, and a variable with one. Tests compile their closures, and compare
// calls with those of the closures themselves.
//
// The constructors are generated.
package closures

//go:generate go run github.com/gofx-dev/gofx/cmd/fxgen compile -o fx_compile.go NewStep NewMixed NewCounter NewChecked Model.Stepper Plain NewNested NewCalls NewLogged NewLocal NewRebound NewLooks
