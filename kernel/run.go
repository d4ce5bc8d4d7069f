package kernel

import "github.com/gofx-dev/gofx/array"

// Pack returns the weight as k lays it out for this processor.
func Pack(w *Workspace, k Packer, weight *array.Array) *array.Array {
	d, shape := k.Packed(weight)
	packed := array.New(d, shape...)
	k.Run(w, []*array.Array{packed}, []*array.Array{weight})
	return packed
}
