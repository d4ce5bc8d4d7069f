package models

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"
)

// LlamaRotary says how queries and keys are turned by their positions; Su et al.,
// arXiv:2104.09864. Pair i of a head turns by position / Base^(2i/Dims).
type LlamaRotary struct {
	Base        float64
	Dims        int  // of a head that are turned, the first ones
	Interleaved bool // pairs are neighbours, not elements of two halves
	// Scaling is the rule for texts longer than those of the training: "" for none, "linear"
	// divides positions by Factor, "yarn" those of slow turns alone (arXiv:2309.00071).
	Scaling string
	Factor  float64
	Trained int // positions of the training, for yarn
	// Divisors divide the turn of each pair as well, as in files of Llama 3; nil for none.
	Divisors []float32
}

// The turns over the positions of the training at which yarn begins and ends to divide.
const (
	yarnFast = 32
	yarnSlow = 1
)

// turns are the cosines and sines [..., Dims/2] of positions [...].
func (r LlamaRotary) turns(positions *tensor.Tensor) (cos, sin *tensor.Tensor) {
	by, scale := r.frequencies()
	angles := positions.Cast(array.F32).Unsqueeze(-1).Mul(tensor.FromSlice(by, len(by)))
	cos, sin = angles.Cos(), angles.Sin()
	if scale != 1 {
		cos, sin = cos.MulScalar(scale), sin.MulScalar(scale)
	}
	return cos, sin
}

// frequencies are how far each pair turns from one position to the next, and what the
// turned pairs are multiplied by.
func (r LlamaRotary) frequencies() (by []float32, scale float32) {
	by, scale = make([]float32, r.Dims/2), 1
	low, high := 0.0, 0.0
	if r.Scaling == "yarn" {
		low, high = r.yarnRange()
		scale = float32(0.1*math.Log(r.Factor) + 1)
	}
	for i := range by {
		f := math.Pow(r.Base, -2*float64(i)/float64(r.Dims))
		if r.Divisors != nil {
			f /= float64(r.Divisors[i])
		}
		switch r.Scaling {
		case "linear":
			f /= r.Factor
		case "yarn":
			slow := min(max((float64(i)-low)/max(high-low, 0.001), 0), 1)
			f = f*(1-slow) + f/r.Factor*slow
		}
		by[i] = float32(f)
	}
	return by, scale
}

// yarnRange are the pairs between which yarn goes from not dividing to dividing.
func (r LlamaRotary) yarnRange() (low, high float64) {
	// The pair that turns n times over the positions of the training.
	pair := func(n float64) float64 {
		return float64(r.Dims) * math.Log(float64(r.Trained)/(n*2*math.Pi)) / (2 * math.Log(r.Base))
	}
	return max(math.Floor(pair(yarnFast)), 0), min(math.Ceil(pair(yarnSlow)), float64(r.Dims-1))
}

// turn turns the pairs of x [N, heads, S, size].
func (r LlamaRotary) turn(x *tensor.Tensor, size int, cos, sin *tensor.Tensor) *tensor.Tensor {
	var a, b *tensor.Tensor
	if r.Interleaved {
		pairs := x.Slice(-1, 0, r.Dims).Unflatten(-1, r.Dims/2, 2)
		a, b = pairs.Select(-1, 0), pairs.Select(-1, 1)
	} else {
		a, b = x.Slice(-1, 0, r.Dims/2), x.Slice(-1, r.Dims/2, r.Dims)
	}
	a, b = a.Mul(cos).Sub(b.Mul(sin)), b.Mul(cos).Add(a.Mul(sin))
	parts := []*tensor.Tensor{a, b}
	if r.Interleaved {
		parts = []*tensor.Tensor{tensor.Stack(parts, -1).Flatten(-2, -1)}
	}
	if r.Dims < size {
		parts = append(parts, x.Slice(-1, r.Dims, tensor.End))
	}
	return tensor.Cat(parts, -1)
}
