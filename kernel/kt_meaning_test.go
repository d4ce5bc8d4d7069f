package kernel

import (
	"math/rand/v2"

	"github.com/gofx-dev/gofx/array"
)

// convForm is a convolution without its operands, as Conv has it.
type convForm struct {
	Stride, PadLo, PadHi, Dilation []int
	Groups                         int
}

// transposeForm is a transposed one, as ConvTranspose has it.
type transposeForm struct {
	Stride, Padding, OutputPadding, Dilation []int
	Groups                                   int
}

// convMeaning is the definition of cross-correlation for any number of
// spatial dimensions.
func convMeaning(s convForm) func(in, out []refArray) {
	return func(in, out []refArray) {
		x, w, y := in[0], in[1], out[0]
		nd := len(x.shape) - 2
		groups := max(s.Groups, 1)
		perGroup, outPer := w.shape[1], w.shape[0]/groups
		eachPos(y.shape, func(pos []int) {
			n, m := pos[0], pos[1]
			sum := 0.0
			if in[2].v != nil {
				sum = in[2].v[m]
			}
			eachPos(w.shape[1:], func(k []int) {
				at := []int{n, m/outPer*perGroup + k[0]}
				for d := range nd {
					at = append(at, pos[2+d]*pick(s.Stride, d, 1)-pick(s.PadLo, d, 0)+k[1+d]*pick(s.Dilation, d, 1))
				}
				sum += x.get(at...) * w.get(append([]int{m}, k...)...)
			})
			y.set(sum, pos...)
		})
	}
}

func pick(list []int, i, absent int) int {
	if list == nil {
		return absent
	}
	return list[i]
}

// convTransposeMeaning adds each input times the kernel to where it reaches.
func convTransposeMeaning(s transposeForm) func(in, out []refArray) {
	return func(in, out []refArray) {
		x, w, y := in[0], in[1], out[0]
		groups := max(s.Groups, 1)
		cin, m := w.shape[0]/groups, w.shape[1]
		eachPos(y.shape, func(pos []int) {
			if in[2].v != nil {
				y.set(in[2].v[pos[1]], pos...)
			}
		})
		eachPos(x.shape, func(pos []int) {
			eachPos(w.shape[1:], func(k []int) {
				at := []int{pos[0], pos[1]/cin*m + k[0]}
				for d := range len(pos) - 2 {
					at = append(at, pos[2+d]*pick(s.Stride, d, 1)-pick(s.Padding, d, 0)+k[1+d]*pick(s.Dilation, d, 1))
				}
				if i, ok := y.index(at...); ok {
					y.v[i] += x.get(pos...) * w.get(append([]int{pos[1]}, k...)...)
				}
			})
		})
	}
}

// finish is what an epilogue means, in float64.
func finish(v float64, e Epilogue, scale, bias, residual float64) float64 {
	v = v*scale + bias + residual
	switch e.Act {
	case ActReLU:
		return max(v, 0)
	case ActReLU6:
		return min(max(v, 0), 6)
	case ActClamp:
		return min(max(v, float64(e.Lo)), float64(e.Hi))
	}
	return v
}

// extra are the optional operands of a packed step; each subset is tried.
func extra(r *rand.Rand, dt array.DType, subset, channels int, out []int) (in []*array.Array, ref [3]refArray) {
	for i, shape := range [][]int{{channels}, {channels}, out} {
		if subset>>i&1 == 0 {
			in = append(in, nil)
			continue
		}
		a := toArray(randomRef(r, shape), dt, i == 2 && subset&1 != 0)
		in, ref[i] = append(in, a), toRef(a)
	}
	return in, ref
}

var epilogues = []Epilogue{{}, {Act: ActReLU}, {Act: ActReLU6}, {Act: ActClamp, Lo: -0.5, Hi: 0.75}}
