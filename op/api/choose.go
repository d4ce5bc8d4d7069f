package api

import (
	"slices"

	"github.com/gofx-dev/gofx/op"
)

// Given returns the options that attrs sets: a call that prints its arguments
// needs the trailing attributes struct only when there are some.
func (f *Func) Given(attrs any) []op.Field {
	return slices.DeleteFunc(f.Op.Codec().Fields(attrs), func(a op.Field) bool {
		return a.Zero || !slices.Contains(f.Options, a.GoName)
	})
}
