package kerneltest

import (
	"math/rand/v2"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// ConvForm is a convolution without its operands, as Conv has it.
type ConvForm struct {
	Stride, PadLo, PadHi, Dilation []int
	Groups                         int
}

// TransposeForm is a transposed one, as ConvTranspose has it.
type TransposeForm struct {
	Stride, Padding, OutputPadding, Dilation []int
	Groups                                   int
}

// ConvMeaning is the definition of cross-correlation for any number of
// spatial dimensions.
func ConvMeaning(s ConvForm) func(in, out []RefArray) {
	return func(in, out []RefArray) {
		x, w, y := in[0], in[1], out[0]
		nd := len(x.Shape) - 2
		groups := max(s.Groups, 1)
		perGroup, outPer := w.Shape[1], w.Shape[0]/groups
		EachPos(y.Shape, func(pos []int) {
			n, m := pos[0], pos[1]
			sum := 0.0
			if in[2].V != nil {
				sum = in[2].V[m]
			}
			EachPos(w.Shape[1:], func(k []int) {
				at := []int{n, m/outPer*perGroup + k[0]}
				for d := range nd {
					at = append(at, pos[2+d]*Pick(s.Stride, d, 1)-Pick(s.PadLo, d, 0)+k[1+d]*Pick(s.Dilation, d, 1))
				}
				sum += x.Get(at...) * w.Get(append([]int{m}, k...)...)
			})
			y.Set(sum, pos...)
		})
	}
}

// Pick returns element i of a list, or the default of an absent list.
func Pick(list []int, i, absent int) int {
	if list == nil {
		return absent
	}
	return list[i]
}

// ConvTransposeMeaning adds each input times the kernel to where it reaches.
func ConvTransposeMeaning(s TransposeForm) func(in, out []RefArray) {
	return func(in, out []RefArray) {
		x, w, y := in[0], in[1], out[0]
		groups := max(s.Groups, 1)
		cin, m := w.Shape[0]/groups, w.Shape[1]
		EachPos(y.Shape, func(pos []int) {
			if in[2].V != nil {
				y.Set(in[2].V[pos[1]], pos...)
			}
		})
		EachPos(x.Shape, func(pos []int) {
			EachPos(w.Shape[1:], func(k []int) {
				at := []int{pos[0], pos[1]/cin*m + k[0]}
				for d := range len(pos) - 2 {
					at = append(at, pos[2+d]*Pick(s.Stride, d, 1)-Pick(s.Padding, d, 0)+k[1+d]*Pick(s.Dilation, d, 1))
				}
				if i, ok := y.Index(at...); ok {
					y.V[i] += x.Get(pos...) * w.Get(append([]int{pos[1]}, k...)...)
				}
			})
		})
	}
}

// Finish is the definition of an epilogue, in float64.
func Finish(v float64, e operand.Epilogue, scale, bias, residual float64) float64 {
	v = v*scale + bias + residual
	switch e.Act {
	case operand.ActReLU:
		return max(v, 0)
	case operand.ActReLU6:
		return min(max(v, 0), 6)
	case operand.ActClamp:
		return min(max(v, float64(e.Lo)), float64(e.Hi))
	}
	return v
}

// Extra are the optional operands of a packed step; each subset is tried.
func Extra(r *rand.Rand, dt array.DType, subset, channels int, out []int) (in []*array.Array, ref [3]RefArray) {
	for i, shape := range [][]int{{channels}, {channels}, out} {
		if subset>>i&1 == 0 {
			in = append(in, nil)
			continue
		}
		a := ToArray(RandomRef(r, shape), dt, i == 2 && subset&1 != 0)
		in, ref[i] = append(in, a), ToRef(a)
	}
	return in, ref
}

// Epilogues are one of each activation. Whoever tries some of them takes all in turn.
var Epilogues = []operand.Epilogue{{}, {Act: operand.ActReLU}, {Act: operand.ActReLU6}, {Act: operand.ActClamp, Lo: -0.5, Hi: 0.75}}

// EpilogueAt returns Epilogues, again and again.
func EpilogueAt(i int) operand.Epilogue { return Epilogues[i%len(Epilogues)] }
