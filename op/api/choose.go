package api

import (
	"slices"

	"github.com/gofx-dev/gofx/op"
)

// Fits reports whether the function can give a call these attributes.
func (f *Func) Fits(attrs any) bool {
	cleared := f.Cleared()
	for _, a := range f.Op.Codec().Fields(attrs) {
		switch {
		case slices.Contains(cleared, a.GoName):
			if !a.Zero {
				return false
			}
		case a.GoName == "Other" && (f.Form == Number || f.Form == Swapped), a.GoName == "Reverse" && f.Form == Swapped:
			if a.Zero {
				return false
			}
		case !a.Zero && !slices.Contains(f.Options, a.GoName) && !slices.ContainsFunc(f.Params, func(p Param) bool { return p.Field == a.GoName }):
			return false
		}
	}
	return true
}

// Given returns the options that attrs sets: a call that prints its arguments
// needs the trailing attributes struct only when there are some.
func (f *Func) Given(attrs any) []op.Field {
	return slices.DeleteFunc(f.Op.Codec().Fields(attrs), func(a op.Field) bool {
		return a.Zero || !slices.Contains(f.Options, a.GoName)
	})
}
