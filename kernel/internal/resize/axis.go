package resize

import (
	"math"

	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// resizeAxis holds, for every output position along one dimension, the source
// positions to combine (times the dimension's step) and their weights.
type resizeAxis[T operand.Real] struct {
	taps, n int // source positions per output position, output positions
	index   []int64
	weight  []T
}

// place multiplies the positions by the dimension's step and returns its size.
func (x *resizeAxis[T]) place(size, step int) int {
	for k := range x.index {
		x.index[k] *= int64(step)
	}
	return size
}

// resizeScale returns the distance between neighbouring output positions in
// units of the source: 0 or less as scale means that the sizes decide.
func resizeScale[T operand.Real](align bool, size, n int, scale float64) T {
	switch {
	case align && n > 1:
		return T(size-1) / T(n-1)
	case align:
		return 0
	case scale > 0:
		return T(1 / scale)
	}
	return T(size) / T(n)
}

// fillNearest picks one source position. It computes in float32 whatever the
// element type, as PyTorch does, since another rounding may pick a neighbour.
func (x *resizeAxis[T]) fillNearest(exact bool, size int, scale float64) {
	step := resizeScale[float32](false, size, x.n, scale)
	for i := range x.n {
		pos := float32(i) * step
		if exact {
			pos = (float32(i) + 0.5) * step
		}
		k := int(math.Floor(float64(pos)))
		switch {
		case exact:
		case x.n == size:
			k = i
		case x.n == 2*size:
			k = i / 2
		}
		x.index[i], x.weight[i] = int64(min(max(k, 0), size-1)), 1
	}
}

// center returns the source position of the middle of output position i.
func center[T operand.Real](align bool, step T, i int) T {
	if align {
		return step * T(i)
	}
	return T(step*(T(i)+0.5)) - 0.5
}

// fillLinear weighs the two nearest source positions.
func (x *resizeAxis[T]) fillLinear(align bool, size int, scale float64) {
	step := resizeScale[T](align, size, x.n, scale)
	for i := range x.n {
		pos := min(max(center(align, step, i), 0), T(size-1))
		if x.n == size {
			pos = T(i)
		}
		k := min(int(pos), size-1)
		f := pos - T(k)
		x.index[2*i], x.weight[2*i] = int64(k), 1-f
		x.index[2*i+1], x.weight[2*i+1] = int64(min(k+1, size-1)), f
	}
}

// fillCubic weighs four source positions; those beyond the ends read the edge.
func (x *resizeAxis[T]) fillCubic(align bool, size int, scale float64) {
	step := resizeScale[T](align, size, x.n, scale)
	for i := range x.n {
		pos := center(align, step, i)
		k := int(math.Floor(float64(pos)))
		f := min(max(pos-T(k), 0), 1)
		c := cubic(f)
		for j, v := range c {
			x.index[4*i+j] = int64(min(max(k-1+j, 0), size-1))
			x.weight[4*i+j] = v
		}
	}
}

// cubic returns the weights of the four positions around a point f past the
// second one: the convolution kernel of Keys, "Cubic convolution interpolation
// for digital image processing" (1981), with a = -0.75.
func cubic[T operand.Real](f T) [4]T {
	return [4]T{cubicFar(f + 1), cubicNear(f), cubicNear(1 - f), cubicFar(2 - f)}
}

const cubicA = -0.75

// cubicNear is the kernel at distances up to 1.
func cubicNear[T operand.Real](x T) T {
	p := T((cubicA+2)*x) - (cubicA + 3)
	return T(T(p*x)*x) + 1
}

// cubicFar is the kernel at distances from 1 to 2.
func cubicFar[T operand.Real](x T) T {
	p := T(cubicA*x) - 5*cubicA
	p = T(p*x) + 8*cubicA
	return T(p*x) - 4*cubicA
}
