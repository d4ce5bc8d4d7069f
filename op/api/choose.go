package api

import (
	"slices"

	"github.com/gofx-dev/gofx/op"
)

// For returns the function that spells a call with the given attributes: the
// form with a number where the attribute Other is set, swapped where Reverse is.
func For(o *op.Op, attrs any) *Func {
	form := Plain
	if numberOperand(o) >= 0 {
		for _, a := range o.Codec().Fields(attrs) {
			switch {
			case a.Zero:
			case a.GoName == "Reverse":
				return newFunc(o, Swapped)
			case a.GoName == "Other":
				form = Number
			}
		}
	}
	return newFunc(o, form)
}

// Given returns the options that attrs sets: a call that prints its arguments
// needs the trailing attributes struct only when there are some.
func (f *Func) Given(attrs any) []op.Field {
	return slices.DeleteFunc(f.Op.Codec().Fields(attrs), func(a op.Field) bool {
		return a.Zero || !slices.Contains(f.Options, a.GoName)
	})
}
