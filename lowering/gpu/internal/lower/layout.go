package lower

import "github.com/gofx-dev/gofx/array"

// Convolutions by tensor cores read 16 bytes of channels at once where these lie side by side; so they
// write them, and what follows keeps the layout. Strides say it: no step knows more of it than that.

// afterSpace is the order of dimensions [N, C, spatial...] in which channels are last, and what undoes it.
func afterSpace(rank int) (order, undo []int) {
	order, undo = []int{0}, []int{0, rank - 1}
	for i := 2; i < rank; i++ {
		order, undo = append(order, i), append(undo, i-1)
	}
	return append(order, 1), undo
}

// channelsLast reports whether the elements of an image lie in that order from the start of a buffer that tempOf
// made for it: other views that happen to lie so are no images.
func (b *Builder) channelsLast(v *Operand) bool {
	rank := len(v.Shape())
	if v.todo != nil || v.Buf < 0 || rank < 3 || !b.Buffers[v.Buf].last || v.view().IsDense() {
		return false
	}
	order, _ := afterSpace(rank)
	o := Operand{Header: array.Permute(v.Header, order...)}
	return o.view().IsDense()
}

// tempOf is temp, with channels last where last says so.
func (b *Builder) tempOf(d array.DType, dims []int, last bool) *Operand {
	if !last || len(dims) < 3 {
		return b.temp(d, dims)
	}
	order, undo := afterSpace(len(dims))
	v := b.temp(d, reordered(dims, order))
	v.Header, b.Buffers[v.Buf].last = array.Permute(v.Header, undo...), true
	return v
}

// reordered takes a value of each dimension in another order of them.
func reordered(dims, order []int) []int {
	out := make([]int, len(dims))
	for i, axis := range order {
		out[i] = dims[axis]
	}
	return out
}
