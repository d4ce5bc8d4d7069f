package source

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// MostFeatures bounds the sizes of queries and of values that attention has kernels for: so many
// fit, for a few queries and keys, into the local memory of every device.
const MostFeatures = 256

// Attention is softmax(scale·q·kᵀ + mask)·v with q [..., L, E], k [..., S, E], v [..., S, V] and a
// dense result [..., L, V] of floats of up to 32 bits. Leading dimensions broadcast, and those of k
// and v before the matrices may be whole parts of the result's. No dimension is 0. Keys are
// met by tiles; what was summed is corrected when a higher score turns up (Milakov and
// Gimelshein, 2018; Dao et al., 2022), so that scores never leave the work-items that made them.
type Attention struct {
	Out, Q, K, V View
	Mask         *View // broadcasts to [..., L, S]; bool keeps where true, floats are added
	Causal       bool  // query i meets keys up to i alone
	Scale        float64
}

// sizes are those of one matrix of queries, keys and values.
func (a Attention) sizes() (queries, keys, depth, features int) {
	r := len(a.Out.Shape)
	_, depth = a.Q.Shape[len(a.Q.Shape)-2], a.Q.Shape[len(a.Q.Shape)-1]
	return a.Out.Shape[r-2], a.K.Shape[len(a.K.Shape)-2], depth, a.Out.Shape[r-1]
}

// chooses reports whether a mask chooses keys, so that a query may be left without any.
func (a Attention) chooses() bool { return a.Mask != nil && a.Mask.DType == array.Bool }

// batch are the leading dimensions of the result.
func (a Attention) batch() []int { return a.Out.Shape[:len(a.Out.Shape)-2] }

// params are the result and the operands, with k and v of those types.
func (a Attention) params(k, v array.DType) []param {
	in := []array.DType{a.Q.DType, k, v}
	if a.Mask != nil {
		in = append(in, a.Mask.DType)
	}
	return parameters([]array.DType{a.Out.DType}, in)
}

// of prints the index of an element of an operand in the matrix that the coordinates c of the
// result's leading dimensions have in it; behind are the last coordinates.
func (a Attention) of(v View, c []string, behind ...string) string {
	batch := a.batch()
	coords := make([]string, len(v.Shape)-len(behind), len(v.Shape))
	for i := range coords {
		k := len(c) - len(coords) + i
		switch coords[i] = c[k]; {
		case v.Shape[i] == 1:
			coords[i] = "0"
		case v.Shape[i] != batch[k]: // heads that several of the result's share
			coords[i] = "(" + c[k] + " / " + num(batch[k]/v.Shape[i]) + ")"
		}
	}
	return v.at(bare(append(coords, behind...), v))
}

// hidden prints what the mask and the order of keys make of the score x of a query and a key;
// kept is where it is noted that the query has a key.
func (a Attention) hidden(b *strings.Builder, tab string, c []string, query, key, x, kept string) {
	if a.Causal {
		b.WriteString(tab + "if (" + key + " > " + query + ") " + x + " = NONE;\n")
	}
	if a.Mask == nil {
		return
	}
	m := *a.Mask
	for len(m.Shape) < 2 { // a row for all, or one number
		m.Shape, m.Strides = append([]int{1}, m.Shape...), append([]int{0}, m.Strides...)
	}
	at := "x3[" + a.of(m, c, query, key) + "]"
	if a.chooses() {
		b.WriteString(tab + "if (" + at + " != 0) " + kept + " = 1; else " + x + " = NONE;\n")
		return
	}
	b.WriteString(tab + x + " = " + x + " + " + load(m.DType, "x3", a.of(m, c, query, key)) + ";\n")
}

// quotient prints the division of a sum of values by that of the weights. Without any key, which is not
// the same as with weights of zero, a query gets zeros.
func (a Attention) quotient(sum, total, kept string) string {
	if !a.chooses() {
		return sum + " / " + total
	}
	return kept + " ? " + sum + " / " + total + " : 0.0f"
}
